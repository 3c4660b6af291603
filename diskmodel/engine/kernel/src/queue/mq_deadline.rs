//! Linux's mq-deadline (rule Q8).

use super::{first_least_of, Arms, Deep, Order, Queue, Scheduler, Waiting};
use crate::mechanics::{READ, WRITE};

#[derive(Clone, Debug)]
pub struct Deadline {
    expire_ns: [i64; 2],
    fifo_batch: i64,
    writes_starved: i64,
    batch_op: u8,
    batched: i64,
    starved: i64,
    next_lba: [i64; 2],
}

impl Scheduler for Deadline {
    const ORDER: Order = Order::BlockAndArrival;

    fn of(queue: &Queue) -> Self {
        Deadline {
            expire_ns: [queue.read_expire_ns, queue.write_expire_ns],
            fifo_batch: queue.fifo_batch,
            writes_starved: queue.writes_starved,
            batch_op: READ,
            batched: 0,
            starved: 0,
            next_lba: [0, 0],
        }
    }

    fn choose(&mut self, waiting: &[Waiting], _head: i64, now: i64, _arms: &impl Arms) -> usize {
        let mut chosen = if 0 < self.batched && self.batched < self.fifo_batch { self.ahead(waiting) } else { None };
        if chosen.is_none() {
            self.batch_op = self.direction(waiting);
            self.batched = 0;
            let oldest = waiting.iter().position(|w| w.op == self.batch_op).unwrap_or(0);
            let has_expired = now - waiting[oldest].arrived >= self.expire_ns[usize::from(self.batch_op)];
            chosen = if has_expired { None } else { self.ahead(waiting) };
            chosen = chosen.or(Some(oldest));
        }
        let chosen = chosen.unwrap_or(0);
        self.batched += 1;
        self.next_lba[usize::from(self.batch_op)] = waiting[chosen].lba + waiting[chosen].n;
        chosen
    }

    fn take(&mut self, deep: &mut Deep, _head: i64, now: i64, _arms: &impl Arms) -> Option<(u64, Waiting)> {
        let (op, key) = self.choose_deep(deep, now)?;
        deep.remove(op, key)
    }

    /// Reads and writes apart.
    fn part(&self, waiting: &Waiting) -> usize {
        usize::from(waiting.op)
    }
}

impl Deadline {
    /// The same for commands in order: (operation, key of the command).
    fn choose_deep(&mut self, waiting: &Deep, now: i64) -> Option<(usize, (i64, u64))> {
        let goes_on = 0 < self.batched && self.batched < self.fifo_batch;
        let ahead = |d: &Self| {
            let op = usize::from(d.batch_op);
            waiting.nearest_ahead(op, d.next_lba[op], 1)
        };
        let mut chosen = if goes_on { ahead(self) } else { None };
        if chosen.is_none() {
            self.batch_op = self.direction_of(
                waiting.oldest(usize::from(READ)).is_some(),
                waiting.oldest(usize::from(WRITE)).is_some(),
            );
            self.batched = 0;
            let (key, oldest) = waiting.oldest(usize::from(self.batch_op))?;
            let has_expired = now - oldest.arrived >= self.expire_ns[usize::from(self.batch_op)];
            chosen = if has_expired { None } else { ahead(self) };
            chosen = chosen.or(Some(key));
        }
        let key = chosen?;
        let op = usize::from(self.batch_op);
        self.batched += 1;
        self.next_lba[op] = key.0 + waiting.length(op, key);
        Some((op, key))
    }

    fn ahead(&self, waiting: &[Waiting]) -> Option<usize> {
        let (op, next) = (self.batch_op, self.next_lba[usize::from(self.batch_op)]);
        first_least_of(waiting, |w| w.op == op && w.lba >= next, |w| w.lba)
    }

    fn direction(&mut self, waiting: &[Waiting]) -> u8 {
        self.direction_of(waiting.iter().any(|w| w.op == READ), waiting.iter().any(|w| w.op == WRITE))
    }

    fn direction_of(&mut self, has_reads: bool, has_writes: bool) -> u8 {
        if has_reads && !(has_writes && self.starved >= self.writes_starved) {
            if has_writes {
                self.starved += 1;
            }
            return READ;
        }
        self.starved = 0;
        WRITE
    }
}

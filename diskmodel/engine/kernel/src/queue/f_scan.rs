//! F-SCAN: LOOK over a frozen batch, newcomers wait for the next one (rule Q7).

use super::look::Sweep;
use super::{Arms, Deep, Order, Queue, Scheduler, Waiting};

#[derive(Clone, Debug)]
pub struct FScan {
    sweep: Sweep,
    last_of_batch: i64,
}

impl Scheduler for FScan {
    const ORDER: Order = Order::Block;

    fn of(_queue: &Queue) -> Self {
        FScan { sweep: Sweep::new(), last_of_batch: -1 }
    }

    fn choose(&mut self, waiting: &[Waiting], head: i64, _now: i64, _arms: &impl Arms) -> usize {
        if !waiting.iter().any(|w| w.seq as i64 <= self.last_of_batch) {
            self.last_of_batch = waiting.iter().map(|w| w.seq as i64).max().unwrap_or(-1);
        }
        let last = self.last_of_batch;
        self.sweep.choose(waiting, head, |w| w.seq as i64 <= last)
    }

    fn take(&mut self, deep: &mut Deep, head: i64, _now: i64, _arms: &impl Arms) -> Option<(u64, Waiting)> {
        if deep.first(0).is_none() {
            self.last_of_batch = deep.last_seq;
            deep.swap_parts();
        }
        let key = self.sweep.swept_to(|direction| deep.nearest_ahead(0, head, direction))?;
        deep.remove(0, key)
    }

    /// The batch, and what comes after it.
    fn part(&self, waiting: &Waiting) -> usize {
        usize::from(waiting.seq as i64 > self.last_of_batch)
    }
}

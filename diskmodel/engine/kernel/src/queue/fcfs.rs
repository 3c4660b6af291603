//! First come, first served (rule Q2).

use super::{Arms, Deep, Order, Queue, Scheduler, Waiting};

#[derive(Clone, Debug)]
pub struct Fcfs;

impl Scheduler for Fcfs {
    const ORDER: Order = Order::Arrival;

    fn of(_queue: &Queue) -> Self {
        Fcfs
    }

    fn choose(&mut self, _waiting: &[Waiting], _head: i64, _now: i64, _arms: &impl Arms) -> usize {
        0
    }

    fn take(&mut self, deep: &mut Deep, _head: i64, _now: i64, _arms: &impl Arms) -> Option<(u64, Waiting)> {
        let first = deep.first(0)?;
        deep.remove(0, first)
    }
}

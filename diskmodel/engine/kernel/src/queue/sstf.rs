//! Shortest seek time first, by distance in blocks (rule Q3).

use super::{first_least, Arms, Deep, Order, Queue, Scheduler, Waiting};

#[derive(Clone, Debug)]
pub struct Sstf;

impl Scheduler for Sstf {
    const ORDER: Order = Order::Block;

    fn of(_queue: &Queue) -> Self {
        Sstf
    }

    fn choose(&mut self, waiting: &[Waiting], head: i64, _now: i64, _arms: &impl Arms) -> usize {
        first_least(waiting, |w| (w.lba - head).abs())
    }

    fn take(&mut self, deep: &mut Deep, head: i64, _now: i64, _arms: &impl Arms) -> Option<(u64, Waiting)> {
        let up = deep.nearest_ahead(0, head, 1);
        let down = deep.nearest_ahead(0, head, -1);
        let key = up.into_iter().chain(down).min_by_key(|&(lba, turn)| ((lba - head).abs(), turn))?;
        deep.remove(0, key)
    }
}

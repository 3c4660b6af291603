//! C-LOOK and C-SCAN: sweep upwards only, then start again at the lowest (rule Q5).

use super::{first_least, first_least_of, Arms, Deep, Edge, Order, Queue, Scheduler, Waiting};

/// `TO_EDGE`: the arm goes on to the last cylinder, then across to the first (C-SCAN).
#[derive(Clone, Debug)]
pub struct CLook<const TO_EDGE: bool> {
    turned: bool,
}

impl<const TO_EDGE: bool> Scheduler for CLook<TO_EDGE> {
    const ORDER: Order = Order::Block;

    fn of(_queue: &Queue) -> Self {
        CLook { turned: false }
    }

    fn choose(&mut self, waiting: &[Waiting], head: i64, _now: i64, _arms: &impl Arms) -> usize {
        let ahead = first_least_of(waiting, |w| w.lba >= head, |w| w.lba);
        self.turned = ahead.is_none();
        ahead.unwrap_or_else(|| first_least(waiting, |w| w.lba))
    }

    fn take(&mut self, deep: &mut Deep, head: i64, _now: i64, _arms: &impl Arms) -> Option<(u64, Waiting)> {
        let ahead = deep.nearest_ahead(0, head, 1);
        self.turned = ahead.is_none();
        let key = ahead.or_else(|| deep.first(0))?;
        deep.remove(0, key)
    }

    fn edge(&self) -> (Edge, i64) {
        (if TO_EDGE && self.turned { Edge::Wrap } else { Edge::None }, 1)
    }
}

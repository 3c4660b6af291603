//! LOOK and SCAN: sweep in one direction, turn when nothing waits ahead (rule Q4).

use super::{first_least_of, Arms, Deep, Edge, Order, Queue, Scheduler, Waiting};

/// The sweep of an arm, for every scheduler that sweeps to and fro.
#[derive(Clone, Debug)]
pub struct Sweep {
    turned: bool,
    swept: i64,
    direction: i64,
}

impl Sweep {
    pub fn new() -> Self {
        Sweep { turned: false, swept: 1, direction: 1 }
    }

    /// The nearest command in the direction of the sweep among those that count, else in the other.
    pub fn choose(&mut self, waiting: &[Waiting], head: i64, counts: impl Fn(&Waiting) -> bool) -> usize {
        let ahead = |direction: i64| {
            first_least_of(waiting, |w| counts(w) && (w.lba - head) * direction >= 0, |w| (w.lba - head).abs())
        };
        self.swept_to(ahead).unwrap_or(0)
    }

    /// The same for commands in order: `ahead` returns the nearest one in a direction.
    pub fn swept_to<K>(&mut self, ahead: impl Fn(i64) -> Option<K>) -> Option<K> {
        self.swept = self.direction;
        let chosen = ahead(self.direction);
        self.turned = chosen.is_none();
        if self.turned {
            self.direction = -self.direction;
            return ahead(self.direction);
        }
        chosen
    }
}

/// `TO_EDGE`: the arm goes on to the edge before it turns (SCAN).
#[derive(Clone, Debug)]
pub struct Look<const TO_EDGE: bool> {
    sweep: Sweep,
}

impl<const TO_EDGE: bool> Scheduler for Look<TO_EDGE> {
    const ORDER: Order = Order::Block;

    fn of(_queue: &Queue) -> Self {
        Look { sweep: Sweep::new() }
    }

    fn choose(&mut self, waiting: &[Waiting], head: i64, _now: i64, _arms: &impl Arms) -> usize {
        self.sweep.choose(waiting, head, |_| true)
    }

    fn take(&mut self, deep: &mut Deep, head: i64, _now: i64, _arms: &impl Arms) -> Option<(u64, Waiting)> {
        let key = self.sweep.swept_to(|direction| deep.nearest_ahead(0, head, direction))?;
        deep.remove(0, key)
    }

    fn edge(&self) -> (Edge, i64) {
        if TO_EDGE && self.sweep.turned {
            (Edge::Turn, self.sweep.swept)
        } else {
            (Edge::None, 1)
        }
    }
}

//! LOOK, SCAN and F-SCAN (rules Q4, Q7).

use crate::faults::{planted, Fault};

use super::{first_least_of, Waiting};

#[derive(Clone, Debug)]
pub struct Look {
    pub to_edge: bool,
    pub turned: bool,
    pub swept: i64,
    direction: i64,
    pub is_batched: bool,
    pub last_of_batch: i64,
}

impl Look {
    pub fn new(to_edge: bool, is_batched: bool) -> Self {
        Look { to_edge, turned: false, swept: 1, direction: 1, is_batched, last_of_batch: -1 }
    }

    pub fn choose(&mut self, waiting: &[Waiting], head: i64) -> usize {
        if self.is_batched && !waiting.iter().any(|w| w.seq as i64 <= self.last_of_batch) {
            self.last_of_batch = waiting.iter().map(|w| w.seq as i64).max().unwrap_or(-1)
                - i64::from(planted(Fault::BatchLength) && waiting.len() > 1);
        }
        self.swept = self.direction;
        let ahead = self.nearest_ahead(waiting, head);
        self.turned = ahead.is_none();
        if let Some(i) = ahead {
            return i;
        }
        self.direction = -self.direction;
        self.nearest_ahead(waiting, head).unwrap_or(0)
    }

    /// The same for commands in order: `ahead` tells the nearest one in a direction.
    pub fn choose_deep<K>(&mut self, ahead: impl Fn(i64) -> Option<K>) -> Option<K> {
        self.swept = self.direction;
        let chosen = ahead(self.direction);
        self.turned = chosen.is_none();
        if self.turned {
            self.direction = -self.direction;
            return ahead(self.direction);
        }
        chosen
    }

    fn nearest_ahead(&self, waiting: &[Waiting], head: i64) -> Option<usize> {
        let limit = if self.is_batched { self.last_of_batch } else { i64::MAX };
        first_least_of(
            waiting,
            |w| w.seq as i64 <= limit && (w.lba - head) * self.direction >= i64::from(planted(Fault::LookDirection)),
            |w| (w.lba - head).abs(),
        )
    }
}

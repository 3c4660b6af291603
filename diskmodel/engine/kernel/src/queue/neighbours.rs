//! Which waiting command begins or ends where another one could be joined to it (rule Q9).

use std::collections::BTreeMap;

use super::Waiting;

/// Commands by operation, block and turn; with each what it is found by in its ordered structure.
#[derive(Default)]
pub struct Neighbours {
    by_start: BTreeMap<(u8, i64, u64), i64>,
    by_end: BTreeMap<(u8, i64, u64), i64>,
}

impl Neighbours {
    pub fn insert(&mut self, turn: u64, waiting: &Waiting, key: i64) {
        let &Waiting { op, lba, n, .. } = waiting;
        self.by_start.insert((op, lba, turn), key);
        self.by_end.insert((op, lba + n, turn), key);
    }

    pub fn remove(&mut self, turn: u64, waiting: &Waiting) {
        let &Waiting { op, lba, n, .. } = waiting;
        self.by_start.remove(&(op, lba, turn));
        self.by_end.remove(&(op, lba + n, turn));
    }

    /// Those that `new` continues or precedes, as (turn, key): first the ones that it continues.
    pub fn of(&self, new: &Waiting) -> impl Iterator<Item = (u64, i64)> + '_ {
        let &Waiting { op, lba, n, .. } = new;
        let behind = self.by_end.range((op, lba, 0)..=(op, lba, u64::MAX));
        let before = self.by_start.range((op, lba + n, 0)..=(op, lba + n, u64::MAX));
        behind.chain(before).map(|(&(_, _, turn), &key)| (turn, key))
    }
}

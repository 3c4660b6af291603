//! The ARC of OpenZFS (rule K16); see `diskmodel/controller/arc.py`.

use crate::lists::Lists;

/// The share of the cache that recent blocks are to have is kept in 2^-32; at first it is half.
const ONE: u64 = 1 << 32;
/// From this ratio of the greater share to the smaller one on, the smaller one shrinks more slowly.
const UNEVEN: u64 = 4;

const RECENT: usize = 0;
const FREQUENT: usize = 1;
const WAS_RECENT: usize = 2;
const WAS_FREQUENT: usize = 3;

pub struct ZfsArc {
    capacity: usize,
    /// Recent blocks that no use reaches, neither the oldest nor the newest ones: they only take room.
    apart: usize,
    share: u64,
    lists: Lists<4>,
}

impl Clone for ZfsArc {
    fn clone(&self) -> Self {
        ZfsArc { lists: self.lists.clone(), ..*self }
    }

    /// Into the memory of another cache, which a derived one would not use.
    fn clone_from(&mut self, other: &Self) {
        (self.capacity, self.apart, self.share) = (other.capacity, other.apart, other.share);
        self.lists.clone_from(&other.lists);
    }
}

impl ZfsArc {
    /// The lists that an L2ARC is fed from, in order.
    pub const FED: [usize; 2] = [FREQUENT, RECENT];

    pub fn new(capacity: usize) -> Self {
        ZfsArc { capacity, apart: 0, share: ONE / 2, lists: Lists::default() }
    }

    /// Holds blocks since before all others, the oldest first, and more of which no use reaches any (`apart`).
    pub fn begin_with(&mut self, oldest: &[i64], apart: usize) {
        for &block in oldest.iter().rev() {
            if self.lists.list_of(block).is_none() {
                self.lists.put_oldest(RECENT, block);
            }
        }
        self.apart = apart;
    }

    fn n_recent(&self) -> usize {
        self.lists.len(RECENT) + self.apart
    }

    /// Blocks in its lists, evicted ones, too.
    pub(super) fn n_blocks(&self) -> usize {
        self.lists.n_blocks()
    }

    /// Makes room for so many blocks at once.
    pub(super) fn reserve(&mut self, n: usize) {
        self.lists.reserve(n.min(self.capacity + self.capacity / 2 + 2));
    }

    pub fn contains(&self, block: i64) -> bool {
        matches!(self.lists.list_of(block), Some(RECENT | FREQUENT))
    }

    /// Whether there is no room.
    pub fn is_full(&self) -> bool {
        self.n_recent() + self.lists.len(FREQUENT) >= self.capacity
    }

    /// How many blocks are in the same list as one that it holds.
    pub fn n_beside(&self, block: i64) -> usize {
        self.lists.list_of(block).map_or(0, |list| self.lists.len(list))
    }

    /// The blocks of a list, the oldest or the newest first.
    pub fn in_order(&self, list: usize, is_newest_first: bool) -> impl Iterator<Item = i64> + '_ {
        self.lists.blocks(list, is_newest_first)
    }

    pub fn touch(&mut self, block: i64) {
        self.lists.put(FREQUENT, block);
    }

    /// A block has come in, or was used; which one had to go for it.
    pub fn insert(&mut self, block: i64) -> Option<i64> {
        let to = match self.lists.list_of(block) {
            Some(RECENT | FREQUENT) => {
                self.touch(block);
                return None;
            }
            // one that was evicted not long ago: its list is to have more of the cache
            Some(WAS_RECENT) => {
                self.share += self.step(self.share, ONE - self.share);
                FREQUENT
            }
            Some(_) => {
                self.share -= self.step(ONE - self.share, self.share);
                FREQUENT
            }
            None => RECENT,
        };
        self.lists.remove(block);
        let gone = self.make_room();
        self.lists.put(to, block);
        gone
    }

    /// A block was written: it is new, whatever it was before.
    pub fn write(&mut self, block: i64) -> Option<i64> {
        self.lists.remove(block);
        let gone = self.make_room();
        self.lists.put(RECENT, block);
        gone
    }

    /// By how much one share grows at the cost of the other: one block of those remembered, at most about a 32nd.
    fn step(&self, growing: u64, shrinking: u64) -> u64 {
        let held = (self.n_recent() + self.lists.len(FREQUENT)) as u64;
        let step = 2 * ONE / if held > 32 { held } else { held * (64 / held) };
        if growing >= UNEVEN * shrinking {
            step / (growing / (2 * shrinking + 1))
        } else {
            step
        }
    }

    /// Drops one block and remembers its name, if the cache is full.
    fn make_room(&mut self) -> Option<i64> {
        if !self.is_full() {
            return None;
        }
        let recent = self.n_recent();
        let lists = &mut self.lists;
        // the one that comes is of the recent ones until it is there
        let is_over = recent as u64 + 1 > ((self.capacity as u128 * u128::from(self.share)) >> 32) as u64;
        let gone = if lists.len(RECENT) > 0 && (is_over || lists.len(FREQUENT) == 0) {
            lists.move_oldest(RECENT, WAS_RECENT)
        } else {
            lists.move_oldest(FREQUENT, WAS_FREQUENT)
        };
        while lists.len(WAS_RECENT) > lists.len(FREQUENT) / 2 {
            lists.drop_oldest(WAS_RECENT);
        }
        while lists.len(WAS_FREQUENT) > (lists.len(RECENT) + self.apart).div_ceil(2) {
            lists.drop_oldest(WAS_FREQUENT);
        }
        gone
    }
}

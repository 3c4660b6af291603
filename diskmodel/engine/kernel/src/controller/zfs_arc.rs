//! The ARC of OpenZFS (rule K16); see `diskmodel/controller/arc.py`.

use crate::lists::Lists;
use crate::rule::{each_within, has_length, within};
use crate::schema::record;

/// The share of the cache that recent blocks are to have is kept in 2^-32; at first it is half.
const ONE: u64 = 1 << 32;
/// From this ratio of the greater share to the smaller one on, the smaller one shrinks more slowly.
const UNEVEN: u64 = 4;

const RECENT: usize = 0;
const FREQUENT: usize = 1;
const WAS_RECENT: usize = 2;
const WAS_FREQUENT: usize = 3;

record! {
    /// What an ARC holds when a run begins, as `diskmodel.engine.steady.start.ArcLists`: its lists, the oldest block first.
    #[derive(Clone, Debug)]
    pub struct ArcLists {
        pub recent: Vec<i64>,
        pub frequent: Vec<i64>,
        pub was_recent: Vec<i64>,
        pub was_frequent: Vec<i64>,
        /// Blocks of each list that no use reaches, neither its oldest nor its newest ones.
        pub apart: Vec<i64>,
        /// Of recent blocks, in 2^-32.
        pub share: i64,
    }
}

impl ArcLists {
    /// Refuses blocks that are not there, of so many.
    pub fn check(&self, n_blocks: i64) -> Result<(), String> {
        let ArcLists { recent, frequent, was_recent, was_frequent, apart, share } = self;
        each_within("start.arc.recent", recent, 0, n_blocks - 1)?;
        each_within("start.arc.frequent", frequent, 0, n_blocks - 1)?;
        each_within("start.arc.was_recent", was_recent, 0, n_blocks - 1)?;
        each_within("start.arc.was_frequent", was_frequent, 0, n_blocks - 1)?;
        has_length("start.arc.apart", apart.len(), 4)?;
        each_within("start.arc.apart", apart, 0, n_blocks)?;
        within("start.arc.share", *share, 0, ONE as i64)
    }

    /// An ARC with room for so many blocks, of lists that were checked.
    pub fn build(&self, capacity: usize) -> ZfsArc {
        let ArcLists { recent, frequent, was_recent, was_frequent, apart, share } = self;
        let apart = [RECENT, FREQUENT, WAS_RECENT, WAS_FREQUENT].map(|list| apart[list] as usize);
        ZfsArc::with(capacity, [recent, frequent, was_recent, was_frequent], apart, *share as u64)
    }
}

pub struct ZfsArc {
    capacity: usize,
    /// Blocks of each list that no use reaches, neither its oldest nor its newest ones: they only take room.
    apart: [usize; 4],
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
        ZfsArc { capacity, apart: [0; 4], share: ONE / 2, lists: Lists::default() }
    }

    /// An ARC whose lists hold these blocks, the oldest first, and more of which no use reaches any (`apart`).
    pub fn with(capacity: usize, lists: [&[i64]; 4], apart: [usize; 4], share: u64) -> Self {
        let mut arc = ZfsArc { capacity, apart, share, lists: Lists::default() };
        arc.lists.reserve(lists.iter().map(|blocks| blocks.len()).sum());
        for (list, blocks) in lists.into_iter().enumerate() {
            blocks.iter().for_each(|&block| arc.lists.put(list, block));
        }
        arc
    }

    /// The blocks of each list, the oldest first, and the share of recent ones.
    pub fn state(&self) -> ([Vec<i64>; 4], u64) {
        ([RECENT, FREQUENT, WAS_RECENT, WAS_FREQUENT].map(|list| self.lists.blocks(list, false).collect()), self.share)
    }

    /// Blocks in a list, those apart, too.
    fn n(&self, list: usize) -> usize {
        self.lists.len(list) + self.apart[list]
    }

    /// Blocks in its lists, evicted ones, too.
    pub(super) fn n_blocks(&self) -> usize {
        self.lists.n_blocks()
    }

    /// Makes room for so many blocks at once.
    pub fn reserve(&mut self, n: usize) {
        self.lists.reserve(n.min(self.capacity + self.capacity / 2 + 2));
    }

    pub fn contains(&self, block: i64) -> bool {
        matches!(self.lists.list_of(block), Some(RECENT | FREQUENT))
    }

    /// Whether there is no room.
    pub fn is_full(&self) -> bool {
        self.n(RECENT) + self.n(FREQUENT) >= self.capacity
    }

    /// How many blocks are in the same list as one that it holds.
    pub fn n_beside(&self, block: i64) -> usize {
        self.lists.list_of(block).map_or(0, |list| self.n(list))
    }

    /// The blocks of a list, the oldest or the newest first.
    pub fn in_order(&self, list: usize, is_newest_first: bool) -> impl Iterator<Item = i64> + '_ {
        self.lists.blocks(list, is_newest_first)
    }

    /// A block was read or written; which one had to go for it.
    pub fn used(&mut self, block: i64, is_written: bool) -> Option<i64> {
        if is_written {
            self.write(block)
        } else {
            self.insert(block)
        }
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
        let held = (self.n(RECENT) + self.n(FREQUENT)) as u64;
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
        // the one that comes is of the recent ones until it is there
        let is_over = self.n(RECENT) as u64 + 1 > ((self.capacity as u128 * u128::from(self.share)) >> 32) as u64;
        let gone = if self.lists.len(RECENT) > 0 && (is_over || self.lists.len(FREQUENT) == 0) {
            self.lists.move_oldest(RECENT, WAS_RECENT)
        } else {
            self.lists.move_oldest(FREQUENT, WAS_FREQUENT)
        };
        self.forget(WAS_RECENT, self.n(FREQUENT) / 2);
        self.forget(WAS_FREQUENT, self.n(RECENT).div_ceil(2));
        gone
    }

    /// Drops the oldest names of a list of evicted blocks that are more than so many.
    fn forget(&mut self, list: usize, most: usize) {
        while self.n(list) > most && self.lists.drop_oldest(list).is_some() {}
    }
}

//! Caches of blocks: LRU, 2Q, ARC (rules K6 and K16); see `diskmodel/controller/block_cache.py`.

use super::zfs_arc::ZfsArc;
use crate::lists::Lists;
use crate::loaded::{Digest, Loaded};

/// Caches that were loaded last, by policy, capacity and uses.
static LOADED: Loaded<(String, usize, [Digest; 2]), BlockCache> = Loaded::new();

/// Uses of blocks, in order, each with whether it wrote: the numbers of these are in `written`, ascending.
pub fn uses<'a>(blocks: &'a [i64], written: &'a [i64]) -> impl Iterator<Item = (i64, bool)> + 'a {
    let mut written = written.iter().peekable();
    (0..).zip(blocks).map(move |(at, &block)| (block, written.next_if(|&&one| one == at).is_some()))
}

const HELD: usize = 0;

const NEW: usize = 0;
const LASTING: usize = 1;
const REMEMBERED: usize = 2;

const RECENT: usize = 0;
const FREQUENT: usize = 1;
const WAS_RECENT: usize = 2;
const WAS_FREQUENT: usize = 3;

pub enum BlockCache {
    /// Least recently used goes first.
    Lru { capacity: usize, lists: Lists<1> },
    /// 2Q (Johnson, Shasha 1994): a lasting place needs a second use.
    TwoQueue { capacity: usize, n_new: usize, n_remembered: usize, lists: Lists<3> },
    /// ARC (Megiddo, Modha 2003): recency and frequency share the cache.
    Arc(Arc),
    /// A pool's.
    ZfsArc(ZfsArc),
}

pub struct Arc {
    capacity: usize,
    target: usize,
    lists: Lists<4>,
}

impl Clone for BlockCache {
    fn clone(&self) -> Self {
        match self {
            BlockCache::Lru { capacity, lists } => BlockCache::Lru { capacity: *capacity, lists: lists.clone() },
            BlockCache::TwoQueue { capacity, n_new, n_remembered, lists } => BlockCache::TwoQueue {
                capacity: *capacity,
                n_new: *n_new,
                n_remembered: *n_remembered,
                lists: lists.clone(),
            },
            BlockCache::Arc(arc) => {
                BlockCache::Arc(Arc { capacity: arc.capacity, target: arc.target, lists: arc.lists.clone() })
            }
            BlockCache::ZfsArc(arc) => BlockCache::ZfsArc(arc.clone()),
        }
    }

    /// Into the memory of another cache, which a derived one would not use.
    fn clone_from(&mut self, other: &Self) {
        match (&mut *self, other) {
            (BlockCache::Lru { capacity, lists }, BlockCache::Lru { capacity: c, lists: l }) => {
                *capacity = *c;
                lists.clone_from(l);
            }
            (BlockCache::Arc(arc), BlockCache::Arc(a)) => {
                (arc.capacity, arc.target) = (a.capacity, a.target);
                arc.lists.clone_from(&a.lists);
            }
            (BlockCache::ZfsArc(arc), BlockCache::ZfsArc(other)) => arc.clone_from(other),
            _ => *self = other.clone(),
        }
    }
}

impl Drop for BlockCache {
    fn drop(&mut self) {
        let n_blocks = match self {
            BlockCache::Lru { lists, .. } => lists.n_blocks(),
            BlockCache::TwoQueue { lists, .. } => lists.n_blocks(),
            BlockCache::Arc(arc) => arc.lists.n_blocks(),
            BlockCache::ZfsArc(arc) => arc.n_blocks(),
        };
        LOADED
            .give_back(n_blocks, || std::mem::replace(self, BlockCache::Lru { capacity: 1, lists: Lists::default() }));
    }
}

impl BlockCache {
    /// The cache called `policy`, empty, with room for `capacity` blocks (at least 1).
    pub fn new(policy: &str, capacity: usize) -> Result<Self, String> {
        Ok(match policy {
            "lru" => BlockCache::Lru { capacity, lists: Lists::default() },
            "2q" => BlockCache::TwoQueue {
                capacity,
                n_new: (capacity / 4).max(1),
                n_remembered: (capacity / 2).max(1),
                lists: Lists::default(),
            },
            "arc" => BlockCache::Arc(Arc { capacity, target: 0, lists: Lists::default() }),
            "zfs-arc" => BlockCache::ZfsArc(ZfsArc::new(capacity)),
            other => return Err(format!("unknown cache policy {other}")),
        })
    }

    /// The cache called `policy` after these uses.
    pub fn loaded(policy: &str, capacity: usize, blocks: &[i64], written: &[i64]) -> Result<Self, String> {
        let uses = [blocks, written].map(Digest::of);
        let is_key = |(p, c, u): &(String, usize, [Digest; 2])| p == policy && *c == capacity && *u == uses;
        let key = || (policy.into(), capacity, uses);
        LOADED.get(blocks.len(), is_key, key, || {
            let mut cache = BlockCache::new(policy, capacity)?;
            cache.reserve(blocks.len());
            for (block, is_written) in self::uses(blocks, written) {
                cache.used(block, is_written);
            }
            Ok(cache)
        })
    }

    /// Makes room for so many blocks at once.
    fn reserve(&mut self, n: usize) {
        match self {
            BlockCache::Lru { capacity, lists } => lists.reserve(n.min(*capacity + 1)),
            BlockCache::TwoQueue { capacity, n_remembered, lists, .. } => {
                lists.reserve(n.min(*capacity + *n_remembered + 1))
            }
            BlockCache::Arc(arc) => arc.lists.reserve(n.min(2 * arc.capacity + 1)),
            BlockCache::ZfsArc(arc) => arc.reserve(n),
        }
    }

    pub fn contains(&self, block: i64) -> bool {
        match self {
            BlockCache::Lru { lists, .. } => lists.list_of(block).is_some(),
            BlockCache::TwoQueue { lists, .. } => matches!(lists.list_of(block), Some(NEW | LASTING)),
            BlockCache::Arc(arc) => matches!(arc.lists.list_of(block), Some(RECENT | FREQUENT)),
            BlockCache::ZfsArc(arc) => arc.contains(block),
        }
    }

    /// A block that is in the cache was used.
    pub fn touch(&mut self, block: i64) {
        match self {
            BlockCache::Lru { lists, .. } => lists.put(HELD, block),
            BlockCache::TwoQueue { lists, .. } => {
                if lists.list_of(block) == Some(LASTING) {
                    lists.put(LASTING, block);
                }
            }
            BlockCache::Arc(arc) => arc.lists.put(FREQUENT, block),
            BlockCache::ZfsArc(arc) => arc.touch(block),
        }
    }

    /// The cache, if it is a pool's.
    pub fn zfs_arc(&self) -> Option<&ZfsArc> {
        match self {
            BlockCache::ZfsArc(arc) => Some(arc),
            _ => None,
        }
    }

    /// A block was read or written; which one had to go for it.
    pub fn used(&mut self, block: i64, is_written: bool) -> Option<i64> {
        match self {
            BlockCache::ZfsArc(arc) if is_written => arc.write(block),
            _ => self.insert(block),
        }
    }

    /// A block has come in (or was used, if it is here already); which one had to go for it.
    pub fn insert(&mut self, block: i64) -> Option<i64> {
        match self {
            BlockCache::Lru { capacity, lists } => {
                lists.put(HELD, block);
                if lists.len(HELD) <= *capacity {
                    return None;
                }
                lists.drop_oldest(HELD)
            }
            BlockCache::TwoQueue { capacity, n_new, n_remembered, lists } => {
                match lists.list_of(block) {
                    Some(LASTING | REMEMBERED) => lists.put(LASTING, block),
                    Some(_) => return None,
                    None => lists.put(NEW, block),
                }
                if lists.len(NEW) + lists.len(LASTING) <= *capacity {
                    return None;
                }
                if lists.len(NEW) <= *n_new && lists.len(LASTING) > 0 {
                    return lists.drop_oldest(LASTING);
                }
                let gone = lists.move_oldest(NEW, REMEMBERED);
                if lists.len(REMEMBERED) > *n_remembered {
                    lists.drop_oldest(REMEMBERED);
                }
                gone
            }
            BlockCache::Arc(arc) => arc.insert(block),
            BlockCache::ZfsArc(arc) => arc.insert(block),
        }
    }
}

impl Arc {
    fn insert(&mut self, block: i64) -> Option<i64> {
        let Arc { capacity, target, lists } = self;
        match lists.list_of(block) {
            Some(RECENT | FREQUENT) => {
                lists.put(FREQUENT, block);
                None
            }
            Some(WAS_RECENT) => {
                let step = (lists.len(WAS_FREQUENT) / lists.len(WAS_RECENT)).max(1);
                *target = (*target + step).min(*capacity);
                let gone = self.replace(false);
                self.lists.put(FREQUENT, block);
                gone
            }
            Some(_) => {
                let step = (lists.len(WAS_RECENT) / lists.len(WAS_FREQUENT)).max(1);
                *target = target.saturating_sub(step);
                let gone = self.replace(true);
                self.lists.put(FREQUENT, block);
                gone
            }
            None => {
                let gone = self.make_room();
                self.lists.put(RECENT, block);
                gone
            }
        }
    }

    fn make_room(&mut self) -> Option<i64> {
        let lists = &mut self.lists;
        let recent = lists.len(RECENT);
        if recent + lists.len(WAS_RECENT) == self.capacity {
            if recent == self.capacity {
                return lists.drop_oldest(RECENT);
            }
            lists.drop_oldest(WAS_RECENT);
            return self.replace(false);
        }
        let known = recent + lists.len(FREQUENT) + lists.len(WAS_RECENT) + lists.len(WAS_FREQUENT);
        if known >= self.capacity {
            if known == 2 * self.capacity {
                lists.drop_oldest(WAS_FREQUENT);
            }
            return self.replace(false);
        }
        None
    }

    /// Drops one block and remembers its name, if the cache is full.
    fn replace(&mut self, was_frequent: bool) -> Option<i64> {
        let lists = &mut self.lists;
        let recent = lists.len(RECENT);
        if recent + lists.len(FREQUENT) < self.capacity {
            return None;
        }
        let is_over = recent > self.target || (was_frequent && recent == self.target);
        if recent > 0 && (is_over || lists.len(FREQUENT) == 0) {
            lists.move_oldest(RECENT, WAS_RECENT)
        } else {
            lists.move_oldest(FREQUENT, WAS_FREQUENT)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_goes_on_as_one_that_was_filled_anew() {
        let blocks: Vec<i64> = (0..(1 << 16) + 9).map(|i| i * 7 % 50_021).collect();
        let written: Vec<i64> = (0..blocks.len() as i64).step_by(5).collect();
        for policy in ["lru", "2q", "arc", "zfs-arc"] {
            let mut plain = BlockCache::new(policy, 30_000).unwrap();
            uses(&blocks, &written).for_each(|(block, is_written)| {
                let _ = plain.used(block, is_written);
            });
            for _ in 0..3 {
                let mut copy = BlockCache::loaded(policy, 30_000, &blocks, &written).unwrap();
                let mut other = BlockCache::new(policy, 30_000).unwrap();
                uses(&blocks, &written).for_each(|(block, is_written)| {
                    let _ = other.used(block, is_written);
                });
                for block in (0..60_000).step_by(11) {
                    assert_eq!(copy.contains(block), other.contains(block), "{policy} {block}");
                    copy.insert(block);
                    other.insert(block);
                }
            }
            let copy = BlockCache::loaded(policy, 30_000, &blocks, &written).unwrap();
            assert!((0..50_021).all(|block| copy.contains(block) == plain.contains(block)), "{policy}");
        }
    }
}

//! Caches of blocks: LRU, 2Q, ARC (rule K6); see `diskmodel/controller/block_cache.py`.

use crate::lists::Lists;

const HELD: usize = 0;

const NEW: usize = 0;
const LASTING: usize = 1;
const REMEMBERED: usize = 2;

const RECENT: usize = 0;
const FREQUENT: usize = 1;
const WAS_RECENT: usize = 2;
const WAS_FREQUENT: usize = 3;

#[derive(Clone)]
pub enum BlockCache {
    /// Least recently used goes first.
    Lru { capacity: usize, lists: Lists<1> },
    /// 2Q (Johnson, Shasha 1994): a lasting place needs a second use.
    TwoQueue { capacity: usize, n_new: usize, n_remembered: usize, lists: Lists<3> },
    /// ARC (Megiddo, Modha 2003): recency and frequency share the cache.
    Arc(Arc),
}

#[derive(Clone)]
pub struct Arc {
    capacity: usize,
    target: usize,
    lists: Lists<4>,
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
            other => return Err(format!("unknown cache policy {other}")),
        })
    }

    /// Makes room for so many blocks at once.
    pub fn reserve(&mut self, n: usize) {
        match self {
            BlockCache::Lru { capacity, lists } => lists.reserve(n.min(*capacity + 1)),
            BlockCache::TwoQueue { capacity, n_remembered, lists, .. } => {
                lists.reserve(n.min(*capacity + *n_remembered + 1))
            }
            BlockCache::Arc(arc) => arc.lists.reserve(n.min(2 * arc.capacity + 1)),
        }
    }

    pub fn contains(&self, block: i64) -> bool {
        match self {
            BlockCache::Lru { lists, .. } => lists.list_of(block).is_some(),
            BlockCache::TwoQueue { lists, .. } => matches!(lists.list_of(block), Some(NEW | LASTING)),
            BlockCache::Arc(arc) => matches!(arc.lists.list_of(block), Some(RECENT | FREQUENT)),
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
        }
    }

    /// A block has come in (or was used, if it is here already); others may have to go.
    pub fn insert(&mut self, block: i64) {
        match self {
            BlockCache::Lru { capacity, lists } => {
                lists.put(HELD, block);
                if lists.len(HELD) > *capacity {
                    lists.drop_oldest(HELD);
                }
            }
            BlockCache::TwoQueue { capacity, n_new, n_remembered, lists } => {
                match lists.list_of(block) {
                    Some(LASTING | REMEMBERED) => lists.put(LASTING, block),
                    Some(_) => return,
                    None => lists.put(NEW, block),
                }
                if lists.len(NEW) + lists.len(LASTING) <= *capacity {
                    return;
                }
                if lists.len(NEW) > *n_new || lists.len(LASTING) == 0 {
                    lists.move_oldest(NEW, REMEMBERED);
                    if lists.len(REMEMBERED) > *n_remembered {
                        lists.drop_oldest(REMEMBERED);
                    }
                } else {
                    lists.drop_oldest(LASTING);
                }
            }
            BlockCache::Arc(arc) => arc.insert(block),
        }
    }
}

impl Arc {
    fn insert(&mut self, block: i64) {
        let Arc { capacity, target, lists } = self;
        match lists.list_of(block) {
            Some(RECENT | FREQUENT) => lists.put(FREQUENT, block),
            Some(WAS_RECENT) => {
                let step = (lists.len(WAS_FREQUENT) / lists.len(WAS_RECENT)).max(1);
                *target = (*target + step).min(*capacity);
                self.replace(false);
                self.lists.put(FREQUENT, block);
            }
            Some(_) => {
                let step = (lists.len(WAS_RECENT) / lists.len(WAS_FREQUENT)).max(1);
                *target = target.saturating_sub(step);
                self.replace(true);
                self.lists.put(FREQUENT, block);
            }
            None => {
                self.make_room();
                self.lists.put(RECENT, block);
            }
        }
    }

    fn make_room(&mut self) {
        let lists = &mut self.lists;
        let recent = lists.len(RECENT);
        if recent + lists.len(WAS_RECENT) == self.capacity {
            if recent < self.capacity {
                lists.drop_oldest(WAS_RECENT);
                self.replace(false);
            } else {
                lists.drop_oldest(RECENT);
            }
            return;
        }
        let known = recent + lists.len(FREQUENT) + lists.len(WAS_RECENT) + lists.len(WAS_FREQUENT);
        if known >= self.capacity {
            if known == 2 * self.capacity {
                lists.drop_oldest(WAS_FREQUENT);
            }
            self.replace(false);
        }
    }

    /// Drops one block and remembers its name, if the cache is full.
    fn replace(&mut self, was_frequent: bool) {
        let lists = &mut self.lists;
        let recent = lists.len(RECENT);
        if recent + lists.len(FREQUENT) < self.capacity {
            return;
        }
        let is_over = recent > self.target || (was_frequent && recent == self.target);
        if recent > 0 && (is_over || lists.len(FREQUENT) == 0) {
            lists.move_oldest(RECENT, WAS_RECENT);
        } else {
            lists.move_oldest(FREQUENT, WAS_FREQUENT);
        }
    }
}

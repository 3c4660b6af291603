//! Blocks (or pages) in lists in order of use: each is in one list at most, and is found at once with what is known of it.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

const NONE: u32 = u32::MAX;

/// Bits of a node that say in which list its block is: caches have up to four.
const LIST_BITS: u32 = 2;

#[derive(Clone, Copy)]
struct Node {
    /// In its lowest bits the list: of a large cache, a field of its own would be a third of the memory.
    block_and_list: i64,
    before: u32,
    after: u32,
}

impl Node {
    fn new(block: i64) -> Self {
        Node { block_and_list: block << LIST_BITS, before: NONE, after: NONE }
    }

    #[inline]
    fn block(&self) -> i64 {
        self.block_and_list >> LIST_BITS
    }

    #[inline]
    fn list(&self) -> usize {
        (self.block_and_list & ((1 << LIST_BITS) - 1)) as usize
    }

    fn set_list(&mut self, list: usize) {
        self.block_and_list = self.block() << LIST_BITS | list as i64;
    }
}

#[derive(Clone, Copy)]
struct Ends {
    oldest: u32,
    newest: u32,
    len: usize,
}

/// `N` lists, the oldest block of each first; `V` is kept with each block.
pub struct Lists<const N: usize, V = ()> {
    /// Where each block's node is. A memory of gigabytes has millions: a place in four bytes is filled in half of the time
    /// that a block and its place take.
    places: HashTable<u32>,
    nodes: Vec<Node>,
    /// By node, as far as any is known: most blocks of a large cache are clean, and nothing is.
    values: Vec<V>,
    free: Vec<u32>,
    ends: [Ends; N],
}

fn hash_of(block: i64) -> u64 {
    FxBuildHasher.hash_one(block)
}

impl<const N: usize, V> Default for Lists<N, V> {
    fn default() -> Self {
        let ends = [Ends { oldest: NONE, newest: NONE, len: 0 }; N];
        Lists { places: HashTable::new(), nodes: Vec::new(), values: Vec::new(), free: Vec::new(), ends }
    }
}

impl<const N: usize, V: Copy> Clone for Lists<N, V> {
    fn clone(&self) -> Self {
        let Lists { places, nodes, values, free, ends } = self;
        Lists { places: places.clone(), nodes: nodes.clone(), values: values.clone(), free: free.clone(), ends: *ends }
    }

    /// Into the memory of other lists, which a derived one would not use.
    fn clone_from(&mut self, other: &Self) {
        self.places.clone_from(&other.places);
        self.nodes.clone_from(&other.nodes);
        self.values.clone_from(&other.values);
        self.free.clone_from(&other.free);
        self.ends = other.ends;
    }
}

impl<const N: usize, V: Copy + Default> Lists<N, V> {
    /// Blocks in any list.
    pub fn n_blocks(&self) -> usize {
        self.places.len()
    }

    pub fn len(&self, list: usize) -> usize {
        self.ends[list].len
    }

    /// Makes room for so many blocks at once.
    pub fn reserve(&mut self, n: usize) {
        let Lists { places, nodes, .. } = self;
        places.reserve(n, |&at| hash_of(nodes[at as usize].block()));
        nodes.reserve(n);
    }

    fn place_of(&self, block: i64) -> Option<u32> {
        self.places.find(hash_of(block), |&at| self.nodes[at as usize].block() == block).copied()
    }

    /// The list that a block is in.
    pub fn list_of(&self, block: i64) -> Option<usize> {
        self.place_of(block).map(|at| self.nodes[at as usize].list())
    }

    /// Makes a block the newest of a list, wherever it was.
    pub fn put(&mut self, list: usize, block: i64) {
        match self.place_of(block) {
            Some(at) => {
                self.unlink(at);
                self.append(list, at);
            }
            None => self.put_new(list, block),
        }
    }

    /// Makes a block that is in no list the newest of one.
    pub fn put_new(&mut self, list: usize, block: i64) {
        let node = Node::new(block);
        let at = match self.free.pop() {
            Some(at) => {
                self.nodes[at as usize] = node;
                at
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        };
        if let Some(value) = self.values.get_mut(at as usize) {
            *value = V::default();
        }
        let Lists { places, nodes, .. } = self;
        places.insert_unique(hash_of(block), at, |&at| hash_of(nodes[at as usize].block()));
        self.append(list, at);
    }

    /// What is known of a block that is in a list.
    pub fn value(&mut self, block: i64) -> Option<&mut V> {
        let at = self.place_of(block)? as usize;
        if at >= self.values.len() {
            self.values.resize(at + 1, V::default());
        }
        self.values.get_mut(at)
    }

    /// What is known of the oldest block of a list.
    pub fn oldest(&self, list: usize) -> Option<V> {
        let at = self.ends[list].oldest;
        (at != NONE).then(|| self.values.get(at as usize).copied().unwrap_or_default())
    }

    /// The blocks of a list, the oldest or the newest first.
    pub fn blocks(&self, list: usize, is_newest_first: bool) -> impl Iterator<Item = i64> + '_ {
        let ends = &self.ends[list];
        let mut at = if is_newest_first { ends.newest } else { ends.oldest };
        std::iter::from_fn(move || {
            let node = self.nodes.get(at as usize)?;
            at = if is_newest_first { node.before } else { node.after };
            Some(node.block())
        })
    }

    /// Moves the oldest block of a list to the new end of another; which one that is.
    pub fn move_oldest(&mut self, from: usize, to: usize) -> Option<i64> {
        let at = self.ends[from].oldest;
        let block = self.nodes.get(at as usize)?.block();
        self.unlink(at);
        self.append(to, at);
        Some(block)
    }

    /// Forgets the oldest block of a list; which one that was.
    pub fn drop_oldest(&mut self, list: usize) -> Option<i64> {
        let at = self.ends[list].oldest;
        let block = self.nodes.get(at as usize)?.block();
        self.forget(at);
        Some(block)
    }

    /// Forgets a block, if it is in a list.
    pub fn remove(&mut self, block: i64) {
        if let Some(at) = self.place_of(block) {
            self.forget(at);
        }
    }

    fn forget(&mut self, at: u32) {
        self.unlink(at);
        let hash = hash_of(self.nodes[at as usize].block());
        if let Ok(place) = self.places.find_entry(hash, |&other| other == at) {
            place.remove();
        }
        self.free.push(at);
    }

    fn unlink(&mut self, at: u32) {
        let node = self.nodes[at as usize];
        let Node { before, after, .. } = node;
        let ends = &mut self.ends[node.list()];
        ends.len -= 1;
        if before == NONE {
            ends.oldest = after;
        } else {
            self.nodes[before as usize].after = after;
        }
        if after == NONE {
            ends.newest = before;
        } else {
            self.nodes[after as usize].before = before;
        }
    }

    fn append(&mut self, list: usize, at: u32) {
        let ends = &mut self.ends[list];
        let before = ends.newest;
        ends.newest = at;
        ends.len += 1;
        if before == NONE {
            ends.oldest = at;
        } else {
            self.nodes[before as usize].after = at;
        }
        let node = &mut self.nodes[at as usize];
        (node.before, node.after) = (before, NONE);
        node.set_list(list);
    }
}

//! Blocks (or pages) in lists in order of use: each is in one list at most, and is found at once with what is known of it.

use rustc_hash::FxHashMap;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Node<V> {
    block: i64,
    value: V,
    before: u32,
    after: u32,
    list: u8,
}

#[derive(Clone, Copy)]
struct Ends {
    oldest: u32,
    newest: u32,
    len: usize,
}

/// `N` lists, the oldest block of each first; `V` is kept with each block.
#[derive(Clone)]
pub struct Lists<const N: usize, V = ()> {
    place: FxHashMap<i64, u32>,
    nodes: Vec<Node<V>>,
    free: Vec<u32>,
    ends: [Ends; N],
}

impl<const N: usize, V> Default for Lists<N, V> {
    fn default() -> Self {
        let ends = [Ends { oldest: NONE, newest: NONE, len: 0 }; N];
        Lists { place: FxHashMap::default(), nodes: Vec::new(), free: Vec::new(), ends }
    }
}

impl<const N: usize, V: Copy + Default> Lists<N, V> {
    pub fn len(&self, list: usize) -> usize {
        self.ends[list].len
    }

    /// Makes room for so many blocks at once.
    pub fn reserve(&mut self, n: usize) {
        self.place.reserve(n);
        self.nodes.reserve(n);
    }

    /// The list that a block is in.
    pub fn list_of(&self, block: i64) -> Option<usize> {
        self.place.get(&block).map(|&at| usize::from(self.nodes[at as usize].list))
    }

    /// Makes a block the newest of a list, wherever it was.
    pub fn put(&mut self, list: usize, block: i64) {
        if let Some(&at) = self.place.get(&block) {
            self.unlink(at);
            self.append(list, at);
            return;
        }
        let node = Node { block, value: V::default(), before: NONE, after: NONE, list: 0 };
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
        self.place.insert(block, at);
        self.append(list, at);
    }

    /// What is known of a block that is in a list.
    pub fn value(&mut self, block: i64) -> Option<&mut V> {
        self.place.get(&block).map(|&at| &mut self.nodes[at as usize].value)
    }

    /// What is known of the blocks of a list, the oldest first.
    pub fn values(&self, list: usize) -> impl Iterator<Item = &V> {
        let node = |at: u32| self.nodes.get(at as usize);
        std::iter::successors(node(self.ends[list].oldest), move |last| node(last.after)).map(|node| &node.value)
    }

    /// Moves the oldest block of a list to the new end of another.
    pub fn move_oldest(&mut self, from: usize, to: usize) {
        let at = self.ends[from].oldest;
        if at != NONE {
            self.unlink(at);
            self.append(to, at);
        }
    }

    /// Forgets the oldest block of a list.
    pub fn drop_oldest(&mut self, list: usize) {
        let at = self.ends[list].oldest;
        if at != NONE {
            self.unlink(at);
            self.place.remove(&self.nodes[at as usize].block);
            self.free.push(at);
        }
    }

    fn unlink(&mut self, at: u32) {
        let Node { before, after, list, .. } = self.nodes[at as usize];
        let ends = &mut self.ends[usize::from(list)];
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
        (node.before, node.after, node.list) = (before, NONE, list as u8);
    }
}

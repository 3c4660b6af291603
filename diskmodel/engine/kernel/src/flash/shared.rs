//! A long table of which copies have parts in common until one of them changes a part: the drives of an array begin
//! alike, and a run writes to a small part of most of them.

use std::sync::Arc;

/// Entries that are copied at once: as many as a block has at most, whose entries change together. At half the lists of
/// parts are twice as long; at double a block that is filled copies its neighbor, too.
const PART: usize = 1 << 8;

#[derive(Clone, Debug)]
pub struct Shared {
    parts: Vec<Arc<[u32; PART]>>,
}

impl Shared {
    pub fn new(n: usize, value: u32) -> Self {
        // all have one part in common
        let part = Arc::new([value; PART]);
        Shared { parts: vec![part; n.div_ceil(PART)] }
    }

    pub fn get(&self, at: usize) -> u32 {
        self.parts[at / PART][at % PART]
    }

    /// Sets an entry; returns what it was.
    pub fn replace(&mut self, at: usize, value: u32) -> u32 {
        let part = Arc::make_mut(&mut self.parts[at / PART]);
        std::mem::replace(&mut part[at % PART], value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_keeps_what_the_other_changes() {
        let mut one = Shared::new(PART + 1, 7);
        let mut other = one.clone();
        assert_eq!(one.replace(PART, 8), 7);
        assert_eq!((one.get(PART), other.get(PART), one.get(0)), (8, 7, 7));
        assert_eq!(other.replace(0, 9), 7);
        assert_eq!((one.get(0), other.get(0)), (7, 9));
    }
}

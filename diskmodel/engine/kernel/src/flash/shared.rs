//! A long table of which copies have parts in common until one of them changes a part: the drives of an array begin
//! alike, and a run writes to a small part of most of them.

use std::sync::Arc;

/// Entries that are copied at once: as many as a block has at most, whose entries change together. At half the lists of
/// parts are twice as long; at double a block that is filled copies its neighbor, too.
const PART: usize = 1 << 8;

/// Some entries. Those of its own a table changes without asking who else has them: counting owners took three quarters
/// of the time in which a drive's flash was filled.
#[derive(Clone, Debug)]
enum Part {
    Common(Arc<[u32; PART]>),
    Own(Box<[u32; PART]>),
}

#[derive(Clone, Debug)]
pub struct Shared {
    parts: Vec<Part>,
}

impl Shared {
    pub fn new(n: usize, value: u32) -> Self {
        let part = Part::Common(Arc::new([value; PART]));
        Shared { parts: vec![part; n.div_ceil(PART)] }
    }

    /// Lets copies have what this is now in common.
    pub fn freeze(&mut self) {
        for part in &mut self.parts {
            if let Part::Own(entries) = part {
                *part = Part::Common(Arc::new(**entries));
            }
        }
    }

    #[inline]
    pub fn get(&self, at: usize) -> u32 {
        match &self.parts[at / PART] {
            Part::Common(entries) => entries[at % PART],
            Part::Own(entries) => entries[at % PART],
        }
    }

    /// Sets an entry; returns what it was.
    #[inline]
    pub fn replace(&mut self, at: usize, value: u32) -> u32 {
        let part = &mut self.parts[at / PART];
        if let Part::Common(entries) = part {
            *part = Part::Own(Box::new(**entries));
        }
        match part {
            Part::Own(entries) => std::mem::replace(&mut entries[at % PART], value),
            Part::Common(_) => unreachable!("its own by now"),
        }
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
        one.freeze();
        let mut third = one.clone();
        assert_eq!((third.replace(PART, 5), one.replace(PART, 6)), (8, 8));
        assert_eq!((third.get(PART), one.get(PART)), (5, 6));
    }
}

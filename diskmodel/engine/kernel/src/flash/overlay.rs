//! A long table that drives of an array begin with alike, each with its own changes: few of them are kept apart, many in
//! a table of the drive's own.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// Part of the entries, as one of so many, from which a drive has a table of its own. At half, 2,000 drives take twice the
/// memory when their runs begin; at double, looking up takes longer than it saves.
const MANY: usize = 10;

#[derive(Clone, Debug)]
enum Changes {
    Few(FxHashMap<u32, u32>),
    Many(Vec<u32>),
}

#[derive(Clone, Debug)]
pub struct Overlay {
    first: Arc<Vec<u32>>,
    changes: Changes,
}

impl Overlay {
    pub fn new(n: usize, value: u32) -> Self {
        Overlay { first: Arc::default(), changes: Changes::Many(vec![value; n]) }
    }

    /// A copy has what this is now in common with it, and with other copies.
    pub fn freeze(&mut self) {
        if let Changes::Many(table) = &mut self.changes {
            self.first = Arc::new(std::mem::take(table));
            self.changes = Changes::Few(FxHashMap::default());
        }
    }

    #[inline]
    pub fn get(&self, at: usize) -> u32 {
        match &self.changes {
            Changes::Many(table) => table[at],
            Changes::Few(changed) => changed.get(&(at as u32)).copied().unwrap_or_else(|| self.first[at]),
        }
    }

    /// Sets an entry; returns what it was.
    #[inline]
    pub fn replace(&mut self, at: usize, value: u32) -> u32 {
        match &mut self.changes {
            Changes::Many(table) => std::mem::replace(&mut table[at], value),
            Changes::Few(changed) => {
                let before = changed.insert(at as u32, value).unwrap_or_else(|| self.first[at]);
                if changed.len() * MANY > self.first.len() {
                    self.take_own();
                }
                before
            }
        }
    }

    #[cold]
    fn take_own(&mut self) {
        let mut table = self.first.to_vec();
        if let Changes::Few(changed) = &self.changes {
            for (&at, &value) in changed {
                table[at as usize] = value;
            }
        }
        self.changes = Changes::Many(table);
        self.first = Arc::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_keeps_what_the_other_changes() {
        let mut one = Overlay::new(30, 7);
        assert_eq!(one.replace(3, 6), 7);
        one.freeze();
        let mut other = one.clone();
        for at in 0..5 {
            let was = if at == 3 { 6 } else { 7 };
            assert_eq!(one.replace(at, 8), was);
            assert_eq!((one.get(at), other.get(at), one.get(29)), (8, was, 7));
        }
        assert!(matches!((&one.changes, &other.changes), (Changes::Many(_), Changes::Few(_))));
        assert_eq!((other.replace(4, 9), one.replace(4, 10)), (7, 8));
        assert_eq!((one.get(4), other.get(4)), (10, 9));
    }
}

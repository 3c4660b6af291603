//! Sets of blocks of which many are adjacent: a long write is some entries, not one for each of its blocks.

use std::collections::btree_map::{BTreeMap, Entry};

/// Blocks of one entry: one bit each.
const BITS: i64 = u64::BITS as i64;

#[derive(Clone, Default)]
pub struct BlockSet {
    /// By the number of each 64 blocks, those that are in the set; at least one.
    words: BTreeMap<i64, u64>,
    len: i64,
}

/// Blocks [first, end) as bits, word by word.
fn bits(first: i64, end: i64) -> impl Iterator<Item = (i64, u64)> {
    let words = if first < end { first.div_euclid(BITS)..(end - 1).div_euclid(BITS) + 1 } else { 0..0 };
    words.map(move |at| {
        let begin = (first - at * BITS).max(0);
        let left_out = ((at + 1) * BITS - end).max(0);
        (at, (u64::MAX << begin) & (u64::MAX >> left_out))
    })
}

impl BlockSet {
    pub fn len(&self) -> i64 {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub fn contains(&self, block: i64) -> bool {
        self.words.get(&block.div_euclid(BITS)).is_some_and(|word| word >> block.rem_euclid(BITS) & 1 == 1)
    }

    /// How many blocks of [first, end) are in the set.
    pub fn count(&self, first: i64, end: i64) -> i64 {
        let held = |(at, mask): (i64, u64)| self.words.get(&at).map_or(0, |word| i64::from((word & mask).count_ones()));
        bits(first, end).map(held).sum()
    }

    /// How many of the lines of so many blocks that blocks [first, end) touch have any in the set.
    pub fn lines(&self, first: i64, end: i64, line: i64) -> i64 {
        if line == 1 {
            return self.count(first, end);
        }
        let is_used = |at: &i64| bits(at * line, (at + 1) * line).any(|word| self.has_any(word));
        (first.div_euclid(line)..(end - 1).div_euclid(line) + 1).filter(is_used).count() as i64
    }

    fn has_any(&self, (at, mask): (i64, u64)) -> bool {
        self.words.get(&at).is_some_and(|word| word & mask != 0)
    }

    /// Adds blocks [first, end).
    pub fn insert(&mut self, first: i64, end: i64) {
        for (at, mask) in bits(first, end) {
            let word = self.words.entry(at).or_default();
            self.len += i64::from((mask & !*word).count_ones());
            *word |= mask;
        }
    }

    /// Removes blocks [first, end), where they are in the set.
    pub fn remove(&mut self, first: i64, end: i64) {
        for (at, mask) in bits(first, end) {
            let Entry::Occupied(mut entry) = self.words.entry(at) else { continue };
            self.len -= i64::from((mask & entry.get()).count_ones());
            *entry.get_mut() &= !mask;
            if *entry.get() == 0 {
                entry.remove();
            }
        }
    }

    /// The first block at or behind `block`.
    pub fn next_from(&self, block: i64) -> Option<i64> {
        let at = block.div_euclid(BITS);
        let mut from = self.words.range(at..);
        let (mut found, mut word) = from.next().map(|(&at, &word)| (at, word))?;
        if found == at {
            word &= u64::MAX << block.rem_euclid(BITS);
            if word == 0 {
                (found, word) = from.next().map(|(&at, &word)| (at, word))?;
            }
        }
        Some(found * BITS + i64::from(word.trailing_zeros()))
    }

    /// Where the adjacent blocks of the set end that begin with `first`, at most at `limit`.
    pub fn run_end(&self, first: i64, limit: i64) -> i64 {
        let mut end = first;
        while end < limit {
            let Some(word) = self.words.get(&end.div_euclid(BITS)) else { break };
            let left = BITS - end.rem_euclid(BITS);
            let run = i64::from((word >> end.rem_euclid(BITS)).trailing_ones()).min(left);
            end += run;
            if run < left {
                break;
            }
        }
        end.min(limit)
    }
}

/// Blocks in ascending order, of which a set is made at once: one by one, millions of them took most of a run.
#[derive(Clone, Default)]
pub struct Ascending {
    words: Vec<(i64, u64)>,
    len: i64,
}

impl Ascending {
    /// Adds blocks [first, end), behind all others.
    pub fn push(&mut self, first: i64, end: i64) {
        self.len += end - first;
        for (at, mask) in bits(first, end) {
            match self.words.last_mut() {
                Some((last, word)) if *last == at => *word |= mask,
                _ => self.words.push((at, mask)),
            }
        }
    }
}

impl From<Ascending> for BlockSet {
    fn from(blocks: Ascending) -> Self {
        BlockSet { words: blocks.words.into_iter().collect(), len: blocks.len }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::drawn::drawn_from;

    #[test]
    fn of_ascending_blocks_it_holds_what_it_is_told_piece_by_piece() {
        let mut below = drawn_from(11);
        let (mut pieces, mut one_by_one, mut end) = (Ascending::default(), BlockSet::default(), -200);
        for _ in 0..2_000 {
            let first = end + below(90) * below(2);
            end = first + 1 + below(150);
            pieces.push(first, end);
            one_by_one.insert(first, end);
        }
        let at_once = BlockSet::from(pieces);
        assert_eq!((at_once.len, at_once.words), (one_by_one.len, one_by_one.words));
    }

    #[test]
    fn it_holds_what_a_set_of_single_blocks_holds() {
        let mut below = drawn_from(7);
        let (mut set, mut plain) = (BlockSet::default(), BTreeSet::new());
        for step in 0..40_000 {
            let first = below(700) - 100;
            let end = first + below(if step % 3 == 0 { 200 } else { 4 });
            match below(2) {
                0 => {
                    set.insert(first, end);
                    plain.extend(first..end);
                }
                _ => {
                    set.remove(first, end);
                    plain.retain(|block| !(first..end).contains(block));
                }
            }
            assert_eq!((set.len(), set.is_empty()), (plain.len() as i64, plain.is_empty()), "step {step}");
            let at = below(900) - 150;
            assert_eq!(set.contains(at), plain.contains(&at), "step {step}");
            assert_eq!(set.count(at, at + 90), plain.range(at..at + 90).count() as i64, "step {step}");
            let line = 1 + below(3) * 7;
            let touched = at.div_euclid(line)..(at + 89).div_euclid(line) + 1;
            let used = touched.filter(|l| plain.range(l * line..(l + 1) * line).next().is_some()).count() as i64;
            assert_eq!(set.lines(at, at + 90, line), used, "step {step}");
            assert_eq!(set.next_from(at), plain.range(at..).next().copied(), "step {step}");
            let limit = at + 1 + below(300);
            let run = (at..limit).take_while(|block| plain.contains(block)).count() as i64;
            assert_eq!(set.run_end(at, limit), at + run, "step {step}");
        }
    }
}

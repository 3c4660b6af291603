//! Caches as runs begin with them. Filling a large one takes longer than many a run, and the runs of a search begin with
//! the same blocks: the last ones that were filled are kept, and copied.

use std::sync::{Arc, Mutex, PoisonError};

/// Blocks from which a cache is kept. One of fewer is filled in about as many microseconds as it takes to compare.
const LEAST: usize = 1 << 16;
/// Blocks that are kept at most, of all caches of a kind: these take about 300 MB, and a run half of that again. A start
/// is found by trials from two states; with half as many each would drive the other out.
const MOST: usize = 1 << 23;
/// Caches of runs that are over, to copy into: to ask for new memory takes longer than to fill it. As many as most
/// machines' simulations at a time need, each of which would have one; and the blocks of one at most. At four times as
/// many, a comparison of arrays with caches of 256 GiB takes more than 1 GB.
const SPARE: usize = 2;
const MOST_SPARE: usize = 1 << 20;

/// What distinguishes two long lists of numbers: how many they are, and two sums in which each has a weight by its place.
/// Those of two that differ agree with a chance of one in 2^128. A list of millions, kept to be compared with, would take
/// as much memory as what it fills.
#[derive(Clone, Copy, PartialEq)]
pub struct Digest {
    n: usize,
    sums: [u64; 2],
}

impl Digest {
    pub fn of(numbers: &[i64]) -> Self {
        // odd factors of steps of two generators of random numbers (Steele, Vigna 2021)
        const FACTORS: [u64; 2] = [0xd134_2543_de82_ef95, 0xaf25_1af3_b0f0_25b5];
        let mut sums = [0x9e37_79b9_7f4a_7c15_u64, 0x2545_f491_4f6c_dd1d];
        for &number in numbers {
            for (sum, factor) in sums.iter_mut().zip(FACTORS) {
                *sum = (*sum ^ number as u64).wrapping_mul(factor).rotate_left(29);
            }
        }
        Digest { n: numbers.len(), sums }
    }
}

struct Kept<K, C> {
    key: K,
    n_blocks: usize,
    cache: Arc<C>,
}

/// The caches of a kind that were filled last, by what they were filled with; the last one used is at the end.
pub struct Loaded<K, C> {
    kept: Mutex<Vec<Kept<K, C>>>,
    spare: Mutex<Vec<C>>,
}

impl<K, C: Clone> Loaded<K, C> {
    pub const fn new() -> Self {
        Loaded { kept: Mutex::new(Vec::new()), spare: Mutex::new(Vec::new()) }
    }

    /// The cache that `fill` makes of `n_blocks`. Keys are made to be kept, and else only compared.
    pub fn get(
        &self,
        n_blocks: usize,
        is_key: impl Fn(&K) -> bool,
        key: impl FnOnce() -> K,
        fill: impl FnOnce() -> Result<C, String>,
    ) -> Result<C, String> {
        if !(LEAST..=MOST).contains(&n_blocks) {
            return fill();
        }
        // those who come meanwhile wait, and have less to do; a cache is kept only when it is complete
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let last = match kept.iter().position(|one| is_key(&one.key)) {
            Some(at) => kept.remove(at),
            None => {
                while kept.iter().map(|one| one.n_blocks).sum::<usize>() + n_blocks > MOST {
                    kept.remove(0);
                }
                Kept { key: key(), n_blocks, cache: Arc::new(fill()?) }
            }
        };
        let cache = Arc::clone(&last.cache);
        kept.push(last);
        drop(kept);
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Ok(match spare {
            Some(mut other) => {
                other.clone_from(&cache);
                other
            }
            None => (*cache).clone(),
        })
    }

    /// Takes a cache of `n_blocks` that nobody uses any more, if it may be of use.
    pub fn give_back(&self, n_blocks: usize, cache: impl FnOnce() -> C) {
        if (LEAST..=MOST_SPARE).contains(&n_blocks) {
            let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
            if spare.len() < SPARE {
                spare.push(cache());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_tells_lists_apart() {
        let of = Digest::of;
        assert!(of(&[1, 2, 3]) == of(&[1, 2, 3]));
        for other in [&[1, 3, 2][..], &[1, 2], &[1, 2, 3, 0], &[-1, 2, 3], &[1, 2, 3 + (1 << 40)], &[]] {
            assert!(of(&[1, 2, 3]) != of(other), "{other:?}");
        }
    }

    #[test]
    fn only_what_was_used_last_is_kept() {
        let loaded = Loaded::new();
        let mut filled = Vec::new();
        let half = MOST / 2;
        for (key, n_blocks) in
            [(1, half), (2, half), (1, half), (3, half), (1, half), (2, half), (4, LEAST - 1), (4, 9)]
        {
            let fill = || {
                filled.push(key);
                Ok(key)
            };
            let cache = loaded.get(n_blocks, |&other| other == key, || key, fill);
            assert_eq!(cache, Ok(key));
        }
        assert_eq!(filled, [1, 2, 3, 2, 4, 4]);
    }

    #[test]
    fn a_copy_takes_the_place_of_one_given_back() {
        let loaded = Loaded::new();
        let get = |key: usize| {
            let fill = || Ok(vec![key; LEAST + key]);
            loaded.get(LEAST, |&other| other == key, || key, fill).unwrap()
        };
        let first = get(5);
        let place = first.as_ptr();
        loaded.give_back(LEAST, || first);
        let second = get(3);
        assert_eq!((second.as_ptr(), second.len(), second[0]), (place, LEAST + 3, 3));
        let third = get(3);
        assert_ne!(third.as_ptr(), place, "the memory of one that is in use");
    }

    #[test]
    fn what_could_not_be_filled_is_not_kept() {
        let loaded = Loaded::new();
        let get = |fill: Result<i32, String>| loaded.get(LEAST, |_| true, || (), || fill);
        assert_eq!(get(Err("no".into())), Err("no".into()));
        assert_eq!(get(Ok(5)), Ok(5));
        assert_eq!(get(Err("not asked".into())), Ok(5));
    }
}

//! What a media cache holds after a long time of writes that are nobody's neighbors (rule G9).

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

/// Runs of writes in order (rule G2): how long that of each write is with it; and disk, begin and end of those of several
/// writes that go on after the last one, in the order in which their ends came first.
pub fn runs(disk: &[i64], lba: &[i64], end: &[i64]) -> (Vec<i64>, Vec<[i64; 3]>) {
    // begin of a run by its disk and end, when that end first came, and whether there are several writes
    let mut begins: FxHashMap<(i64, i64), (i64, usize, bool)> = FxHashMap::default();
    let mut lengths = Vec::with_capacity(lba.len());
    for (at, ((&disk, &first), &last)) in disk.iter().zip(lba).zip(end).enumerate() {
        let before = begins.remove(&(disk, first));
        let (begin, goes_on) = before.map_or((first, false), |(begin, _, _)| (begin, true));
        // parity is written again for each strip of its row: the longest run goes on
        let known = begins.entry((disk, last)).or_insert((begin, at, goes_on));
        known.0 = known.0.min(begin);
        known.2 |= goes_on;
        lengths.push(last - begin);
    }
    let mut left: Vec<_> = begins.into_iter().filter(|&(_, (_, _, goes_on))| goes_on).collect();
    left.sort_unstable_by_key(|&(_, (_, at, _))| at);
    (lengths, left.into_iter().map(|((disk, last), (begin, _, _))| [disk, begin, last]).collect())
}

/// A media cache after many writes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Filled {
    /// Numbers of the writes that it holds, in order.
    pub held: Vec<usize>,
    /// Writes before which room was made, in order.
    pub cleaned_at: Vec<usize>,
    /// Whether it was full when the last write came.
    pub is_full: bool,
    /// Writes that it held after half of them.
    pub n_at_half: usize,
}

/// Fills a cache of at most `max_extents` writes or `log_sectors` with writes of `n` sectors at `lba`, each in its band.
///
/// Room is made by cleaning the band of the oldest write; without bands the oldest write makes room for the latest.
pub fn filled(lba: &[i64], n: &[i64], band: Option<&[i64]>, max_extents: usize, log_sectors: i64) -> Filled {
    let mut held: FxHashMap<i64, usize> = FxHashMap::default();
    let mut of_band: FxHashMap<i64, Vec<i64>> = FxHashMap::default();
    let mut order: VecDeque<usize> = VecDeque::new();
    let (mut found, mut used) = (Filled::default(), 0);
    for (at, (&start, &length)) in lba.iter().zip(n).enumerate() {
        found.is_full = held.len() >= max_extents || used >= log_sectors;
        if found.is_full {
            while order.front().is_some_and(|&oldest| held.get(&lba[oldest]) != Some(&oldest)) {
                order.pop_front();
            }
            let Some(&oldest) = order.front() else { break };
            let gone = match band {
                Some(band) => of_band.remove(&band[oldest]).unwrap_or_default(),
                None => vec![lba[oldest]],
            };
            used -= gone.iter().filter_map(|start| held.remove(start)).map(|write| n[write]).sum::<i64>();
            found.cleaned_at.push(at);
        }
        if 2 * at < lba.len() {
            found.n_at_half = held.len();
        }
        match held.insert(start, at) {
            Some(before) => used -= n[before],
            None => {
                if let Some(band) = band {
                    of_band.entry(band[at]).or_default().push(start);
                }
            }
        }
        order.push_back(at);
        used += length;
    }
    found.held = held.into_values().collect();
    found.held.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_go_on_where_they_end() {
        let disk = [0, 0, 1, 0, 0, 0];
        let lba = [10, 20, 20, 90, 15, 30];
        let end = [20, 30, 30, 95, 20, 40];
        let (lengths, left) = runs(&disk, &lba, &end);
        assert_eq!(lengths, [10, 20, 10, 5, 5, 30]);
        assert_eq!(left, [[0, 10, 40]], "single writes are no runs");
    }

    #[test]
    fn of_two_runs_to_the_same_end_the_longer_one_goes_on() {
        let (lengths, left) = runs(&[0, 0, 0, 0], &[10, 20, 20, 30], &[20, 30, 30, 40]);
        assert_eq!((lengths, left), (vec![10, 20, 10, 30], vec![[0, 10, 40]]));
    }

    #[test]
    fn the_band_of_the_oldest_makes_room() {
        let (lba, n, band) = ([0, 100, 10, 200, 300], [1; 5], [0, 1, 0, 2, 3]);
        let found = filled(&lba, &n, Some(&band), 3, 1000);
        assert_eq!(found.held, [1, 3, 4]);
        assert_eq!(found.cleaned_at, [3]);
        assert!(!found.is_full);
    }

    #[test]
    fn without_bands_it_stays_full() {
        let found = filled(&[0, 10, 20, 30], &[8; 4], None, 100, 16);
        assert_eq!(found.held, [2, 3]);
        assert_eq!(found.cleaned_at, [2, 3]);
        assert!(found.is_full);
    }

    #[test]
    fn a_write_to_the_same_place_replaces_the_one_before() {
        let found = filled(&[0, 0, 0], &[8; 3], Some(&[0; 3]), 2, 1000);
        assert_eq!(found, Filled { held: vec![2], n_at_half: 1, ..Filled::default() });
    }
}

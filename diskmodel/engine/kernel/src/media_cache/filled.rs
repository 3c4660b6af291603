//! What a media cache holds after a long time of writes that are nobody's neighbors (rule G9).

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

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

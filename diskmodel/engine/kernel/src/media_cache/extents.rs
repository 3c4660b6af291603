//! Which blocks of an arm lie in the log (rule G4); see `diskmodel/drive/media_cache/extents.py`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Blocks that were written together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub start: i64,
    pub n: i64,
    /// Sector of the log; none for blocks in place, in a band of which others have to be written anew (rule G5).
    pub at: Option<i64>,
    pub turn: u64,
}

impl Extent {
    pub fn end(&self) -> i64 {
        self.start + self.n
    }

    /// The part of it with blocks `[start, end)`.
    pub fn part(&self, start: i64, end: i64) -> Extent {
        Extent { start, n: end - start, at: self.at.map(|at| at + start - self.start), turn: self.turn }
    }
}

/// Extents that several maps began with.
#[derive(Debug, Default)]
struct Shared {
    by_start: Vec<Extent>,
    /// Places in that list, by age.
    by_age: Vec<u32>,
}

impl Shared {
    /// Place of the extent that begins at `start`.
    fn find(&self, start: i64) -> Option<usize> {
        self.by_start.binary_search_by_key(&start, |extent| extent.start).ok()
    }
}

/// Extents by place and by age; none overlaps another.
#[derive(Clone, Debug, Default)]
pub struct ExtentMap {
    /// Sectors of the log that are in use.
    pub used: i64,
    by_start: BTreeMap<i64, Extent>,
    by_age: BTreeSet<(u64, i64)>,
    /// Those that copies of this map have, too; which of them are gone here, how many are left, and how many of the
    /// oldest are known to be gone.
    shared: Arc<Shared>,
    gone: Vec<bool>,
    n_shared: usize,
    n_oldest_gone: usize,
}

impl ExtentMap {
    pub fn len(&self) -> usize {
        self.by_start.len() + self.n_shared
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes copies cheap.
    pub fn share(&mut self) {
        let by_start: Vec<_> = self.within(0, i64::MAX);
        let mut by_age: Vec<_> = (0..by_start.len() as u32).collect();
        by_age.sort_unstable_by_key(|&at| (by_start[at as usize].turn, by_start[at as usize].start));
        self.n_shared = by_start.len();
        self.gone = vec![false; by_start.len()];
        self.n_oldest_gone = 0;
        self.shared = Arc::new(Shared { by_start, by_age });
        self.by_start.clear();
        self.by_age.clear();
    }

    /// Adds an extent whose blocks no other one has.
    pub fn put(&mut self, extent: Extent) {
        self.by_start.insert(extent.start, extent);
        self.by_age.insert((extent.turn, extent.start));
        self.used += if extent.at.is_some() { extent.n } else { 0 };
    }

    pub fn remove(&mut self, extent: &Extent) {
        if self.by_age.remove(&(extent.turn, extent.start)) {
            self.by_start.remove(&extent.start);
        } else if let Some(at) = self.shared.find(extent.start) {
            self.gone[at] = true;
            self.n_shared -= 1;
            while self.shared.by_age.get(self.n_oldest_gone).is_some_and(|&at| self.gone[at as usize]) {
                self.n_oldest_gone += 1;
            }
        }
        self.used -= if extent.at.is_some() { extent.n } else { 0 };
    }

    /// The extents with a block in `[start, end)`, in order.
    pub fn within(&self, start: i64, end: i64) -> Vec<Extent> {
        let before = self.by_start.range(..start).next_back().filter(|(_, extent)| extent.end() > start);
        let mut found: Vec<_> =
            before.into_iter().chain(self.by_start.range(start..end)).map(|(_, &extent)| extent).collect();
        if self.n_shared > 0 {
            let all = &self.shared.by_start;
            let mut at = all.partition_point(|extent| extent.start < start);
            at -= usize::from(at > 0 && all[at - 1].end() > start);
            while let Some(extent) = all.get(at).filter(|extent| extent.start < end) {
                if !self.gone[at] {
                    found.push(*extent);
                }
                at += 1;
            }
            found.sort_unstable_by_key(|extent| extent.start);
        }
        found
    }

    /// Forgets blocks `[start, end)`; what remains of an extent on either side keeps its age.
    pub fn cut(&mut self, start: i64, end: i64) {
        for extent in self.within(start, end) {
            self.remove(&extent);
            if extent.start < start {
                self.put(extent.part(extent.start, start));
            }
            if end < extent.end() {
                self.put(extent.part(end, extent.end()));
            }
        }
    }

    /// The extent of write `turn` that begins at `start`.
    pub fn find(&self, turn: u64, start: i64) -> Option<Extent> {
        let own = self.by_start.get(&start).copied();
        let shared = || self.shared.find(start).filter(|&at| !self.gone[at]).map(|at| self.shared.by_start[at]);
        own.or_else(shared).filter(|extent| extent.turn == turn)
    }

    /// The oldest extents, at most so many.
    pub fn oldest(&self, most: usize) -> Vec<Extent> {
        let left = self.shared.by_age[self.n_oldest_gone..].iter().map(|&at| at as usize);
        let mut shared = left.filter(|&at| !self.gone[at]).map(|at| self.shared.by_start[at]).peekable();
        let mut own = self.by_age.iter().map(|&(_, start)| self.by_start[&start]).peekable();
        let age = |extent: &Extent| (extent.turn, extent.start);
        let mut found = Vec::new();
        while found.len() < most {
            let is_shared = match (shared.peek(), own.peek()) {
                (Some(other), Some(mine)) => age(other) < age(mine),
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (None, None) => break,
            };
            found.extend(if is_shared { shared.next() } else { own.next() });
        }
        found
    }
}

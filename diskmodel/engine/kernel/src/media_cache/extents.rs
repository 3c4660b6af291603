//! Which blocks of an arm lie in the log (rule G4); see `diskmodel/drive/media_cache/extents.py`.

use std::collections::{BTreeMap, BTreeSet};

use crate::faults::{planted, Fault};

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

/// Extents by place and by age; none overlaps another.
#[derive(Clone, Debug, Default)]
pub struct ExtentMap {
    /// Sectors of the log that are in use.
    pub used: i64,
    by_start: BTreeMap<i64, Extent>,
    by_age: BTreeSet<(u64, i64)>,
}

impl ExtentMap {
    pub fn len(&self) -> usize {
        self.by_start.len()
    }

    pub fn is_empty(&self) -> bool {
        self.by_start.is_empty()
    }

    /// Adds an extent whose blocks no other one has.
    pub fn put(&mut self, extent: Extent) {
        self.by_start.insert(extent.start, extent);
        self.by_age.insert((extent.turn, extent.start));
        self.used += if extent.at.is_some() { extent.n } else { 0 };
    }

    pub fn remove(&mut self, extent: &Extent) {
        self.by_start.remove(&extent.start);
        self.by_age.remove(&(extent.turn, extent.start));
        self.used -= if extent.at.is_some() { extent.n } else { 0 };
    }

    /// The extents with a block in `[start, end)`, in order.
    pub fn within(&self, start: i64, end: i64) -> impl Iterator<Item = &Extent> {
        let before = self.by_start.range(..start).next_back().filter(|(_, extent)| extent.end() > start);
        before.into_iter().chain(self.by_start.range(start..end)).map(|(_, extent)| extent)
    }

    /// Forgets blocks `[start, end)`; what remains of an extent on either side keeps its age.
    pub fn cut(&mut self, start: i64, end: i64) {
        let found: Vec<_> = self.within(start, end).copied().collect();
        for extent in found {
            self.remove(&extent);
            if extent.start < start {
                self.put(extent.part(extent.start, start));
            }
            if end < extent.end() && !planted(Fault::ExtentRest) {
                self.put(extent.part(end, extent.end()));
            }
        }
    }

    /// The extent of write `turn` that begins at `start`.
    pub fn find(&self, turn: u64, start: i64) -> Option<Extent> {
        self.by_start.get(&start).copied().filter(|extent| extent.turn == turn)
    }

    /// The extents from the oldest on.
    pub fn aged(&self) -> impl Iterator<Item = &Extent> {
        self.by_age.iter().map(|(_, start)| &self.by_start[start])
    }
}

//! Which parts of a drive hold nothing of what is looked for, as most do.

/// How many ranges reach into each cell of some thousand blocks, cells that are far apart taken together.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    shift: u32,
    counts: Vec<u32>,
}

pub const N_CELLS: usize = 1024;

impl Cells {
    /// Cells at least as long as a range, which then reaches into two of them at most.
    pub fn new(sectors: i64) -> Self {
        Cells { shift: 64 - (sectors.max(2) - 1).leading_zeros(), counts: vec![0; N_CELLS] }
    }

    #[inline]
    fn at(&self, lba: i64) -> usize {
        (lba >> self.shift) as usize % N_CELLS
    }

    /// Whether a range may have this block.
    #[inline]
    pub fn may_hold(&self, lba: i64) -> bool {
        self.counts[self.at(lba)] > 0
    }

    /// Whether a range may have any of these blocks.
    #[inline]
    pub fn may_touch(&self, lba: i64, n: i64) -> bool {
        n >> self.shift > 0 || self.may_hold(lba) || self.may_hold(lba + n - 1)
    }

    /// Ends of ranges in the cells of some blocks; of a long row of them, more than there are.
    pub fn ends_near(&self, lba: i64, n: i64) -> usize {
        if n >> self.shift > 0 {
            return usize::MAX;
        }
        let (first, last) = (self.at(lba), self.at(lba + n - 1));
        let beyond = if first == last { 0 } else { self.counts[last] as usize };
        self.counts[first] as usize + beyond
    }

    /// Ends of one range in the cells of some blocks; none in those of a long row of them.
    pub fn ends_of(&self, start: i64, end: i64, lba: i64, n: i64) -> usize {
        if n >> self.shift > 0 {
            return 0;
        }
        let (first, last) = (self.at(lba), self.at(lba + n - 1));
        let is_there = |end: i64| usize::from(self.at(end) == first || self.at(end) == last);
        is_there(start) + is_there(end - 1)
    }

    #[inline]
    pub fn count(&mut self, start: i64, end: i64) {
        let (first, last) = (self.at(start), self.at(end - 1));
        self.counts[first] += 1;
        self.counts[last] += 1;
    }

    #[inline]
    pub fn discount(&mut self, start: i64, end: i64) {
        let (first, last) = (self.at(start), self.at(end - 1));
        self.counts[first] -= 1;
        self.counts[last] -= 1;
    }
}

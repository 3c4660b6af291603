//! The drive's read segments (rules C1 to C6); see `diskmodel/drive/cache.py`.

use std::collections::VecDeque;

use crate::cells::Cells;

#[derive(Clone, Copy, Debug)]
pub struct Segment {
    pub id: u64,
    pub start: i64,
    pub end: i64,
}

/// Read segments, the least recently used first.
#[derive(Clone, Debug, Default)]
pub struct Segments {
    limit: usize,
    sectors: i64,
    held: VecDeque<Segment>,
    made: u64,
    /// Grows when a segment may hold more than before.
    pub growth: i64,
    cells: Cells,
}

impl Segments {
    pub fn new(limit: usize, sectors: i64) -> Self {
        Segments { limit, sectors, cells: Cells::new(sectors), ..Segments::default() }
    }

    /// Id of the most recently used segment that holds all of a range.
    pub fn covers(&self, lba: i64, n: i64) -> Option<u64> {
        if self.held.is_empty() || !self.cells.may_hold(lba) {
            return None;
        }
        self.held.iter().rev().find(|s| s.start <= lba && lba + n <= s.end).map(|s| s.id)
    }

    /// Whether a segment holds any of a range.
    pub fn touches(&self, lba: i64, n: i64) -> bool {
        // what a write replaces was mostly read just before
        self.cells.may_touch(lba, n) && self.held.iter().rev().any(|s| s.start < lba + n && lba < s.end)
    }

    pub fn touch(&mut self, id: u64) {
        if let Some(at) = self.held.iter().rposition(|s| s.id == id) {
            self.held.make_contiguous()[at..].rotate_left(1);
        }
    }

    /// A new segment; a copy of it is returned, because it may be dropped while a stream still fills it.
    pub fn insert(&mut self, start: i64, end: i64) -> Option<Segment> {
        if self.limit == 0 {
            return None;
        }
        self.made += 1;
        self.growth += 1;
        let segment = Segment { id: self.made, start: start.max(end - self.sectors), end };
        self.cells.count(segment.start, segment.end);
        self.held.push_back(segment);
        if self.held.len() > self.limit {
            if let Some(dropped) = self.held.pop_front() {
                self.cells.discount(dropped.start, dropped.end);
            }
        }
        Some(segment)
    }

    /// Blocks up to `end` were added to a segment (and to the stream's own view of it).
    pub fn extend(&mut self, segment: &mut Segment, end: i64) {
        self.growth += i64::from(end > segment.end);
        segment.end = segment.end.max(end);
        segment.start = segment.start.max(segment.end - self.sectors);
        if let Some(held) = self.held.iter_mut().rfind(|s| s.id == segment.id) {
            self.cells.discount(held.start, held.end);
            self.cells.count(segment.start, segment.end);
            *held = *segment;
        }
    }

    /// The segment of a stream that a read up to `end` stayed on, the most recently used one now (rule C1). One that was
    /// dropped meanwhile begins anew where it did.
    pub fn go_on(&mut self, mut segment: Segment, end: i64) -> Option<Segment> {
        if !self.held.iter().rev().any(|s| s.id == segment.id) {
            return self.insert(segment.start, end);
        }
        self.extend(&mut segment, end);
        self.touch(segment.id);
        Some(segment)
    }

    /// A segment begins at `start`, if that is earlier and there is room (and so does the stream's own view of it).
    pub fn reach_back(&mut self, segment: &mut Segment, start: i64) {
        let start = start.max(segment.end - self.sectors);
        if start >= segment.start {
            return;
        }
        self.growth += 1;
        segment.start = start;
        if let Some(held) = self.held.iter_mut().rfind(|s| s.id == segment.id) {
            self.cells.discount(held.start, held.end);
            self.cells.count(segment.start, segment.end);
            *held = *segment;
        }
    }

    pub fn clear(&mut self) {
        for segment in &self.held {
            self.cells.discount(segment.start, segment.end);
        }
        self.held.clear();
    }

    pub fn drop_range(&mut self, lba: i64, n: i64) {
        let Segments { held, cells, .. } = self;
        // as many ends of segments lie in the range's cells, and the newest segments are the likeliest
        let mut n_ends = cells.ends_near(lba, n);
        let mut i = held.len();
        while n_ends > 0 && i > 0 {
            i -= 1;
            let segment = held[i];
            n_ends -= cells.ends_of(segment.start, segment.end, lba, n);
            if segment.start < lba + n && lba < segment.end {
                cells.discount(segment.start, segment.end);
                held.remove(i);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::N_CELLS;
    use crate::drawn::drawn_from;

    /// Against a search of every segment, with cells that wrap around.
    #[test]
    fn cells_hide_no_segment() {
        let mut below = drawn_from(7);
        let mut segments = Segments::new(20, 48);
        let mut n_found = 0;
        for _ in 0..50_000 {
            let far = below(3) * 64 * N_CELLS as i64;
            let (lba, n) = (far + below(3_000), 1 + below(60));
            match below(4) {
                0 => {
                    let segment = segments.insert(lba, lba + n);
                    if let Some(mut segment) = segment.filter(|_| below(2) == 0) {
                        segments.extend(&mut segment, lba + n + below(80));
                    }
                }
                1 if below(4) == 0 => segments.drop_range(lba, n),
                _ => {}
            }
            let n = 1 + n / 8;
            let found = segments.held.iter().rev().find(|s| s.start <= lba && lba + n <= s.end).map(|s| s.id);
            assert_eq!(segments.covers(lba, n), found);
            let touched = segments.held.iter().any(|s| s.start < lba + n && lba < s.end);
            assert_eq!(segments.touches(lba, n), touched);
            n_found += usize::from(found.is_some());
            if let Some(id) = found {
                segments.touch(id);
                assert_eq!(segments.held.back().map(|s| s.id), Some(id));
            }
        }
        assert!(n_found > 1_000, "{n_found}");
    }
}

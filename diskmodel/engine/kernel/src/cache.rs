//! The drive's buffer: read segments and dirty data (rules C1 to C9); see `diskmodel/drive/cache.py`.

use crate::faults::{planted, Fault};

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
    held: Vec<Segment>,
    made: u64,
    /// Grows when a segment may hold more than before.
    pub growth: i64,
}

impl Segments {
    pub fn new(limit: usize, sectors: i64) -> Self {
        Segments { limit, sectors, held: Vec::new(), made: 0, growth: 0 }
    }

    /// Id of the most recently used segment that holds all of a range.
    pub fn covers(&self, lba: i64, n: i64) -> Option<u64> {
        self.held.iter().rev().find(|s| s.start <= lba && lba + n <= s.end).map(|s| s.id)
    }

    pub fn touch(&mut self, id: u64) {
        if let Some(at) = self.held.iter().position(|s| s.id == id) {
            let segment = self.held.remove(at);
            self.held.push(segment);
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
        self.held.push(segment);
        if self.held.len() > self.limit {
            self.held.remove(usize::from(planted(Fault::CacheEviction)));
        }
        Some(segment)
    }

    /// Blocks up to `end` were added to a segment (and to the stream's own view of it).
    pub fn extend(&mut self, segment: &mut Segment, end: i64) {
        self.growth += i64::from(end > segment.end);
        segment.end = segment.end.max(end);
        segment.start = segment.start.max(segment.end - self.sectors);
        if let Some(held) = self.held.iter_mut().find(|s| s.id == segment.id) {
            *held = *segment;
        }
    }

    pub fn drop_range(&mut self, lba: i64, n: i64) {
        self.held.retain(|s| s.end <= lba || lba + n <= s.start);
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Dirty {
    pub seq: u64,
    pub lba: i64,
    pub n: i64,
    pub arrived: i64,
}

/// Dirty data of a write-back drive, in order of arrival.
#[derive(Clone, Debug, Default)]
pub struct DirtyBuffer {
    pub capacity: i64,
    pub longest: i64,
    /// Blocks of one actuator: what another arm writes is no continuation.
    pub border: i64,
    pub used: i64,
    pub waiting: Vec<Dirty>,
    /// Grows when more is held than before.
    pub growth: i64,
    /// On its way to the media: (number, when it is there).
    pub landing: Vec<(u64, i64)>,
}

impl DirtyBuffer {
    pub fn accept(&mut self, seq: u64, lba: i64, n: i64, now: i64) -> bool {
        if self.capacity == 0 {
            return false;
        }
        if self.covers(lba, n) {
            return true;
        }
        if self.used + n > self.capacity {
            return false;
        }
        self.used += n;
        self.growth += 1;
        for entry in &mut self.waiting {
            if entry.lba + entry.n == lba && entry.n + n <= self.longest && lba % self.border != 0 {
                entry.n += n;
                return true;
            }
        }
        self.waiting.push(Dirty { seq, lba, n, arrived: now });
        true
    }

    pub fn covers(&self, lba: i64, n: i64) -> bool {
        self.waiting.iter().any(|e| e.lba <= lba && lba + n <= e.lba + e.n)
    }

    pub fn is_pressing(&self) -> bool {
        2 * self.used + i64::from(planted(Fault::DestagePressure)) > self.capacity
    }
}

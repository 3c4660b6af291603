//! How long the blocks of a pool's intent log are (rule X10); see `diskmodel/layout/pools/log_blocks.py`.

use super::WriteTables;

/// Blocks of the log have so many bytes, or a multiple.
const LEAST_BYTES: i64 = 4096;
/// A burst of more than so many of the longest blocks is written in these.
const MANY_BLOCKS: i64 = 8;

/// So many bytes as they are written.
pub fn rounded(n_bytes: i64) -> i64 {
    (n_bytes + LEAST_BYTES - 1) / LEAST_BYTES * LEAST_BYTES
}

/// Lengths of blocks by what the last bursts took.
pub struct Lengths {
    header: i64,
    longest: i64,
    /// Bytes that the longest block has room for, and of these with one header; less room than `waste` is not used for
    /// a part of an entry.
    room: i64,
    data: i64,
    waste: i64,
    /// Of the last bursts: the length of block that is best for each, and the least first one that does as well.
    best: Vec<i64>,
    least: Vec<i64>,
    turn: usize,
    /// Bytes of this burst, and those of them that have no place yet.
    size: i64,
    pub left: i64,
    pub next: i64,
}

impl Lengths {
    pub fn new(writes: &WriteTables) -> Self {
        let (header, longest) = (writes.log_header, writes.log_block);
        let room = longest - header;
        let data = room - header;
        let n = writes.log_bursts as usize;
        let waste = data / 16;
        let (best, least) = (vec![room; n], vec![0; n]);
        Lengths { header, longest, room, data, waste, best, least, turn: 0, size: 0, left: 0, next: longest }
    }

    /// Begins, or goes on with a burst.
    pub fn come(&mut self, n_bytes: i64) {
        self.size += n_bytes;
        self.left += n_bytes;
    }

    /// Whether an entry with so many bytes of data left begins in the next block.
    pub fn is_full(&self, room: i64, left: i64) -> bool {
        if room < self.header {
            return true;
        }
        let end = left % self.data;
        room < self.header + left && room < self.waste && (end == 0 || room < self.header + end)
    }

    /// Chooses the next length within a burst: for what is left, and where commits overlap for others beside it.
    pub fn within_burst(&mut self, is_parallel: bool) {
        let mut best = self.plan(self.left).0;
        if is_parallel {
            best = best.max(self.plan(self.left + self.expected()).0);
        }
        self.next = rounded(best + self.header).min(self.longest);
    }

    /// Remembers this burst, and chooses the next length by the last ones.
    pub fn burst_ended(&mut self) {
        self.turn = (self.turn + 1) % self.best.len();
        (self.best[self.turn], self.least[self.turn]) = self.plan(self.size);
        (self.size, self.left) = (0, 0);
        self.next = rounded(self.expected() + self.header).min(self.longest);
    }

    /// The best length of the blocks of a burst, and the least that the first one may have.
    fn plan(&self, size: i64) -> (i64, i64) {
        if size <= self.room {
            return (size, size);
        }
        if size <= MANY_BLOCKS * self.room {
            let n = (size + self.data - 1) / self.data;
            let each = (size + n - 1) / n;
            if each <= self.room - self.waste {
                return (each, (size - (self.room - self.waste) * (n - 1)).max(self.waste));
            }
        }
        (self.room, 0)
    }

    /// What is enough for seven of the last eight bursts, unless half of it is enough for six.
    fn expected(&self) -> i64 {
        let (now_best, now_least) = if self.size > 0 { self.plan(self.size) } else { (self.longest, 0) };
        let best = self.best.iter().fold(now_best, |best, &one| best.min(one));
        let (mut first, mut second) = (now_least.max(best), best);
        for &least in &self.least {
            if least >= first {
                (first, second) = (least, first);
            } else if least > second {
                second = least;
            }
        }
        if first < 2 * second {
            first
        } else {
            second
        }
    }
}

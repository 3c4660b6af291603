//! Logs that Linux md writes stripes to before the members: a journal (rules Y13 to Y15), partial parity (rule Y16); see
//! `diskmodel/layout/md/journal.py`.

use std::collections::VecDeque;

use super::row::Row;
use super::{ChildIo, Layout};
use crate::schema::record;

/// Stripes that md's thread works on before it writes what it has for the journal.
pub const BATCH_STRIPES: i64 = 8;
/// A block of the journal, which lists what follows: its header, what it notes of a page of data, and of the parity of a
/// stripe, beside a checksum for each page of parity, bytes.
pub const BLOCK_BYTES: i64 = 4096;
const HEADER_BYTES: i64 = 32;
const DATA_BYTES: i64 = 20;
const PARITY_BYTES: i64 = 16;
const CHECKSUM_BYTES: i64 = 4;

record! {
    /// Journal of an array, as `diskmodel.layout.md.journal.JournalTables`.
    #[derive(Clone, Debug)]
    pub struct JournalTables {
        /// Time of a flush of its device, where only figures of that are known; 0: it needs none, or is a drive.
        pub flush_ns: i64,
        /// Its room, and the room of stripes that are on the members from which on it is freed, in blocks of 4 KiB.
        pub blocks: i64,
        pub reclaimed: i64,
        /// Sectors of a page of a stripe.
        pub page: i64,
        /// Sector of a member that the superblock is in.
        pub super_first: i64,
    }
}

/// Stripes that are written to the journal together.
#[derive(Clone, Copy)]
pub struct Batch {
    /// First sector of the members that they are on, and the first one behind them.
    pub start: i64,
    pub stop: i64,
    /// What they take in the journal.
    pub n_blocks: i64,
    n_stripes: i64,
    listed: i64,
}

impl Batch {
    fn new(start: i64) -> Self {
        Batch { start, stop: start, n_blocks: 1, n_stripes: 0, listed: HEADER_BYTES }
    }

    /// Whether a stripe of which so many bytes are listed can be in it.
    fn has_room(&self, entry: i64) -> bool {
        self.n_stripes < BATCH_STRIPES && self.listed + entry <= BLOCK_BYTES
    }
}

/// The part of a piece between two sectors of the members.
fn part_within(piece: &ChildIo, (first, end): (i64, i64)) -> Option<ChildIo> {
    let (start, stop) = (piece.lba.max(first), (piece.lba + piece.n).min(end));
    (start < stop).then(|| ChildIo::new(piece.disk(), piece.op(), start, stop - start))
}

/// The parts of pieces between two sectors of the members.
pub fn within(pieces: &[ChildIo], range: (i64, i64)) -> Vec<ChildIo> {
    pieces.iter().filter_map(|piece| part_within(piece, range)).collect()
}

record! {
    /// Log of partial parity on each member, as `diskmodel.layout.md.journal.PartialTables`.
    #[derive(Clone, Debug)]
    pub struct PartialTables {
        /// Sectors of a page of a stripe.
        pub page: i64,
        /// First sector of the log on each member, and the first one behind it.
        pub first: i64,
        pub end: i64,
        /// The most pages of partial parity of a unit, and the most entries.
        pub pages: i64,
        pub entries: i64,
    }
}

/// A page of each disk of a row that a write changes.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Stripe {
    pub number: i64,
    /// First sector of the members that it is on, and the first one behind it.
    pub start: i64,
    pub stop: i64,
    /// Disks whose data is written.
    pub disks: Vec<u32>,
    /// All data is written, whole: nothing of the parity is left of the old.
    pub is_full: bool,
    /// The disk with its parity; none if that is lost.
    pub parity: Option<u32>,
}

impl Layout {
    /// Whether stripes are in a log before they are on the members.
    pub fn logs_stripes(&self) -> bool {
        self.journal.is_some() || self.ppl.is_some()
    }

    /// The stripes of the writes of rows, in order; `lost` is what would be on disks that are lost.
    pub fn stripes(&self, page: i64, pieces: &[ChildIo], lost: &[ChildIo], front: i64) -> Vec<Stripe> {
        let mut places: Vec<(i64, u32, i64)> = Vec::new();
        for piece in pieces.iter().chain(lost) {
            let (first, end) = (piece.lba - self.data_offset, piece.lba + piece.n - self.data_offset);
            for number in first / page..=(end - 1) / page {
                let covered = end.min((number + 1) * page) - first.max(number * page);
                places.push((number, piece.disk(), covered));
            }
        }
        places.sort_unstable();
        let mut found: Vec<Stripe> = Vec::new();
        for places in places.chunk_by(|a, b| a.0 == b.0) {
            let number = places[0].0;
            let row = Row::new(self, number * page / self.strip, front);
            let (parity, planned) = row.parity(self);
            let start = self.data_offset + number * page;
            let of_data = places.chunk_by(|a, b| a.1 == b.1).filter(|of_disk| of_disk[0].1 != planned);
            let covered: Vec<(u32, i64)> =
                of_data.map(|of_disk| (of_disk[0].1, of_disk.iter().map(|place| place.2).sum())).collect();
            if covered.is_empty() {
                // the parity between two parts of a row is written with the stripe before
                if let Some(last) = found.last_mut() {
                    last.stop = start + page;
                }
                continue;
            }
            found.push(Stripe {
                number,
                start,
                stop: start + page,
                is_full: covered.len() as i64 == self.n_data && covered.iter().all(|&(_, n)| n >= page),
                disks: covered.into_iter().map(|(disk, _)| disk).collect(),
                parity,
            });
        }
        found
    }

    /// The batches of the writes of rows, in order; `lost` is what would be on disks that are lost.
    pub fn batches(&self, journal: &JournalTables, pieces: &[ChildIo], lost: &[ChildIo]) -> Vec<Batch> {
        let mut places: Vec<(i64, u32)> = Vec::new();
        for piece in pieces.iter().chain(lost) {
            let (first, end) = (piece.lba - self.data_offset, piece.lba + piece.n - self.data_offset);
            places.extend((first / journal.page..=(end - 1) / journal.page).map(|page| (page, piece.disk())));
        }
        places.sort_unstable();
        places.dedup();
        let mut found: Vec<Batch> = Vec::new();
        for stripe in places.chunk_by(|a, b| a.0 == b.0) {
            let n_pages = stripe.len() as i64;
            let n_data = n_pages - self.n_parity;
            let start = self.data_offset + stripe[0].0 * journal.page;
            // the parity between two parts of a row is written with them, but is of no stripe of theirs
            let is_stripe = n_data > 0;
            let entry = DATA_BYTES * n_data + PARITY_BYTES + CHECKSUM_BYTES * self.n_parity;
            if found.last().is_none_or(|batch| is_stripe && !batch.has_room(entry)) {
                found.push(Batch::new(start));
            }
            if let Some(batch) = found.last_mut() {
                batch.stop = start + journal.page;
                if is_stripe {
                    batch.n_blocks += n_pages;
                    batch.n_stripes += 1;
                    batch.listed += entry;
                }
            }
        }
        found
    }
}

/// A batch in the journal, the oldest first.
struct Unit {
    number: u64,
    start: i64,
    is_done: bool,
}

/// The room of a journal. Blocks are counted from the beginning of the run.
pub struct Room {
    blocks: i64,
    reclaimed: i64,
    /// Where the next unit begins: the block before is that of the empty journal.
    head: i64,
    /// What is before this block is free.
    pub tail: i64,
    /// What is before this block could be freed.
    pub checkpoint: i64,
    units: VecDeque<Unit>,
}

impl Room {
    pub fn new(tables: &JournalTables) -> Self {
        let JournalTables { blocks, reclaimed, .. } = *tables;
        Room { blocks, reclaimed, head: 1, tail: 0, checkpoint: 0, units: VecDeque::new() }
    }

    /// Gives a unit its room; false where there is none.
    pub fn take(&mut self, number: u64, n_blocks: i64) -> bool {
        if self.blocks <= self.head - self.tail + n_blocks {
            return false;
        }
        self.units.push_back(Unit { number, start: self.head, is_done: false });
        self.head += n_blocks;
        true
    }

    /// The stripes of a unit are on the members. Returns whether that brings the checkpoint forward.
    pub fn ended(&mut self, number: u64) -> bool {
        if let Some(unit) = self.units.iter_mut().find(|unit| unit.number == number) {
            unit.is_done = true;
        }
        let checkpoint = self.checkpoint;
        while self.units.front().is_some_and(|unit| unit.is_done) {
            if let Some(unit) = self.units.pop_front() {
                self.checkpoint = unit.start;
            }
        }
        self.checkpoint > checkpoint
    }

    /// Whether room is to be freed, while a unit of `waiting` blocks waits for it (0: none waits).
    pub fn is_due(&self, waiting: i64) -> bool {
        let free = self.checkpoint - self.tail;
        if waiting == 0 {
            return free > self.reclaimed;
        }
        free > 0 && (free >= waiting || self.units.is_empty())
    }
}

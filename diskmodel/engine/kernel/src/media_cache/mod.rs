//! A media cache: what goes to the log, where it is read, what is cleaned (rules G1 to G8); see
//! `diskmodel/drive/media_cache/log.py`.

mod extents;
mod filled;

use std::collections::VecDeque;

use crate::mechanics::{Extent as Step, READ, WRITE};
use crate::schema::record;
use extents::{Extent, ExtentMap};
pub use filled::{filled, runs};

/// Sequential runs of writes that a drive follows at a time.
const MAX_RUNS: usize = 16;

record! {
    /// The media cache of one arm, as a caller hands it over.
    #[derive(Clone, Debug, PartialEq)]
    pub struct MediaCacheTables {
        pub first_sector: i64,
        pub log_sectors: i64,
        /// 0: there are no bands, and any place can be written anew.
        pub band_sectors: i64,
        pub max_extents: i64,
        pub idle_ns: i64,
        /// Length of a sequential run from which on writes go in place.
        pub run_sectors: i64,
        pub batch_extents: i64,
    }
}

/// The media cache of one arm.
#[derive(Clone)]
pub struct MediaLog {
    pub tables: MediaCacheTables,
    n_sectors: i64,
    extents: ExtentMap,
    head: i64,
    turn: u64,
    /// Begin and end of the last runs of writes, the latest last.
    runs: Vec<(i64, i64)>,
    /// Extents that were read back and wait to be written in place, by place: turn and first block (rule G8).
    loaded: VecDeque<(u64, i64)>,
    /// The last accesses that were asked for.
    steps: Vec<Step>,
}

impl MediaLog {
    pub fn new(tables: &MediaCacheTables, n_sectors: i64) -> Self {
        MediaLog {
            tables: tables.clone(),
            n_sectors,
            extents: ExtentMap::default(),
            head: 0,
            turn: 0,
            runs: Vec::new(),
            loaded: VecDeque::new(),
            steps: Vec::new(),
        }
    }

    /// Makes copies cheap.
    pub fn share(&mut self) {
        self.extents.share();
    }

    pub fn is_empty(&self) -> bool {
        self.extents.is_empty()
    }

    /// Sectors of the log that are in use.
    pub fn used(&self) -> i64 {
        self.extents.used
    }

    pub fn is_full(&self) -> bool {
        self.extents.len() as i64 >= self.tables.max_extents || self.extents.used >= self.tables.log_sectors
    }

    /// Whether places have to be written anew at once, because there is no room in the log and they can be (rule G6).
    pub fn is_full_without_bands(&self) -> bool {
        self.tables.band_sectors == 0 && self.is_full()
    }

    /// Notes a write in its run; whether that is long enough to be written in place (rule G2).
    pub fn is_in_run(&mut self, lba: i64, n: i64) -> bool {
        // the longest one: what was written again in it has become a short run with the same end
        let ends_here = self.runs.iter().enumerate().filter(|&(_, &(_, end))| end == lba);
        let begin = match ends_here.min_by_key(|&(_, &(begin, _))| begin) {
            Some((i, &(begin, _))) => {
                self.runs.remove(i);
                begin
            }
            None => lba,
        };
        self.runs.push((begin, lba + n));
        if self.runs.len() > MAX_RUNS {
            self.runs.remove(0);
        }
        let length = lba + n - begin;
        length >= self.tables.run_sectors
    }

    /// Takes a run that goes on when the simulation begins (rule G9).
    pub fn begin_run(&mut self, lba: i64, n: i64) {
        self.runs.push((lba, lba + n));
        if self.runs.len() > MAX_RUNS {
            self.runs.remove(0);
        }
    }

    /// Whether blocks that wait when the simulation begins belong to a run that goes in place (rule G9).
    pub fn is_known_run(&self, lba: i64, n: i64) -> bool {
        let end = lba + n;
        self.runs.iter().any(|&(b, e)| b <= lba && end <= e && end - b >= self.tables.run_sectors)
    }

    /// Writes blocks; the block where the head goes (rules G3 to G5).
    pub fn write(&mut self, lba: i64, n: i64, in_place: bool) -> i64 {
        self.turn += 1;
        self.extents.cut(lba, lba + n);
        if in_place {
            self.begin_bands(lba, lba + n);
            return lba;
        }
        if self.head + n > self.tables.log_sectors {
            self.head = 0;
        }
        let at = self.head;
        self.head += n;
        let mut begin = lba;
        while begin < lba + n {
            let end = (lba + n).min(self.band(begin).1);
            let turn = self.turn;
            self.extents.put(Extent { start: begin, n: end - begin, at: Some(at + begin - lba), turn });
            begin = end;
        }
        self.tables.first_sector + at
    }

    /// Where blocks lie: the contiguous parts in their order, to be read (rule G4).
    pub fn places(&mut self, lba: i64, n: i64) -> &[Step] {
        let MediaLog { extents, steps, tables, .. } = self;
        steps.clear();
        let mut from = lba;
        for extent in extents.within(lba, lba + n) {
            let part = extent.part(extent.start.max(lba), extent.end().min(lba + n));
            let Some(at) = part.at else { continue };
            extend(steps, from, part.start - from);
            extend(steps, tables.first_sector + at, part.n);
            from = part.end();
        }
        extend(steps, from, lba + n - from);
        steps
    }

    /// The accesses of the next step of cleaning; none when nothing is in the cache (rules G7 and G8).
    pub fn clean(&mut self) -> &[Step] {
        self.steps.clear();
        if self.tables.band_sectors > 0 {
            self.clean_band();
        } else {
            self.write_back();
        }
        &self.steps
    }

    fn clean_band(&mut self) {
        let Some(&oldest) = self.extents.oldest(1).first() else { return };
        let (first, end) = self.band(oldest.start);
        let members = self.extents.within(first, end);
        members.iter().for_each(|extent| self.extents.remove(extent));
        let mut logged: Vec<_> = members.iter().filter_map(|extent| extent.at.map(|at| (at, extent.n))).collect();
        logged.sort_unstable();
        let n = end - first;
        let MediaCacheTables { first_sector, log_sectors, .. } = self.tables;
        self.steps.push(Step { op: READ, lba: first, n });
        self.steps.extend(logged.into_iter().map(|(at, n)| Step { op: READ, lba: first_sector + at, n }));
        self.steps.push(Step { op: WRITE, lba: first_sector + log_sectors, n });
        self.steps.push(Step { op: WRITE, lba: first, n });
    }

    fn write_back(&mut self) {
        while let Some((turn, start)) = self.loaded.pop_front() {
            let Some(extent) = self.extents.find(turn, start) else { continue };
            self.extents.remove(&extent);
            self.steps.push(Step { op: WRITE, lba: extent.start, n: extent.n });
            return;
        }
        let mut batch = self.extents.oldest(self.tables.batch_extents as usize);
        for extent in &batch {
            if let Some(at) = extent.at {
                extend(&mut self.steps, self.tables.first_sector + at, extent.n);
            }
        }
        batch.sort_unstable_by_key(|extent| extent.start);
        self.loaded.extend(batch.iter().map(|extent| (extent.turn, extent.start)));
    }

    /// Blocks were written in place; the rest of a band that they do not fill has to be written anew (rule G5).
    fn begin_bands(&mut self, first: i64, end: i64) {
        if self.tables.band_sectors == 0 {
            return;
        }
        let mut begin = first;
        while begin < end {
            let (band_first, band_end) = self.band(begin);
            let stop = end.min(band_end);
            let mut part = Extent { start: begin, n: stop - begin, at: None, turn: self.turn };
            let around = ((begin - 1).max(band_first), (stop + 1).min(band_end));
            let beside = self.extents.within(around.0, around.1);
            for other in beside.into_iter().filter(|other| other.at.is_none()) {
                self.extents.remove(&other);
                let (start, end) = (part.start.min(other.start), part.end().max(other.end()));
                part = Extent { start, n: end - start, at: None, turn: part.turn.min(other.turn) };
            }
            if part.n < band_end - band_first {
                self.extents.put(part);
            }
            begin = stop;
        }
    }

    /// First block of a band, and the one behind its last; without bands all of the arm.
    fn band(&self, lba: i64) -> (i64, i64) {
        let size = self.tables.band_sectors;
        if size == 0 {
            return (0, self.n_sectors);
        }
        let first = lba / size * size;
        (first, (first + size).min(self.n_sectors))
    }
}

/// Adds `n` blocks from `place` on; what continues the last part joins it.
fn extend(steps: &mut Vec<Step>, place: i64, n: i64) {
    if n <= 0 {
        return;
    }
    match steps.last_mut() {
        Some(last) if last.lba + last.n == place => last.n += n,
        _ => steps.push(Step { op: READ, lba: place, n }),
    }
}

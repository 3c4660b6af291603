//! Which pages are in memory, and which of them wait to be written (rules P1 to P7); see `diskmodel/host/pages.py`.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::faults::{planted, Fault};
use crate::lists::Lists;

/// In order of use; in order of the time at which they became dirty; in flight and not dirty again.
const CLEAN: usize = 0;
const DIRTY: usize = 1;
const WRITING: usize = 2;

/// What is known of a dirty page: since when it is dirty, for which row, and whether an older state is in flight.
#[derive(Clone, Copy, Default)]
struct Mark {
    since: i64,
    row: u64,
    is_writing: bool,
}

/// A dirty page that is not in flight, numbered in the order in which pages became so.
struct Waiting {
    number: u64,
    since: i64,
    row: u64,
}

/// Pages that waited when a batch began: those numbered below a number, dirty since some time or longer.
#[derive(Clone, Copy, Default)]
pub struct Snapshot {
    number: u64,
    latest: i64,
}

impl Snapshot {
    fn has(&self, waiting: &Waiting) -> bool {
        (waiting.number < self.number || planted(Fault::LateBatch)) && waiting.since <= self.latest
    }
}

/// Adjacent pages [first, end) to write, and the row that made the first one dirty.
pub struct Run {
    pub row: u64,
    pub first: i64,
    pub end: i64,
}

/// Pages in memory, by number.
pub struct Pages {
    capacity: usize,
    background: usize,
    limit: usize,
    lists: Lists<3, Mark>,
    n_writing: usize,
    waiting: BTreeMap<i64, Waiting>,
    n_waited: u64,
}

impl Pages {
    /// Pages that memory holds, dirty ones above which the flusher writes, and those that writers may make.
    pub fn new(capacity: usize, background: usize, limit: usize) -> Self {
        Pages {
            capacity: capacity + usize::from(planted(Fault::MemoryPages)),
            background: background + usize::from(planted(Fault::BackgroundRatio)),
            limit: limit + usize::from(planted(Fault::DirtyRatio)),
            lists: Lists::default(),
            n_writing: 0,
            waiting: BTreeMap::new(),
            n_waited: 0,
        }
    }

    /// Pages that are in memory when the run begins, dirty ones with the time since when (rule Z6).
    pub fn load(&mut self, clean: impl Iterator<Item = i64>, dirty: impl Iterator<Item = (i64, i64)>) {
        for (page, since) in dirty {
            let since = if planted(Fault::LoadedPages) { 0 } else { since };
            let mark = Mark { since, row: 0, is_writing: false };
            self.lists.put(DIRTY, page);
            self.mark(page, mark);
            self.wait(page, mark);
        }
        for page in clean {
            if self.lists.list_of(page).is_none() {
                self.lists.put(CLEAN, page);
            }
        }
        self.make_room();
    }

    /// Pages that count against the thresholds (rule P5): dirty ones and those in flight, some of them both.
    pub fn n_dirty(&self) -> usize {
        self.lists.len(DIRTY) + self.n_writing
    }

    pub fn has_dirty(&self) -> bool {
        self.lists.len(DIRTY) > 0
    }

    /// Since when the page is dirty that has been so for longest.
    pub fn oldest(&self) -> Option<i64> {
        self.lists.values(DIRTY).next().map(|mark| mark.since)
    }

    pub fn is_above_background(&self) -> bool {
        self.n_dirty() > self.background
    }

    pub fn holds(&self, page: i64) -> bool {
        self.lists.list_of(page).is_some()
    }

    /// Pages were read: the clean ones among them are the most recently used.
    pub fn use_again(&mut self, pages: Range<i64>) {
        if planted(Fault::PageUse) {
            return;
        }
        for page in pages {
            if self.lists.list_of(page) == Some(CLEAN) {
                self.lists.put(CLEAN, page);
            }
        }
    }

    /// Pages have come from the array; the least recently used clean ones make room (rule P2).
    pub fn add(&mut self, pages: Range<i64>) {
        for page in pages {
            if self.lists.list_of(page).is_none_or(|list| list == CLEAN) {
                self.lists.put(CLEAN, page);
            }
        }
        self.make_room();
    }

    fn make_room(&mut self) {
        while self.lists.len(CLEAN) > 0 && self.lists.len(CLEAN) + self.n_dirty() > self.capacity {
            self.lists.drop_oldest(CLEAN);
        }
    }

    /// Pages have been written to: they are dirty from the first time on (rule P3).
    pub fn write(&mut self, pages: Range<i64>, now: i64, row: u64) {
        for page in pages {
            let list = self.lists.list_of(page);
            if list == Some(DIRTY) {
                continue;
            }
            let mark = Mark { since: now, row, is_writing: list == Some(WRITING) };
            self.lists.put(DIRTY, page);
            self.mark(page, mark);
            if !mark.is_writing {
                self.wait(page, mark);
            }
        }
        self.make_room();
    }

    fn mark(&mut self, page: i64, mark: Mark) {
        if let Some(value) = self.lists.value(page) {
            *value = mark;
        }
    }

    fn wait(&mut self, page: i64, mark: Mark) {
        self.waiting.insert(page, Waiting { number: self.n_waited, since: mark.since, row: mark.row });
        self.n_waited += 1;
    }

    /// Whether a writer need not wait (rule P6).
    pub fn may_write(&self, mut pages: Range<i64>) -> bool {
        let n_dirty = self.n_dirty();
        let is_fresh = |page: &i64| self.lists.list_of(*page) != Some(DIRTY);
        n_dirty == 0 || n_dirty <= self.limit && n_dirty + pages.by_ref().filter(is_fresh).count() <= self.limit
    }

    /// Pages that have been dirty since `latest` or longer and are not in flight, and how many they are.
    pub fn waiting_since(&self, latest: i64) -> (Snapshot, usize) {
        let old = self.lists.values(DIRTY).take_while(|mark| mark.since <= latest);
        let n = old.filter(|mark| !mark.is_writing).count();
        (Snapshot { number: self.n_waited, latest }, n)
    }

    /// All dirty pages that are not in flight, and how many they are.
    pub fn all_waiting(&self) -> (Snapshot, usize) {
        (Snapshot { number: self.n_waited, latest: i64::MAX }, self.waiting.len())
    }

    /// The next pages of a snapshot among `range`, adjacent and at most `longest` (rule P4).
    pub fn next_run(&self, snapshot: &Snapshot, range: Range<i64>, longest: i64) -> Option<Run> {
        let mut pages = self.waiting.range(range).skip_while(|(_, waiting)| !snapshot.has(waiting));
        let (&first, Waiting { row, .. }) = pages.next()?;
        let mut end = first + 1;
        for (&page, waiting) in pages {
            if page > end || end - first == longest || !snapshot.has(waiting) {
                break;
            }
            end = page + 1;
        }
        Some(Run { row: *row, first, end })
    }

    /// Pages go to the array.
    pub fn start(&mut self, pages: Range<i64>) {
        for page in pages {
            self.waiting.remove(&page);
            self.lists.put(WRITING, page);
            self.n_writing += 1;
        }
    }

    /// Pages are on the array.
    pub fn finish(&mut self, pages: Range<i64>) {
        for page in pages {
            self.n_writing -= 1;
            match self.lists.value(page) {
                Some(mark) if mark.is_writing => {
                    mark.is_writing = false;
                    let mark = *mark;
                    self.wait(page, mark);
                }
                _ => self.lists.put(CLEAN, page),
            }
        }
        self.make_room();
    }
}

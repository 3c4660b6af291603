//! Which pages are in memory, and which of them wait to be written (rules P1 to P7); see `diskmodel/host/pages.py`.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::lists::Lists;
use crate::loaded::Loaded;
use crate::rule::refused;

/// Clean pages that were loaded last.
static LOADED: Loaded<Vec<i64>, Lists<3, Mark>> = Loaded::new();

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
    /// Dirty pages that are not in flight, and the rows that made them dirty.
    waiting: BTreeMap<i64, u64>,
    /// When the first page became dirty after none was (rule P5).
    dirty_since: i64,
}

impl Drop for Pages {
    fn drop(&mut self) {
        LOADED.give_back(self.lists.n_blocks(), || std::mem::take(&mut self.lists));
    }
}

impl Pages {
    /// Pages that memory holds, dirty ones above which the flusher writes, and those that writers may make.
    pub fn new(capacity: usize, background: usize, limit: usize) -> Self {
        Pages {
            capacity,
            background,
            limit,
            lists: Lists::default(),
            n_writing: 0,
            waiting: BTreeMap::new(),
            dirty_since: 0,
        }
    }

    /// Pages that are in memory when the run begins, and since when some are dirty (rule Z6): those that are clean and
    /// dirty are dirty. A page that is given twice is refused.
    pub fn load(&mut self, clean: &[i64], dirty: &[i64], dirty_since: i64) -> Result<(), String> {
        self.lists = LOADED.get(clean.len(), |other| other == clean, || clean.into(), || loaded(clean))?;
        for &page in dirty {
            if self.lists.list_of(page) == Some(DIRTY) {
                return Err(refused("start.pages_dirty", page, "is given twice"));
            }
            self.lists.put(DIRTY, page);
        }
        self.waiting = dirty.iter().map(|&page| (page, 0)).collect();
        self.dirty_since = dirty_since;
        self.make_room();
        Ok(())
    }

    /// Pages that count against the thresholds (rule P5): dirty ones and those in flight, some of them both.
    pub fn n_dirty(&self) -> usize {
        self.lists.len(DIRTY) + self.n_writing
    }

    pub fn has_dirty(&self) -> bool {
        self.lists.len(DIRTY) > 0
    }

    /// When the first page became dirty after none was; meaningless while none is.
    pub fn dirty_since(&self) -> i64 {
        self.dirty_since
    }

    /// Since when the page is dirty that has been so for longest.
    pub fn oldest(&self) -> Option<i64> {
        self.lists.oldest(DIRTY).map(|mark| mark.since)
    }

    pub fn is_above_background(&self) -> bool {
        self.n_dirty() > self.background
    }

    pub fn holds(&self, page: i64) -> bool {
        self.lists.list_of(page).is_some()
    }

    /// Pages were read: the clean ones among them are the most recently used.
    pub fn use_again(&mut self, pages: Range<i64>) {
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
        if !self.has_dirty() {
            self.dirty_since = now;
        }
        for page in pages {
            let list = self.lists.list_of(page);
            if list == Some(DIRTY) {
                continue;
            }
            let mark = Mark { since: now, row, is_writing: list == Some(WRITING) };
            self.lists.put(DIRTY, page);
            self.mark(page, mark);
            if !mark.is_writing {
                self.waiting.insert(page, row);
            }
        }
        self.make_room();
    }

    fn mark(&mut self, page: i64, mark: Mark) {
        if let Some(value) = self.lists.value(page) {
            *value = mark;
        }
    }

    /// Whether a writer need not wait (rule P6).
    pub fn may_write(&self, mut pages: Range<i64>) -> bool {
        let n_dirty = self.n_dirty();
        let is_fresh = |page: &i64| self.lists.list_of(*page) != Some(DIRTY);
        n_dirty == 0 || n_dirty <= self.limit && n_dirty + pages.by_ref().filter(is_fresh).count() <= self.limit
    }

    /// The next pages to write from `position` on, or else from the first one: adjacent, at most `longest` (rule P4).
    pub fn next_run(&self, position: i64, longest: i64) -> Option<Run> {
        let (&first, &row) = self.waiting.range(position..).next().or_else(|| self.waiting.first_key_value())?;
        let mut end = first + 1;
        for (&page, _) in self.waiting.range(end..first + longest) {
            if page > end {
                break;
            }
            end = page + 1;
        }
        Some(Run { row, first, end })
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
                    let row = mark.row;
                    self.waiting.insert(page, row);
                }
                _ => self.lists.put(CLEAN, page),
            }
        }
        self.make_room();
    }
}

/// Memory with these pages in order of use. Most are the same in all runs of a search; dirty ones are fewer, and differ.
fn loaded(clean: &[i64]) -> Result<Lists<3, Mark>, String> {
    let mut lists = Lists::default();
    lists.reserve(clean.len());
    for &page in clean {
        if lists.list_of(page).is_some() {
            return Err(refused("start.pages_clean", page, "is given twice"));
        }
        lists.put_new(CLEAN, page);
    }
    Ok(lists)
}

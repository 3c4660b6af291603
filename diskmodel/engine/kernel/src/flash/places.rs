//! Where the units of a drive are, and which pages are in its buffer (rules F1, F2 and F8).

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

/// Units written in this run, by the number of their page in order of programming.
#[derive(Clone, Debug, Default)]
pub struct Places {
    page_of: FxHashMap<i64, i64>,
    units_per_page: i64,
}

impl Places {
    pub fn new(units_per_page: i64) -> Self {
        Places { page_of: FxHashMap::default(), units_per_page }
    }

    /// The page that holds a unit: its number, or -1 - p for page p as laid out at first.
    pub fn page_of(&self, unit: i64) -> i64 {
        if self.page_of.is_empty() {
            return -1 - unit / self.units_per_page;
        }
        self.page_of.get(&unit).copied().unwrap_or_else(|| -1 - unit / self.units_per_page)
    }

    pub fn put(&mut self, unit: i64, page: i64) {
        self.page_of.insert(unit, page);
    }
}

/// Pages in the write buffer: a window of numbers, because they enter in order and leave nearly so.
#[derive(Clone, Debug, Default)]
pub struct Resident {
    first: i64,
    held: VecDeque<bool>,
}

impl Resident {
    pub fn has(&self, page: i64) -> bool {
        page >= self.first && self.held.get((page - self.first) as usize).is_some_and(|&held| held)
    }

    /// The newest page, once or again.
    pub fn add(&mut self, page: i64) {
        if self.held.is_empty() {
            self.first = page;
        }
        while self.first + (self.held.len() as i64) <= page {
            self.held.push_back(false);
        }
        self.held[(page - self.first) as usize] = true;
    }

    pub fn discard(&mut self, page: i64) {
        if page < self.first {
            return;
        }
        if let Some(held) = self.held.get_mut((page - self.first) as usize) {
            *held = false;
        }
        while self.held.front() == Some(&false) {
            self.held.pop_front();
            self.first += 1;
        }
    }
}

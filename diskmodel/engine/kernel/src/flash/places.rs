//! Where the units of a drive are, and which pages are in its buffer (rules F1, F2 and F8).

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

/// Where the units are that are not written in this run: as laid out in order, or where earlier writes put them.
#[derive(Clone, Copy, Debug, Default)]
pub struct FirstLayout {
    /// Units that were written together; 0: all of them, in order.
    pub piece_units: i64,
    pub n_pieces: i64,
    /// Units before the first one on its page.
    pub shift: i64,
}

impl FirstLayout {
    fn slot_of(&self, unit: i64) -> i64 {
        if self.piece_units == 0 {
            return unit + self.shift;
        }
        let (piece, within) = (unit / self.piece_units, unit % self.piece_units);
        let place = scrambled(piece as u64, self.n_pieces);
        place * self.piece_units + within + self.shift
    }
}

/// A number below `bound` that looks random (the last step of SplitMix64, G. Steele et al., OOPSLA 2014).
fn scrambled(number: u64, bound: i64) -> i64 {
    let mut x = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((x ^ (x >> 31)) % bound as u64) as i64
}

/// Units written in this run, by the number of their page in order of programming.
#[derive(Clone, Debug, Default)]
pub struct Places {
    page_of: FxHashMap<i64, i64>,
    units_per_page: i64,
    first: FirstLayout,
}

impl Places {
    pub fn new(units_per_page: i64, first: FirstLayout) -> Self {
        Places { page_of: FxHashMap::default(), units_per_page, first }
    }

    /// The page that holds a unit: its number, or -1 - p for page p as laid out at first.
    pub fn page_of(&self, unit: i64) -> i64 {
        let written = if self.page_of.is_empty() { None } else { self.page_of.get(&unit).copied() };
        written.unwrap_or_else(|| -1 - self.first.slot_of(unit) / self.units_per_page)
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

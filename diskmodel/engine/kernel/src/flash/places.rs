//! Where the units of a drive are, and which pages are in its buffer (rules F1, F2 and F8).

use std::collections::{BTreeMap, VecDeque};

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

/// Pages of units that were written one after another from which on they are kept as a row. At a tenth, random writes
/// of 1 MiB are looked up in a tree; at ten times, those of a rebuild between requests take as much memory as single ones.
const LONG: i64 = 64;

/// Units that were written one after another, in order, onto pages that follow each other.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    first: i64,
    n: i64,
    page: i64,
    /// Units on the first page.
    on_first: i64,
}

impl Row {
    fn end(&self) -> i64 {
        self.first + self.n
    }

    fn has(&self, unit: i64) -> bool {
        self.first <= unit && unit < self.end()
    }

    fn page_at(&self, unit: i64, units_per_page: i64) -> i64 {
        let after = unit - self.first - self.on_first;
        if after < 0 {
            self.page
        } else {
            self.page + 1 + after / units_per_page
        }
    }

    /// The units from one of them on.
    fn since(&self, unit: i64, units_per_page: i64) -> Row {
        let after = unit - self.first - self.on_first;
        let on_first = if after < 0 { -after } else { units_per_page - after % units_per_page };
        Row { first: unit, n: self.end() - unit, page: self.page_at(unit, units_per_page), on_first }
    }
}

/// Units written in this run, by the number of their page in order of programming.
#[derive(Clone, Debug, Default)]
pub struct Places {
    page_of: FxHashMap<i64, i64>,
    /// Long rows, by their first unit; none has a unit of another one.
    rows: BTreeMap<i64, Row>,
    /// What was written last, which may go on.
    last: Row,
    units_per_page: i64,
    first: FirstLayout,
}

impl Places {
    pub fn new(units_per_page: i64, first: FirstLayout) -> Self {
        Places { units_per_page, first, ..Places::default() }
    }

    /// The page that holds a unit: its number, or -1 - p for page p as laid out at first.
    pub fn page_of(&self, unit: i64) -> i64 {
        if self.last.has(unit) {
            return self.last.page_at(unit, self.units_per_page);
        }
        let single = if self.page_of.is_empty() { None } else { self.page_of.get(&unit).copied() };
        let in_row = if self.rows.is_empty() { None } else { self.page_in_row(unit) };
        // what was written later is on a later page
        single.max(in_row).unwrap_or_else(|| -1 - self.first.slot_of(unit) / self.units_per_page)
    }

    fn page_in_row(&self, unit: i64) -> Option<i64> {
        let (_, row) = self.rows.range(..=unit).next_back()?;
        row.has(unit).then(|| row.page_at(unit, self.units_per_page))
    }

    /// Puts some units that follow each other on one page, the last one or a new one.
    pub fn put(&mut self, unit: i64, count: i64, page: i64) {
        let last = &mut self.last;
        if unit == last.end() {
            let is_on_first = last.n == last.on_first && page == last.page;
            if is_on_first || page == last.page_at(unit, self.units_per_page) {
                last.n += count;
                last.on_first += if is_on_first { count } else { 0 };
                return;
            }
        }
        self.keep_last();
        self.last = Row { first: unit, n: count, page, on_first: count };
    }

    fn keep_last(&mut self) {
        let last = self.last;
        if last.n < LONG * self.units_per_page {
            for unit in last.first..last.end() {
                self.page_of.insert(unit, last.page_at(unit, self.units_per_page));
            }
            return;
        }
        // what older rows had before and behind it is left of them
        let before =
            self.rows.range(..last.first).next_back().map(|(_, row)| *row).filter(|row| row.end() > last.first);
        let over: Vec<Row> =
            before.into_iter().chain(self.rows.range(last.first..last.end()).map(|(_, &row)| row)).collect();
        for row in over {
            self.rows.remove(&row.first);
            if row.first < last.first {
                self.rows.insert(row.first, Row { n: last.first - row.first, ..row });
            }
            if row.end() > last.end() {
                self.rows.insert(last.end(), row.since(last.end(), self.units_per_page));
            }
        }
        self.rows.insert(last.first, last);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_single_units_are_found_where_they_were_written_last() {
        let per_page = 4;
        let mut places = Places::new(per_page, FirstLayout::default());
        let mut plain = FxHashMap::default();
        let (mut page, mut on_page) = (0, 0);
        for turn in 0..400 {
            let random = scrambled(turn, 1 << 40);
            let (mut unit, n) = (random % 3_000, if random % 3 == 0 { 1 + random % 1_500 } else { 1 + random % 9 });
            let end = unit + n;
            while unit < end {
                let count = (end - unit).min(per_page - on_page);
                places.put(unit, count, page);
                plain.extend((unit..unit + count).map(|one| (one, page)));
                (unit, on_page) = (unit + count, on_page + count);
                // some pages are closed before they are full, as a flush does
                if on_page == per_page || scrambled(unit as u64, 97) == 0 {
                    (page, on_page) = (page + 1, 0);
                }
            }
            for unit in 0..5_000 {
                let first = -1 - unit / per_page;
                assert_eq!(
                    places.page_of(unit),
                    plain.get(&unit).copied().unwrap_or(first),
                    "unit {unit}, turn {turn}"
                );
            }
        }
        assert!(places.rows.len() > 3);
    }
}

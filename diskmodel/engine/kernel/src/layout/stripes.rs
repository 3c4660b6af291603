//! Linux md's stripe cache: what a parity array still knows of the rows that it wrote last (rule L15); see
//! `diskmodel/layout/md/stripes.py`.

use std::collections::VecDeque;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::row::Row;
use super::{ChildIo, Layout, WritePolicy, READ, WRITE};

/// Pages of one row that a request writes alike.
pub struct Stretch {
    pub pages: Range<i64>,
    /// Strips that are written, and those that were known, as bits.
    written: u64,
    known: u64,
    /// Who reads or writes them now.
    pub busy: Option<u32>,
    pub reads: Vec<ChildIo>,
    pub writes: Vec<ChildIo>,
}

/// Sectors [start, end) of data strip `strip`.
#[derive(Clone, Copy)]
struct Part {
    strip: usize,
    start: i64,
    end: i64,
}

/// The pages of rows that were written last, and which strips of each are in memory.
pub struct StripeCache {
    pages_per_strip: i64,
    /// Strips of each page that are known, as bits, and when it was written.
    known: FxHashMap<i64, (u64, u64)>,
    /// Pages in the order in which they were written, old entries of those that have been written again among them.
    order: VecDeque<(i64, u64)>,
    n_written: u64,
    busy: FxHashMap<i64, u32>,
}

impl StripeCache {
    /// None without a stripe cache, and where a disk is lost: its blocks are computed anew for each request.
    pub fn of(layout: &Layout) -> Option<Self> {
        (layout.stripe_cache > 0 && layout.failed.is_empty()).then(|| StripeCache {
            pages_per_strip: layout.strip / layout.stripe_page,
            known: FxHashMap::default(),
            order: VecDeque::new(),
            n_written: 0,
            busy: FxHashMap::default(),
        })
    }

    /// What a write of `n` sectors reads and writes, in md's order; from now on all of it is known.
    pub fn write(&mut self, layout: &Layout, sector: i64, n: i64) -> Vec<Stretch> {
        let mut rows: Vec<(i64, Vec<Part>)> = Vec::new();
        let (mut chunk, mut start) = layout.by.strip.split(sector);
        let mut left = n;
        while left > 0 {
            let take = left.min(layout.strip - start);
            let (row, strip) = layout.by.data.split(chunk);
            if rows.last().is_none_or(|last| last.0 != row) {
                rows.push((row, Vec::new()));
            }
            let part = Part { strip: strip as usize, start, end: start + take };
            rows.last_mut().into_iter().for_each(|last| last.1.push(part));
            (chunk, start, left) = (chunk + 1, 0, left - take);
        }
        if rows.len() > 1 && begins_with_the_second(layout, &rows[0]) {
            rows.rotate_left(1);
        }
        let mut found = Vec::new();
        for (number, parts) in &rows {
            self.row(layout, *number, parts, &mut found);
        }
        self.forget(layout.stripe_cache as usize);
        found
    }

    /// From now on `who` reads what it needs to write these pages, or writes them.
    pub fn begin(&mut self, pages: Range<i64>, who: u32) {
        self.busy.extend(pages.map(|page| (page, who)));
    }

    /// `who` has written these pages.
    pub fn end(&mut self, pages: Range<i64>, who: u32) {
        for page in pages {
            if self.busy.get(&page) == Some(&who) {
                self.busy.remove(&page);
            }
        }
    }

    fn row(&mut self, layout: &Layout, number: i64, parts: &[Part], found: &mut Vec<Stretch>) {
        let page_sectors = layout.stripe_page;
        let low = parts.iter().map(|part| part.start).min().unwrap_or(0);
        let high = parts.iter().map(|part| part.end).max().unwrap_or(0);
        let (from, first) = (found.len(), number * self.pages_per_strip);
        for page in low / page_sectors..(high + page_sectors - 1) / page_sectors {
            let (start, end) = (page * page_sectors, (page + 1) * page_sectors);
            let touched = parts.iter().filter(|part| part.start < end && start < part.end);
            let written = touched.fold(0, |bits, part| bits | 1 << part.strip);
            if written == 0 {
                continue;
            }
            let key = first + page;
            let known = self.touch(key);
            let busy = self.busy.get(&key).copied();
            match found[from..].last_mut() {
                Some(last) if (last.pages.end, last.written, last.known, last.busy) == (key, written, known, busy) => {
                    last.pages.end = key + 1;
                }
                _ => found.push(Stretch {
                    pages: key..key + 1,
                    written,
                    known,
                    busy,
                    reads: Vec::new(),
                    writes: Vec::new(),
                }),
            }
        }
        let row = Row::new(layout, number, 0);
        for stretch in &mut found[from..] {
            let start = low.max((stretch.pages.start - first) * page_sectors);
            let end = high.min((stretch.pages.end - first) * page_sectors);
            self.plan(layout, &row, parts, stretch, (start, end));
        }
    }

    /// What a stretch between these sectors of its strips reads and writes (rule L8, less what is known).
    fn plan(&mut self, layout: &Layout, row: &Row, parts: &[Part], stretch: &mut Stretch, (start, end): (i64, i64)) {
        let own = || {
            let written = parts.iter().filter(|part| stretch.written >> part.strip & 1 > 0);
            written.map(|part| Part { strip: part.strip, start: part.start.max(start), end: part.end.min(end) })
        };
        let whole = own().filter(|part| (part.start, part.end) == (start, end));
        let whole = whole.fold(0_u64, |bits, part| bits | 1 << part.strip);
        let below = |n: usize| if n < 64 { (1_u64 << n) - 1 } else { u64::MAX };
        let data = below(row.n_data());
        let parity = below(row.n_strips()) & !data;
        let modify = (stretch.written | parity) & !stretch.known;
        let reconstruct = data & !whole & !stretch.known;
        let prefers_modify = layout.write_policy == WritePolicy::ReadModifyWrite
            || layout.write_policy == WritePolicy::Fewest && modify.count_ones() < reconstruct.count_ones();
        let needed = if prefers_modify { modify } else { reconstruct };
        for page in stretch.pages.clone() {
            if let Some((known, _)) = self.known.get_mut(&page) {
                *known |= stretch.written | parity | needed;
            }
        }
        let bits = |bits: u64| (0..row.n_strips()).filter(move |strip| bits >> strip & 1 > 0);
        let reads = bits(needed).map(|strip| row.piece(layout, strip, READ, (start, end))).collect();
        let mut writes: Vec<_> = own().map(|p| row.piece(layout, p.strip, WRITE, (p.start, p.end))).collect();
        writes.extend(bits(parity).map(|strip| row.piece(layout, strip, WRITE, (start, end))));
        (stretch.reads, stretch.writes) = (reads, writes);
    }

    /// What is known of a page that is written now.
    fn touch(&mut self, page: i64) -> u64 {
        self.n_written += 1;
        self.order.push_back((page, self.n_written));
        let entry = self.known.entry(page).or_insert((0, 0));
        entry.1 = self.n_written;
        entry.0
    }

    /// Forgets the pages that were written first, until `most` are left.
    fn forget(&mut self, most: usize) {
        let known = &mut self.known;
        while known.len() > most {
            let Some((page, when)) = self.order.pop_front() else { return };
            if known.get(&page).is_some_and(|entry| entry.1 == when) {
                known.remove(&page);
            }
        }
        if self.order.len() > 8 * most + 1024 {
            self.order.retain(|(page, when)| known.get(page).is_some_and(|entry| entry.1 == *when));
        }
    }
}

/// Whether md takes the row of the first strip last: the next disk by number is another row's.
fn begins_with_the_second(layout: &Layout, (number, parts): &(i64, Vec<Part>)) -> bool {
    let row = Row::new(layout, *number, 0);
    let disk = |strip: usize| row.piece(layout, strip, WRITE, (0, 0)).disk();
    let first = parts[0].strip;
    let mut next = disk(first) + 1;
    while (row.n_data()..row.n_strips()).any(|strip| disk(strip) == next) {
        next += 1;
    }
    first + 1 == row.n_data() && next < layout.n_disks
}

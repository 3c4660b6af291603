//! The seam between a workload and the simulation: rows come from it, completions go to it.
//!
//! Three things stand behind it: columns that Python holds, a stream of blocks that is folded into histograms, and a
//! server that hands over one request at a time.

mod feed;
mod rules;

use crate::schema::record;
use std::hint::black_box;

pub use feed::Feed;
pub use rules::{check_block, check_columns, check_rules, Limits, Rows};

/// Where the time of a request went, in the order of their columns; `diskmodel.records.PARTS` has the same.
pub const PARTS: [&str; N_PARTS] =
    ["link", "cache", "queue", "overhead", "seek", "rotation", "transfer", "parity", "sync"];
pub const N_PARTS: usize = 9;

record! {
    /// How the rows of one stream come in time (rules W2 and W3).
    #[derive(Clone, Copy, Debug, Default)]
    pub struct Rule as "StreamRule" {
        /// 0: an open stream.
        pub n_clients: i64,
        /// Least time between two issues of the same client.
        pub pace_ns: i64,
        /// What follows a write: nothing, `FLUSH_AFTER`, `PASS_THROUGH`, or `PASS_ONLY` (rules Y1 and Y7).
        pub sync: i64,
        /// It follows every so many writes of a client; 0 as 1.
        pub sync_every: i64,
        /// Place of the log to which the rows are records, its length, and the unit in which it is written (rule Y6); a
        /// length of 0: they are requests.
        pub log_first_byte: i64,
        pub log_bytes: i64,
        pub log_block_bytes: i64,
        /// How long a batch of records waits for others.
        pub log_delay_ns: i64,
        /// Place and length of the journal that a sync commits (rule Y7); a length of 0: it does not.
        pub journal_first_byte: i64,
        pub journal_bytes: i64,
        /// What a commit writes: first, for each sync after the first that it serves, and last (rule Y10).
        pub journal_body_bytes: i64,
        pub journal_more_bytes: i64,
        pub journal_block_bytes: i64,
        /// Resolution of a file's times, where only a sync that finds them changed commits (rule Y8); 0: each does.
        pub journal_tick_ns: i64,
        /// 1 where its writes go to a file through the page cache (rule Q10).
        pub is_of_file: i64,
    }
}

impl Rule {
    /// Of a stream whose rows come at their times.
    pub const OPEN: Rule = Rule {
        n_clients: 0,
        pace_ns: 0,
        sync: 0,
        sync_every: 1,
        log_first_byte: 0,
        log_bytes: 0,
        log_block_bytes: 1,
        log_delay_ns: 0,
        journal_first_byte: 0,
        journal_bytes: 0,
        journal_body_bytes: 0,
        journal_more_bytes: 0,
        journal_block_bytes: 0,
        journal_tick_ns: 0,
        is_of_file: 0,
    };
}

/// A flush after the write.
pub const FLUSH_AFTER: i64 = 1;
/// A write that passes the drive's buffer, then a flush.
pub const PASS_THROUGH: i64 = 2;
/// A write that passes the drive's buffer where it can, else a flush.
pub const PASS_ONLY: i64 = 3;

/// A row that a stream has taken and that is to be issued.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// By what the traffic knows the row until it is done.
    pub id: u32,
    /// Number of the row in the whole workload; breaks ties (rule T3).
    pub row: u64,
    /// Open streams: time of issue; closed ones: think time.
    pub when: i64,
}

/// A row at its issue.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request {
    pub row: u64,
    pub stream: u32,
    pub op: u8,
    pub offset: i64,
    pub length: i64,
    pub cache_draw: f64,
}

/// What became of a row.
#[derive(Clone, Copy, Debug)]
pub struct Completion {
    pub id: u32,
    pub stream: u32,
    pub op: u8,
    pub is_hit: bool,
    pub issue: i64,
    pub done: i64,
    pub parts: [i64; N_PARTS],
}

pub trait Traffic {
    fn rules(&self) -> &[Rule];
    /// The next row of a stream, or none when it has come to its end.
    fn take(&mut self, stream: usize) -> Option<Taken>;
    /// What a row that was taken asks for, at its issue.
    fn request(&mut self, id: u32, now: i64) -> Request;
    fn done(&mut self, completion: &Completion);
    /// Whether every row is done.
    fn is_over(&self) -> bool;
}

/// A column, borrowed, or one value for all rows.
pub enum Column<'a, T> {
    Each(&'a [T]),
    All(T, usize),
}

impl<T: Copy> Column<'_, T> {
    pub fn len(&self) -> usize {
        match self {
            Column::Each(values) => values.len(),
            Column::All(_, n) => *n,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    pub fn at(&self, row: usize) -> T {
        match self {
            Column::Each(values) => values[row],
            Column::All(value, _) => *value,
        }
    }

    /// The first row whose value is so.
    pub fn position(&self, is_so: impl Fn(T) -> bool) -> Option<usize> {
        match self {
            // whether there is any is found without a branch for each row
            Column::Each(values) if !values.iter().fold(false, |any, &value| any | is_so(value)) => None,
            Column::Each(values) => values.iter().position(|&value| is_so(value)),
            Column::All(value, n) => (*n > 0 && is_so(*value)).then_some(0),
        }
    }
}

/// Columns of the requests.
pub struct Requests<'a> {
    pub when: Column<'a, i64>,
    pub op: Column<'a, u8>,
    pub offset: Column<'a, i64>,
    pub length: Column<'a, i64>,
    pub stream: Column<'a, i32>,
    pub cache_draw: Column<'a, f64>,
    pub rules: Vec<Rule>,
}

/// Columns of the completions, written in place.
pub struct Completions<'a> {
    /// None: every row is issued at its time, and is checked to be.
    pub issue: Option<&'a mut [i64]>,
    pub done: &'a mut [i64],
    pub parts: PartColumns<'a>,
    pub is_hit: &'a mut [bool],
}

impl Completions<'_> {
    /// Looks at the places of a row that will complete, so that they come from memory ahead of time: rows are issued in
    /// order, but complete in another, and a store that waits for memory holds up those behind it.
    #[inline(always)]
    fn come_nearer(&self, row: usize) {
        black_box(self.done[row]);
        match &self.parts {
            PartColumns::Wide(values) => black_box(values[row * N_PARTS]),
            PartColumns::Narrow(values, _) => i64::from(black_box(values[row * N_PARTS])),
        };
    }
}

/// Where the time of each row went, `N_PARTS` values a row.
pub enum PartColumns<'a> {
    Wide(&'a mut [i64]),
    /// Half as large; values that do not fit are put aside with their places.
    Narrow(&'a mut [i32], Vec<(usize, i64)>),
}

impl PartColumns<'_> {
    pub fn len(&self) -> usize {
        match self {
            PartColumns::Wide(values) => values.len(),
            PartColumns::Narrow(values, _) => values.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline(always)]
    fn put(&mut self, row: usize, parts: &[i64; N_PARTS]) {
        let places = row * N_PARTS..(row + 1) * N_PARTS;
        match self {
            PartColumns::Wide(values) => values[places].copy_from_slice(parts),
            PartColumns::Narrow(values, aside) => {
                for (place, &part) in places.zip(parts) {
                    values[place] = part as i32;
                    if i64::from(part as i32) != part {
                        aside.push((place, part));
                    }
                }
            }
        }
    }
}

/// A whole workload in columns, and where its completions go.
pub struct Columns<'a> {
    requests: Requests<'a>,
    out: Completions<'a>,
    /// Rows of each stream; empty where there is only one stream, whose rows are all of them.
    rows: Vec<Vec<u32>>,
    next: Vec<usize>,
    left: usize,
    /// Rows that were not issued at their time, where that is not written down.
    n_late: usize,
}

impl<'a> Columns<'a> {
    pub fn new(requests: Requests<'a>, out: Completions<'a>) -> Self {
        let n_streams = requests.rules.len();
        let mut rows: Vec<Vec<u32>> = Vec::new();
        if n_streams > 1 {
            let mut sizes = vec![0; n_streams];
            let n = requests.stream.len();
            (0..n).for_each(|row| sizes[requests.stream.at(row) as usize] += 1);
            rows = sizes.into_iter().map(Vec::with_capacity).collect();
            (0..n).for_each(|row| rows[requests.stream.at(row) as usize].push(row as u32));
        }
        Columns { n_late: 0, left: requests.when.len(), next: vec![0; n_streams], rows, requests, out }
    }

    /// Parts of a time that did not fit their column, with their places.
    pub fn put_aside(self) -> Result<Vec<(usize, i64)>, &'static str> {
        if self.n_late > 0 {
            return Err("a request of an open stream was not issued in time");
        }
        Ok(match self.out.parts {
            PartColumns::Wide(_) => Vec::new(),
            PartColumns::Narrow(_, aside) => aside,
        })
    }
}

impl Traffic for Columns<'_> {
    fn rules(&self) -> &[Rule] {
        &self.requests.rules
    }

    #[inline(always)]
    fn take(&mut self, stream: usize) -> Option<Taken> {
        let at = self.next[stream];
        let row = match self.rows.get(stream) {
            Some(rows) => *rows.get(at)? as usize,
            None => at,
        };
        if row >= self.requests.when.len() {
            return None;
        }
        let when = self.requests.when.at(row);
        self.next[stream] = at + 1;
        Some(Taken { id: row as u32, row: row as u64, when })
    }

    #[inline(always)]
    fn request(&mut self, id: u32, _now: i64) -> Request {
        let i = id as usize;
        self.out.come_nearer(i);
        Request {
            row: u64::from(id),
            stream: self.requests.stream.at(i) as u32,
            op: self.requests.op.at(i),
            offset: self.requests.offset.at(i),
            length: self.requests.length.at(i),
            cache_draw: self.requests.cache_draw.at(i),
        }
    }

    #[inline(always)]
    fn done(&mut self, completion: &Completion) {
        let i = completion.id as usize;
        match &mut self.out.issue {
            Some(issue) => issue[i] = completion.issue,
            None => self.n_late += usize::from(completion.issue != self.requests.when.at(i)),
        }
        self.out.done[i] = completion.done;
        self.out.is_hit[i] = completion.is_hit;
        self.out.parts.put(i, &completion.parts);
        self.left -= 1;
    }

    fn is_over(&self) -> bool {
        self.left == 0
    }
}

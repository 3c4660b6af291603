//! Who reads a pool in order, and how far OpenZFS reads ahead of them (rule X18); see `diskmodel/layout/pools/streams.py`.

use std::ops::Range;

use crate::schema::record;

record! {
    /// How a pool reads ahead, as `diskmodel.layout.pools.streams.ReadTables`.
    #[derive(Clone, Debug)]
    pub struct ReadTables {
        pub streams: i64,
        pub reap_ns: i64,
        /// Records that are read ahead.
        pub least: i64,
        pub most: i64,
        /// Records that memory holds.
        pub held: i64,
        /// Reads ahead that a drive is given at once.
        pub active: i64,
    }
}

/// A reader in order: the record that it reads next, and what is read ahead of it.
struct Stream {
    id: u64,
    next: i64,
    used: i64,
    distance: i64,
    /// What is asked for next.
    begin: i64,
    end: i64,
    /// It came to a record that was still being read.
    is_early: bool,
}

/// The streams of a pool.
pub struct Streams {
    tables: ReadTables,
    n_records: i64,
    streams: Vec<Stream>,
    n_begun: u64,
}

impl Streams {
    pub fn new(tables: &ReadTables, n_records: i64) -> Self {
        Streams { tables: tables.clone(), n_records, streams: Vec::new(), n_begun: 0 }
    }

    /// The stream that a read of records [first, end) continues, and whether it comes to others; none where it may begin
    /// one.
    pub fn read(&mut self, first: i64, end: i64, now: i64) -> Option<(u64, bool)> {
        let Some(stream) = self.streams.iter_mut().find(|s| first == s.next || first == s.next - 1) else {
            self.begin(end, now);
            return None;
        };
        stream.used = now;
        let n = end - stream.next;
        if n <= 0 {
            return Some((stream.id, false));
        }
        stream.next = end;
        if stream.distance < n {
            stream.distance = n;
        } else if stream.distance < self.tables.least {
            stream.distance *= 2;
        } else if stream.is_early {
            stream.distance += stream.distance / 8;
        }
        stream.distance = stream.distance.min(self.tables.most);
        stream.is_early = false;
        stream.begin = stream.begin.max(end);
        stream.end = stream.end.max(end + stream.distance).min(self.n_records);
        Some((stream.id, true))
    }

    /// Follows a new reader, instead of one that has not been seen for a while.
    fn begin(&mut self, end: i64, now: i64) {
        if self.streams.len() as i64 == self.tables.streams {
            let oldest = self.streams.iter().enumerate().min_by_key(|(_, stream)| stream.used);
            match oldest {
                Some((at, stream)) if stream.used <= now - self.tables.reap_ns => {
                    self.streams.remove(at);
                }
                _ => return,
            }
        }
        self.n_begun += 1;
        // it may be forgotten at once until it is continued
        let used = now - self.tables.reap_ns;
        let stream = Stream { id: self.n_begun, next: end, used, distance: 0, begin: end, end, is_early: false };
        self.streams.insert(0, stream);
    }

    /// The records to read ahead of a stream now: none while it finds all that it reads in memory.
    pub fn ahead(&mut self, id: u64, is_missed: bool) -> Range<i64> {
        match self.streams.iter_mut().find(|stream| stream.id == id) {
            Some(stream) if is_missed => {
                let begin = stream.begin;
                stream.begin = stream.end;
                begin..stream.end
            }
            _ => 0..0,
        }
    }

    /// A record that was read ahead of a stream has come.
    pub fn came(&mut self, id: u64, record: i64) {
        if let Some(stream) = self.streams.iter_mut().find(|stream| stream.id == id) {
            stream.is_early |= record < stream.next;
        }
    }
}

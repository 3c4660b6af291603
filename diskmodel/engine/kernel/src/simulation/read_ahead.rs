//! What a controller's cache reads ahead for sequential readers (rules K11 and K12); see
//! `diskmodel/engine/reference/cached_controller.py`.

use std::collections::VecDeque;

use super::cached::Cache;
use super::{AboveController, Owner, WithFront};
use crate::device::Device;
use crate::mechanics::{div, READ};
use crate::ports::Port;

/// Sequential readers that are distinguished.
const N_READERS: usize = 16;

/// Readers, and what is being read for them.
pub struct ReadAhead {
    /// Sectors behind a reader's end that it may ask for; 0: none.
    window: i64,
    /// Pieces end at multiples of this.
    piece: i64,
    readers: VecDeque<Reader>,
    n_readers: u64,
    fetching: Vec<Fetching>,
    n_fetching: u32,
    waiters: Vec<Waiter>,
}

/// A sequential reader: where it stands, and the end of what was asked for on its behalf.
struct Reader {
    number: u64,
    end: i64,
    asked: i64,
}

/// Sectors [sector, end) that are being read ahead, and who waits for them.
struct Fetching {
    number: u32,
    sector: i64,
    end: i64,
    waiting: Vec<u32>,
}

/// A read that waits for pieces that are being read ahead.
struct Waiter {
    host: u32,
    since: i64,
    n_pieces: usize,
}

impl ReadAhead {
    pub fn new(window: i64, piece: i64) -> Self {
        ReadAhead {
            window,
            piece,
            readers: VecDeque::new(),
            n_readers: 0,
            fetching: Vec::new(),
            n_fetching: 0,
            waiters: Vec::new(),
        }
    }

    /// Range [start, limit) in which pieces are to be asked for after a read of [sector, end), and whose reader that
    /// is; nothing when it goes on where no reader ended.
    fn next_window(&mut self, sector: i64, end: i64, capacity: i64) -> Option<(u64, i64, i64)> {
        let Some(at) = self.readers.iter().position(|reader| reader.end == sector) else {
            if self.readers.len() == N_READERS {
                self.readers.pop_front();
            }
            self.readers.push_back(Reader { number: self.n_readers, end, asked: end });
            self.n_readers += 1;
            return None;
        };
        self.readers[at].end = end;
        let limit = (end + self.window).min(capacity);
        Some((self.readers[at].number, self.readers[at].asked.max(end), limit))
    }

    fn is_fetching(&self, start: i64, stop: i64) -> bool {
        self.fetching.iter().any(|fetching| fetching.sector <= start && stop <= fetching.end)
    }
}

impl Cache {
    /// Lets a read wait for what is being read ahead of it, if all else of it is held (rule K12). False: it is not.
    pub(super) fn await_pieces(&mut self, host: u32, sector: i64, end: i64, now: i64) -> bool {
        let mut pieces = Vec::new();
        let mut at = sector;
        while at < end {
            if let Some(piece) = self.ahead.fetching.iter().position(|p| p.sector <= at && at < p.end) {
                pieces.push(piece);
                at = self.ahead.fetching[piece].end;
            } else if self.has(div(at, self.block)) {
                at = (div(at, self.block) + 1) * self.block;
            } else {
                return false;
            }
        }
        for &piece in &pieces {
            self.ahead.fetching[piece].waiting.push(host);
        }
        if !pieces.is_empty() {
            self.ahead.waiters.push(Waiter { host, since: now, n_pieces: pieces.len() });
        }
        !pieces.is_empty()
    }
}

impl<D: Device, H: AboveController<D>> WithFront<D, H> {
    /// A read of [sector, end) that goes on where one of the last readers ended fetches what follows it (rule K11).
    pub(super) fn read_ahead(&mut self, sector: i64, end: i64) {
        let capacity = self.volume.layout.capacity;
        let Some(cache) = &mut self.kind.front.cache else { return };
        if cache.ahead.window == 0 {
            return;
        }
        let Some((reader, mut start, limit)) = cache.ahead.next_window(sector, end, capacity) else { return };
        while start < limit {
            let Some(cache) = &mut self.kind.front.cache else { return };
            let piece = cache.ahead.piece;
            let stop = ((div(start, piece) + 1) * piece).min(capacity);
            if stop > limit {
                break;
            }
            if !cache.ahead.is_fetching(start, stop) && !cache.holds(start, stop - start) {
                let number = cache.ahead.n_fetching;
                cache.ahead.n_fetching = number.wrapping_add(1);
                cache.ahead.fetching.push(Fetching { number, sector: start, end: stop, waiting: Vec::new() });
                self.access_array(Owner::ReadAhead(number), READ, start, stop - start);
            }
            start = stop;
        }
        // others may have come and gone meanwhile: what the thread had still to do
        let readers = self.kind.front.cache.as_mut().map(|cache| &mut cache.ahead.readers);
        if let Some(reader) = readers.and_then(|all| all.iter_mut().find(|one| one.number == reader)) {
            reader.asked = start;
        }
    }

    /// What was read ahead has come: who waits for nothing else has a hit now (rule K12).
    pub(super) fn came(&mut self, number: u32) {
        let now = self.events.now;
        let Some(cache) = &mut self.kind.front.cache else { return };
        let Some(at) = cache.ahead.fetching.iter().position(|fetching| fetching.number == number) else { return };
        let fetching = cache.ahead.fetching.remove(at);
        let n = fetching.end - fetching.sector;
        self.events.said(Port::VolumeToController, 0, (READ, fetching.sector, n));
        cache.insert(fetching.sector, n, false);
        for host in fetching.waiting {
            let Some(cache) = &mut self.kind.front.cache else { return };
            let Some(at) = cache.ahead.waiters.iter().position(|waiter| waiter.host == host) else { continue };
            cache.ahead.waiters[at].n_pieces -= 1;
            if cache.ahead.waiters[at].n_pieces == 0 {
                let waiter = cache.ahead.waiters.remove(at);
                self.requests[host].cache += now - waiter.since;
                self.hit(host);
            }
        }
    }
}

//! Reads and writes of one drive: pages, buffer, programs (rules F2, F4, F8 to F11, F18); see
//! `diskmodel/drive/flash/dies.py`.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::collection::{Collection, Copied};
use super::dies::{Dies, Job, Work};
use super::gate::Gate;
use super::places::{FirstLayout, Places, Resident};
use super::{ftl, Model};
use crate::generator::Generator;

/// A read of so many pages looks them up; one of fewer goes through them.
const MANY_PAGES: usize = 128;

/// When a command is done, how much of that was latency, and how long it moved data without waiting.
#[derive(Clone, Copy, Debug, Default)]
pub struct Served {
    pub done: i64,
    pub latency: i64,
    pub transfer: i64,
    pub is_hit: bool,
}

/// A write whose sectors are not all in the buffer yet.
#[derive(Clone, Copy, Debug)]
struct Incoming {
    command: u32,
    lba: i64,
    end: i64,
    done: i64,
    transfer: i64,
}

/// What lies between the interface and the dies.
pub struct Buffer {
    dies: Dies,
    collection: Collection,
    places: Places,
    resident: Resident,
    incoming: VecDeque<Incoming>,
    used: i64,
    /// The page that is being filled, its units so far, and when they are there.
    page: i64,
    filling: Vec<i64>,
    filling_ready: i64,
    /// Pages of the read that is looked at, and the sectors requested of each.
    wanted: Vec<(i64, i64)>,
    gate: Gate,
    /// Draws of delays (rule F19).
    read_draws: Generator,
    write_draws: Generator,
}

impl Buffer {
    pub fn new(model: &Model, ftl: ftl::Ftl, drive: u32, first: FirstLayout, draw: u32) -> Self {
        Buffer {
            dies: Dies::new(model, draw.wrapping_add(1 << 31)),
            collection: Collection::new(ftl, model, drive),
            places: Places::new(model.units_per_page, first),
            resident: Resident::default(),
            incoming: VecDeque::new(),
            used: 0,
            page: 0,
            filling: Vec::with_capacity(model.units_per_page as usize),
            filling_ready: 0,
            wanted: Vec::new(),
            gate: Gate::new(model, drive),
            read_draws: Generator::new(draw),
            write_draws: Generator::new(!draw),
        }
    }

    /// Units in the buffer, as of the last call of `advance`.
    pub fn used_units(&self) -> i64 {
        self.used
    }

    /// Writes of before the run, by first block and sectors: those that are programmed, and the rest (rule F18).
    pub fn load(&mut self, programmed: &[(i64, i64)], buffered: &[(i64, i64)], model: &Model) {
        for &(lba, n) in programmed {
            self.put(lba, lba + n, None, model);
        }
        let first = self.page;
        for &(lba, n) in buffered {
            self.put(lba, lba + n, Some(first), model);
        }
    }

    /// Takes in a write of before the run; pages from `first_waiting` on wait to be programmed, with `None` no page does.
    fn put(&mut self, mut lba: i64, end: i64, first_waiting: Option<i64>, model: &Model) {
        while lba < end {
            let (first, count) = self.portion(lba, end, model);
            lba = ((first + count) * model.sectors_per_unit).min(end);
            self.fill(first, count);
            self.used += if model.is_buffered { count } else { 0 };
            let is_full = self.filling.len() as i64 == model.units_per_page;
            match first_waiting {
                Some(first_waiting) if is_full => {
                    let nth = self.page - first_waiting;
                    let die = self.close_page(model);
                    let copied = self.collect(die, model);
                    self.gate.set_price(copied, model);
                    // dies become free one after the other
                    if 0 < nth && nth < model.n_dies() as i64 {
                        self.dies.hold(die, nth, model);
                    }
                }
                None if is_full || (lba == end && !model.is_buffered) => {
                    self.resident.discard(self.page);
                    self.used -= if model.is_buffered { model.units_per_page } else { 0 };
                    let die = model.die_of(self.page);
                    self.page += 1;
                    let copied = self.collection.page_closed(&self.filling, die, 0, None, model);
                    self.gate.set_price(copied, model);
                    self.filling.clear();
                }
                _ => {}
            }
        }
    }

    /// Units that the host wrote in the run, and those programmed for them.
    pub fn written(&self) -> [i64; 2] {
        self.collection.written()
    }

    pub fn busy_ns(&self) -> i64 {
        self.dies.busy_ns()
    }

    /// Starts what starts before `now`, and frees the room of programs that have ended (rule F5).
    pub fn advance(&mut self, now: i64, model: &Model) {
        self.dies.advance(now, model);
        while let Some(ending) = self.dies.next_ending(now) {
            if ending.page >= 0 {
                self.resident.discard(ending.page);
                // a page of the buffer is programmed when it is full
                self.used -= if model.is_buffered { model.units_per_page } else { 0 };
            }
        }
    }

    /// Accepts the writes for which there is room now, then starts what may start now.
    pub fn settle(&mut self, now: i64, model: &Model, served: impl FnMut(u32, Served)) {
        self.accept(now, model, served);
        self.dies.start_until(now, model);
    }

    /// When room may next appear, if a write waits for it (rule F9).
    pub fn next_change(&mut self, model: &Model) -> Option<i64> {
        if self.incoming.is_empty() {
            return None;
        }
        let change = self.dies.next_change();
        match self.gate.opens(self.dies.now(), model) {
            Some(opens) => Some(change.unwrap_or(opens).min(opens)),
            None => change,
        }
    }

    /// Whether a write waits for programs to end.
    fn waits_for_room(&self, now: i64, model: &Model) -> bool {
        !self.incoming.is_empty() && self.gate.opens(now, model).is_none()
    }

    /// Whether nothing will change unless a command comes.
    pub fn is_quiet(&self) -> bool {
        self.incoming.is_empty() && self.dies.is_quiet()
    }

    /// Senses, transfers and sends the pages of a read that is ready now (rule F4).
    pub fn read(&mut self, now: i64, lba: i64, n: i64, model: &Model) -> Served {
        let mut served = Served { done: now, is_hit: true, ..Served::default() };
        let unit = lba / model.sectors_per_unit;
        if lba + n <= (unit + 1) * model.sectors_per_unit {
            self.read_page(now, self.places.page_of(unit), n, &mut served, model);
        } else {
            let mut wanted = std::mem::take(&mut self.wanted);
            self.find_pages(lba, lba + n, &mut wanted, model);
            for &(page, count) in &wanted {
                self.read_page(now, page, count, &mut served, model);
            }
            self.wanted = wanted;
        }
        served.latency = model.read_latency_ns + self.read_draws.one_of(&model.read_delay_ns);
        if !served.is_hit {
            served.latency += self.gate.read_ns(now, model);
        }
        served.done += served.latency;
        served
    }

    /// Reads so many sectors of a page, from the buffer or its die; the last of a command's pages ends it.
    #[inline(always)]
    fn read_page(&mut self, now: i64, page: i64, n_sectors: i64, served: &mut Served, model: &Model) {
        let (ready, took) = if self.resident.has(page) {
            (now, 0)
        } else {
            served.is_hit = false;
            self.dies.sense(now, page, n_sectors, self.waits_for_room(now, model), model)
        };
        let send = model.interface_ns(n_sectors);
        let end = self.dies.send(ready, send);
        if end >= served.done {
            served.done = end;
            served.transfer = took + send;
        }
    }

    /// Pages that hold these sectors, in order of the first one (rule F2).
    fn find_pages(&self, lba: i64, end: i64, wanted: &mut Vec<(i64, i64)>, model: &Model) {
        wanted.clear();
        let per_unit = model.sectors_per_unit;
        let mut place_of: Option<FxHashMap<i64, usize>> = None;
        let mut at = lba;
        while at < end {
            let unit = at / per_unit;
            let stop = ((unit + 1) * per_unit).min(end);
            let page = self.places.page_of(unit);
            let known = match &place_of {
                Some(place_of) => place_of.get(&page).copied(),
                None => wanted.iter().rposition(|&(known, _)| known == page),
            };
            match known {
                Some(place) => wanted[place].1 += stop - at,
                None => {
                    place_of.iter_mut().for_each(|place_of| _ = place_of.insert(page, wanted.len()));
                    wanted.push((page, stop - at));
                }
            }
            if wanted.len() == MANY_PAGES && place_of.is_none() {
                place_of = Some(wanted.iter().enumerate().map(|(place, &(page, _))| (page, place)).collect());
            }
            at = stop;
        }
    }

    /// Takes a write that is ready now (rules F8 to F10).
    pub fn write(&mut self, now: i64, command: u32, lba: i64, n: i64, model: &Model, served: impl FnMut(u32, Served)) {
        self.incoming.push_back(Incoming { command, lba, end: lba + n, done: 0, transfer: 0 });
        self.accept(now, model, served);
    }

    /// Moves incoming sectors into the buffer while there is room, first come, first served.
    #[inline(always)]
    fn accept(&mut self, now: i64, model: &Model, mut served: impl FnMut(u32, Served)) {
        while let Some(&(mut write)) = self.incoming.front() {
            while write.lba < write.end {
                if model.is_buffered && (self.used >= room_units(model) || self.gate.opens(now, model).is_some()) {
                    self.incoming[0] = write;
                    return;
                }
                self.accept_units(&mut write, now, model);
            }
            self.incoming.pop_front();
            let latency = model.write_latency_ns + self.write_draws.one_of(&model.write_delay_ns);
            let done = write.done + latency;
            served(write.command, Served { done, latency, transfer: write.transfer, is_hit: false });
        }
    }

    /// As many units as fit the room and the page that is being filled.
    fn accept_units(&mut self, write: &mut Incoming, now: i64, model: &Model) {
        let per_unit = model.sectors_per_unit;
        let (first, mut count) = self.portion(write.lba, write.end, model);
        if model.is_buffered {
            count = self.gate.takes(now, count.min(room_units(model) - self.used), model);
        }
        let stop = ((first + count) * per_unit).min(write.end);
        let send = model.interface_ns(stop - write.lba);
        let arrival = self.dies.send(now, send);
        let ready = arrival.max(self.complete_units(now, write.lba, stop, model));
        write.lba = stop;
        self.fill(first, count);
        self.filling_ready = self.filling_ready.max(ready);
        let is_full = self.filling.len() as i64 == model.units_per_page;
        if model.is_buffered {
            self.used += count;
            write.done = arrival;
            write.transfer = send;
            if is_full {
                let die = self.close_page(model);
                let copied = self.collect(die, model);
                self.gate.page_closed(copied, now, self.incoming.len() == 1, model);
            }
        } else if is_full || write.lba == write.end {
            let die = self.close_page(model);
            let done = self.dies.start_all(die, model);
            self.collect(die, model);
            if done >= write.done {
                write.done = done;
                write.transfer = send + model.page_ns + model.program_ns;
            }
        }
    }

    /// First unit of these sectors, and how many of them fit into the page that is being filled.
    fn portion(&self, lba: i64, end: i64, model: &Model) -> (i64, i64) {
        let (first, last) = (lba / model.sectors_per_unit, (end - 1) / model.sectors_per_unit);
        (first, (last - first + 1).min(model.units_per_page - self.filling.len() as i64))
    }

    /// Puts units into the page that is being filled.
    fn fill(&mut self, first: i64, count: i64) {
        self.filling.extend(first..first + count);
        self.resident.add(self.page);
        self.places.put(first, count, self.page);
    }

    /// Reads the rest of a unit that is written in part; returns when it is there (rule F9).
    fn complete_units(&mut self, now: i64, lba: i64, end: i64, model: &Model) -> i64 {
        let per_unit = model.sectors_per_unit;
        let starts_within = lba % per_unit != 0;
        let ends_within = end % per_unit != 0 && end < model.n_sectors;
        let partial = [
            starts_within.then_some(lba / per_unit),
            (ends_within && !(starts_within && end / per_unit == lba / per_unit)).then_some(end / per_unit),
        ];
        let mut ready = now;
        for unit in partial.into_iter().flatten() {
            let page = self.places.page_of(unit);
            if !self.resident.has(page) {
                let (there, _) = self.dies.sense(now, page, per_unit, self.waits_for_room(now, model), model);
                ready = ready.max(there);
            }
        }
        ready
    }

    /// The page will be programmed on the next die (rule F10).
    fn close_page(&mut self, model: &Model) -> usize {
        let die = model.die_of(self.page);
        let ready = self.filling_ready;
        self.dies.add(die, Job { work: Work::Program, ready, page: self.page });
        self.page += 1;
        die
    }

    /// Adds the copies that are due with the page just closed; returns them.
    fn collect(&mut self, die: usize, model: &Model) -> Copied {
        let copied = self.collection.page_closed(&self.filling, die, self.filling_ready, Some(&mut self.dies), model);
        self.filling.clear();
        self.filling_ready = 0;
        copied
    }
}

fn room_units(model: &Model) -> i64 {
    model.room_units
}

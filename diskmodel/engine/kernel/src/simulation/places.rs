//! Who waits for a place at a single disk (rule Q10); see `diskmodel/engine/reference/places.py`.

use std::collections::VecDeque;

use super::{Owner, Simulation};
use crate::command::Command;
use crate::device::Device;
use crate::events::{Action, ARRIVE, LAST};
use crate::mechanics::{FLUSH, READ, WRITE};
use crate::queue::WriteThrottle;
use crate::traffic::Traffic;

/// Places of a disk for flushes and for writes of files; programs sleep until there is one, in order.
pub struct Places {
    throttle: WriteThrottle,
    /// Requests, each with the time at which it asked.
    waiting: VecDeque<(u32, i64)>,
}

impl Places {
    pub fn new(throttle: WriteThrottle) -> Self {
        Places { throttle, waiting: VecDeque::new() }
    }
}

impl<D: Device, T: Traffic> Simulation<D, T> {
    /// Whether a request needs a place.
    fn needs_place(&self, host: u32, op: u8) -> bool {
        match op {
            FLUSH => self.flushes.takes_any(),
            WRITE => self.hosts[host].is_of_file,
            _ => false,
        }
    }

    /// Begin a request: now, or when there is a place, behind all that waits.
    #[inline(never)]
    pub(super) fn access_in_place(&mut self, host: u32, op: u8, sector: i64, n: i64) {
        let now = self.events.now;
        let needs_place = self.needs_place(host, op);
        let Some(places) = &mut self.places else { return };
        if op == READ {
            places.throttle.issued(u64::from(host), READ, now);
        }
        if needs_place {
            if !places.throttle.is_open {
                self.open_window_of_places();
            }
            let Some(places) = &mut self.places else { return };
            if !places.waiting.is_empty() || !places.throttle.has_place() {
                return places.waiting.push_back((host, now));
            }
            places.throttle.take();
        }
        self.begin_access(Owner::Host(host), op, sector, n, now);
    }

    /// Of a request that has ended, before it is answered: what `leave_place` is then called with.
    #[inline(always)]
    pub(super) fn place_of(&self, host: u32) -> Option<(u8, bool)> {
        self.places.as_ref().map(|_| (self.hosts[host].op, self.hosts[host].is_of_file))
    }

    /// A read or write that was answered leaves its place, if it had one.
    #[inline(never)]
    pub(super) fn leave_place(&mut self, host: u32, (op, is_of_file): (u8, bool), last: &Command) {
        let response = self.events.now - last.arrived;
        let Some(places) = &mut self.places else { return };
        if op == READ {
            places.throttle.completed(u64::from(host), READ, response);
        } else {
            places.throttle.exempt_completed();
            if is_of_file {
                self.place_left();
            }
        }
    }

    /// A place becomes free.
    pub(super) fn place_left(&mut self) {
        if self.places.as_mut().is_some_and(|places| places.throttle.left()) {
            self.wake_for_places();
        }
    }

    fn wake_for_places(&mut self) {
        while let Some(places) = self.places.as_mut().filter(|places| places.throttle.has_place()) {
            let Some((host, asked)) = places.waiting.pop_front() else { return };
            places.throttle.take();
            let request = &self.hosts[host];
            let (op, sector, n) = (request.op, request.sector, request.n);
            self.begin_access(Owner::Host(host), op, sector, n, asked);
        }
    }

    fn open_window_of_places(&mut self) {
        let Some(places) = &mut self.places else { return };
        let end = self.events.now + places.throttle.open_window();
        self.events.at(end, ARRIVE, 0, LAST, Action::WindowEnded(0));
    }

    pub(super) fn window_of_places_ended(&mut self) {
        let now = self.events.now;
        let Some(places) = &mut self.places else { return };
        let limit = places.throttle.limit;
        let goes_on = places.throttle.close_window(now);
        let is_raised = places.throttle.limit > limit;
        if goes_on {
            self.open_window_of_places();
        }
        if is_raised {
            self.wake_for_places();
        }
    }
}

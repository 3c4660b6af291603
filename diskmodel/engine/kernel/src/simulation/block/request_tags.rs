//! Who waits for a place at a single disk (rule Q10); see `diskmodel/engine/reference/request_tags.py`.

use std::collections::VecDeque;

use crate::command::Command;
use crate::device::Device;
use crate::events::{Action, Events, ARRIVE, LAST};
use crate::mechanics::{FLUSH, READ, WRITE};
use crate::queue::WriteThrottle;
use crate::simulation::block::submission::Request;
use crate::simulation::{AboveDisks, Array, BlockLayer, Owner};

/// Tags of a disk for flushes and for writes of files, each a place; programs sleep until one is free, in order.
pub struct RequestTags {
    throttle: WriteThrottle,
    /// Requests, each with the time at which it asked.
    waiting: VecDeque<(u32, i64)>,
}

impl RequestTags {
    pub fn new(throttle: WriteThrottle) -> Self {
        RequestTags { throttle, waiting: VecDeque::new() }
    }
}

impl BlockLayer {
    /// Whether a request begins now: not where it has to wait for a place, behind all that waits.
    fn enters(&mut self, host: u32, op: u8, needs_place: bool, events: &mut Events) -> bool {
        let now = events.now;
        let Some(tags) = &mut self.tags else { return false };
        if op == READ {
            tags.throttle.issued(u64::from(host), READ, now);
        }
        if needs_place {
            if !tags.throttle.is_open {
                self.open_window_of_places(events);
            }
            let Some(tags) = &mut self.tags else { return false };
            if !tags.waiting.is_empty() || !tags.throttle.has_place() {
                tags.waiting.push_back((host, now));
                return false;
            }
            tags.throttle.take();
        }
        true
    }

    /// A read or write that was answered leaves its place, if it had one; true: somebody may take it.
    fn leaves(&mut self, host: u32, (op, is_of_file): (u8, bool), response: i64) -> bool {
        let Some(tags) = &mut self.tags else { return false };
        if op == READ {
            tags.throttle.completed(u64::from(host), READ, response);
            return false;
        }
        tags.throttle.exempt_completed();
        is_of_file && tags.throttle.left()
    }

    /// A place becomes free; true: somebody may take it.
    fn frees_place(&mut self) -> bool {
        self.tags.as_mut().is_some_and(|tags| tags.throttle.left())
    }

    /// Who takes the next free place, and when it asked.
    fn next_in_place(&mut self) -> Option<(u32, i64)> {
        let tags = self.tags.as_mut().filter(|tags| tags.throttle.has_place())?;
        let next = tags.waiting.pop_front()?;
        tags.throttle.take();
        Some(next)
    }

    fn open_window_of_places(&mut self, events: &mut Events) {
        let Some(tags) = &mut self.tags else { return };
        let end = events.now + tags.throttle.open_window();
        events.at(end, ARRIVE, 0, LAST, Action::WindowEnded(0));
    }

    /// A window has ended; true: there are more places now.
    fn has_more_places(&mut self, events: &mut Events) -> bool {
        let now = events.now;
        let Some(tags) = &mut self.tags else { return false };
        let limit = tags.throttle.limit;
        let goes_on = tags.throttle.close_window(now);
        let is_raised = tags.throttle.limit > limit;
        if goes_on {
            self.open_window_of_places(events);
        }
        is_raised
    }
}

impl<D: Device, K: AboveDisks<D>> Array<D, K> {
    /// Begin a request: now, or when there is a place.
    #[inline(never)]
    pub(in crate::simulation) fn access_in_place(&mut self, host: u32, op: u8, sector: i64, n: i64) {
        let needs_place = match op {
            FLUSH => self.block.flushes.takes_any(),
            WRITE => self.requests[host].is_of_file,
            _ => false,
        };
        if self.block.enters(host, op, needs_place, &mut self.events) {
            let asked = self.events.now;
            K::begin(self, Request { owner: Owner::Host(host), op, sector, n, asked, has_passed: false });
        }
    }

    /// Of a request that has ended, before it is answered: what `leave_place` is then called with.
    #[inline(always)]
    pub(in crate::simulation) fn place_of(&self, host: u32) -> Option<(u8, bool)> {
        self.block.tags.as_ref().map(|_| (self.requests[host].op, self.requests[host].is_of_file))
    }

    /// A read or write that was answered leaves its place, if it had one.
    #[inline(never)]
    pub(in crate::simulation) fn leave_place(&mut self, host: u32, place: (u8, bool), last: &Command) {
        if self.block.leaves(host, place, self.events.now - last.arrived) {
            self.wake_for_places();
        }
    }

    /// A place becomes free.
    pub(in crate::simulation) fn place_left(&mut self) {
        if self.block.frees_place() {
            self.wake_for_places();
        }
    }

    fn wake_for_places(&mut self) {
        while let Some((host, asked)) = self.block.next_in_place() {
            let request = &self.requests[host];
            let (op, sector, n) = (request.op, request.sector, request.n);
            K::begin(self, Request { owner: Owner::Host(host), op, sector, n, asked, has_passed: false });
        }
    }

    pub(in crate::simulation) fn window_of_places_ended(&mut self) {
        if self.block.has_more_places(&mut self.events) {
            self.wake_for_places();
        }
    }
}

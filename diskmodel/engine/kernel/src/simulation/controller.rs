//! The controller: its processor, its link, drawn hits (rules K1 to K4); see
//! `diskmodel/engine/reference/controller.py`.

use std::collections::VecDeque;

use super::{HostRequest, Owner, Simulation};
use crate::device::Device;
use crate::events::{Action, COMPLETE, LAST_NS};
use crate::mechanics::{FLUSH, READ, WRITE};
use crate::traffic::Traffic;
use crate::units::NS_PER_S;

/// The controller in whole numbers, and until when its processor and its link are taken.
#[derive(Clone, Debug)]
pub struct Controller {
    command_ns: i64,
    /// Least time between two requests that it lets pass (rule K17).
    gap_ns: i64,
    pub(super) hit_ns: i64,
    link_bytes_per_s: i64,
    hit_ratio: f64,
    processor_free: i64,
    link_free: i64,
    /// Requests that it works on at once; 0: any number (rule K14).
    volume_depth: usize,
    n_inside: usize,
    /// Those that wait outside, each with the time since when.
    outside: VecDeque<(u32, i64)>,
}

impl Controller {
    /// `link_bytes_per_s`: 0 where the link is not modeled; `volume_depth`: 0 where any number of requests goes on.
    pub fn new(
        [command_ns, gap_ns, hit_ns]: [i64; 3],
        link_bytes_per_s: i64,
        hit_ratio: f64,
        volume_depth: usize,
    ) -> Self {
        Controller {
            command_ns,
            gap_ns,
            hit_ns,
            link_bytes_per_s,
            hit_ratio,
            processor_free: 0,
            link_free: 0,
            volume_depth,
            n_inside: 0,
            outside: VecDeque::new(),
        }
    }

    /// Whether a request goes on now; otherwise it waits (rule K14).
    #[inline(never)]
    fn admits(&mut self, host: u32, now: i64) -> bool {
        if self.n_inside == self.volume_depth {
            self.outside.push_back((host, now));
            return false;
        }
        self.n_inside += 1;
        true
    }

    /// A request is done: the one that takes its place, and since when it has waited.
    #[inline(never)]
    fn next_inside(&mut self) -> Option<(u32, i64)> {
        let next = self.outside.pop_front();
        self.n_inside -= usize::from(next.is_none());
        next
    }

    /// Whether a read with this draw hits (rule K2).
    pub fn is_hit(&self, draw: f64) -> bool {
        draw < self.hit_ratio
    }

    fn has_link(&self) -> bool {
        self.link_bytes_per_s > 0
    }

    /// When a request that comes now has been processed, one after the other (rules K1, K17).
    fn processed_at(&mut self, now: i64) -> i64 {
        let processed = (now.max(self.processor_free) + self.command_ns).min(LAST_NS);
        self.processor_free = (processed + self.gap_ns).min(LAST_NS);
        processed
    }

    /// When so many bytes have gone over the link, one transfer after the other (rule K4).
    fn sent_at(&mut self, now: i64, bytes: i64) -> i64 {
        let sent = now.max(self.link_free) + bytes * NS_PER_S / self.link_bytes_per_s;
        self.link_free = sent.min(LAST_NS);
        self.link_free
    }
}

impl<D: Device, T: Traffic> Simulation<D, T> {
    #[inline(always)]
    pub(super) fn submit_to_controller(&mut self, host: u32) {
        if self.controller.volume_depth > 0 && !self.controller.admits(host, self.events.now) {
            return;
        }
        self.begin_inside(host);
    }

    /// A request is done, and the one that has waited longest begins (rule K14).
    #[inline(always)]
    pub(super) fn take_place(&mut self) {
        if self.controller.volume_depth == 0 {
            return;
        }
        if let Some((next, since)) = self.controller.next_inside() {
            self.hosts[next].queue += self.events.now - since;
            self.begin_inside(next);
        }
    }

    #[inline(always)]
    fn begin_inside(&mut self, host: u32) {
        if self.controller.command_ns + self.controller.gap_ns == 0 {
            self.processed(host);
            return;
        }
        let now = self.events.now;
        let processed = self.controller.processed_at(now);
        self.hosts[host].link += processed - now;
        self.later(processed, host, Action::Processed(host));
    }

    pub(super) fn later(&mut self, time: i64, host: u32, action: Action) {
        let device = self.drives.len();
        self.events.at(time, COMPLETE, device, self.hosts[host].row, action);
    }

    #[inline(always)]
    pub(super) fn processed(&mut self, host: u32) {
        if self.hosts[host].op == WRITE && self.controller.has_link() {
            self.over_link(host, Action::WriteArrived(host));
        } else {
            self.access(host);
        }
    }

    #[inline(always)]
    pub(super) fn access(&mut self, host: u32) {
        if self.hosts[host].op == FLUSH {
            self.flush_cached(host);
        } else if self.cache.is_none() || !self.cached(host) {
            self.access_disks(host);
        }
    }

    /// A battery protects what the write cache holds; any other flush goes to the disks (rule K13).
    #[inline(never)]
    fn flush_cached(&mut self, host: u32) {
        if self.cache.as_ref().is_some_and(|cache| cache.is_exposed()) {
            self.empty_for(host);
        } else if self.cache.as_ref().is_some_and(|cache| cache.dirty.is_some()) {
            self.later(self.events.now + self.controller.hit_ns, host, Action::HitServed(host));
        } else {
            self.access_array(Owner::Host(host), FLUSH, 0, 0);
        }
    }

    /// A drawn hit takes its time; anything else goes to the disks (rule K2).
    #[inline(always)]
    pub(super) fn access_disks(&mut self, host: u32) {
        let HostRequest { op, sector, n, is_hit, .. } = self.hosts[host];
        if op == READ && is_hit {
            self.hosts[host].cache += self.controller.hit_ns;
            self.later(self.events.now + self.controller.hit_ns, host, Action::HitServed(host));
            return;
        }
        self.hosts[host].is_hit = false;
        self.access_array(Owner::Host(host), op, sector, n);
    }

    #[inline(always)]
    pub(super) fn answered(&mut self, host: u32) {
        if self.hosts[host].op == READ && self.controller.has_link() {
            self.over_link(host, Action::ReadSent(host));
        } else {
            self.finished(host);
        }
    }

    pub(super) fn over_link(&mut self, host: u32, then: Action) {
        let now = self.events.now;
        let bytes = self.hosts[host].n * self.drives.sector_bytes();
        let sent = self.controller.sent_at(now, bytes);
        self.hosts[host].link += sent - now;
        self.later(sent, host, then);
    }
}

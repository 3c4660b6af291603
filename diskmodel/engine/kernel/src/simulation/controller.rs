//! The controller: its processor, its link, drawn hits (rules K1 to K4); see
//! `diskmodel/engine/reference/controller.py`.

use std::collections::VecDeque;

use super::{AboveController, AboveVolume, Cache, HostRequest, Kinds, Owner, WithFront};
use crate::controller::ZfsArc;
use crate::device::Device;
use crate::events::{Action, COMPLETE, LAST_NS};
use crate::mechanics::{FLUSH, READ, WRITE};
use crate::ports::Port;
use crate::progress::Progress;
use crate::traffic::{FLUSH_AFTER, PASS_ONLY, PASS_THROUGH};
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

/// A controller with its cache, and the host before it.
pub struct Front<H> {
    pub(super) controller: Controller,
    pub(super) cache: Option<Box<Cache>>,
    pub(super) host: H,
}

impl<D: Device, H: AboveController<D>> AboveVolume<D, Kinds<Front<H>>> for Front<H> {
    #[inline(always)]
    fn answered(on: &mut WithFront<D, H>, request: u32) {
        on.say(Port::VolumeToController, request);
        on.answered(request);
    }

    #[inline(always)]
    fn finished(on: &mut WithFront<D, H>, request: u32) {
        on.say(Port::VolumeToController, request);
        on.finished(request);
    }

    #[inline(always)]
    fn destaged(on: &mut WithFront<D, H>, first: i64, end: i64) {
        if let Some(cache) = &on.kind.front.cache {
            on.events.said(Port::VolumeToController, 0, (WRITE, first * cache.block, (end - first) * cache.block));
        }
        on.destaged(first, end);
    }

    #[inline(always)]
    fn came(on: &mut WithFront<D, H>, number: u32) {
        on.came(number);
    }

    #[inline(always)]
    fn keep(on: &mut WithFront<D, H>, request: u32) -> bool {
        let Some(cache) = &mut on.kind.front.cache else { return false };
        let &HostRequest { op, sector, n, .. } = &on.requests[request];
        cache.insert(sector, n, op == WRITE);
        cache.read.is_some()
    }

    #[inline(always)]
    fn has(&self, block: i64) -> bool {
        self.cache.as_ref().is_some_and(|cache| cache.has(block))
    }

    fn arc(&self) -> Option<&ZfsArc> {
        self.cache.as_ref()?.read.as_ref()?.zfs_arc()
    }

    #[inline(always)]
    fn hit_ns(&self) -> i64 {
        self.controller.hit_ns
    }

    fn progress(&mut self) -> &mut Progress {
        self.host.progress()
    }
}

impl<D: Device, H: AboveController<D>> WithFront<D, H> {
    #[inline(always)]
    pub(super) fn submit_to_controller(&mut self, host: u32) {
        self.say(Port::HostToController, host);
        if self.kind.front.controller.volume_depth > 0 && !self.kind.front.controller.admits(host, self.events.now) {
            return;
        }
        self.begin_inside(host);
    }

    /// The one that has waited longest begins (rule K14).
    #[inline(always)]
    fn take_place(&mut self) {
        if self.kind.front.controller.volume_depth == 0 {
            return;
        }
        if let Some((next, since)) = self.kind.front.controller.next_inside() {
            self.requests[next].queue += self.events.now - since;
            self.begin_inside(next);
        }
    }

    #[inline(always)]
    fn begin_inside(&mut self, host: u32) {
        if self.kind.front.controller.command_ns + self.kind.front.controller.gap_ns == 0 {
            self.processed(host);
            return;
        }
        let now = self.events.now;
        let processed = self.kind.front.controller.processed_at(now);
        self.requests[host].link += processed - now;
        self.later(processed, host, Action::Processed(host));
    }

    pub(super) fn later(&mut self, time: i64, host: u32, action: Action) {
        let device = self.drives.len();
        self.events.at(time, COMPLETE, device, self.requests[host].row, action);
    }

    #[inline(always)]
    pub(super) fn processed(&mut self, host: u32) {
        if self.requests[host].op == WRITE && self.kind.front.controller.has_link() {
            self.over_link(host, Action::WriteArrived(host));
        } else {
            self.access(host);
        }
    }

    #[inline(always)]
    pub(super) fn access(&mut self, host: u32) {
        if self.requests[host].op == FLUSH {
            self.flush_cached(host);
        } else if self.kind.front.cache.is_none() || !self.cached(host) {
            self.access_disks(host);
        }
    }

    /// A battery protects what the write cache holds; any other flush goes to the disks (rule K13).
    #[inline(never)]
    fn flush_cached(&mut self, host: u32) {
        if self.kind.front.cache.as_ref().is_some_and(|cache| cache.is_exposed()) {
            self.empty_for(host);
        } else if self.kind.front.cache.as_ref().is_some_and(|cache| cache.dirty.is_some()) {
            self.later(self.events.now + self.kind.front.controller.hit_ns, host, Action::HitServed(host));
        } else {
            self.access_array(Owner::Host(host), FLUSH, 0, 0);
        }
    }

    /// A drawn hit takes its time; anything else goes to the disks (rule K2).
    #[inline(always)]
    pub(super) fn access_disks(&mut self, host: u32) {
        let HostRequest { op, sector, n, is_hit, .. } = self.requests[host];
        if op == READ && is_hit {
            self.requests[host].cache += self.kind.front.controller.hit_ns;
            self.later(self.events.now + self.kind.front.controller.hit_ns, host, Action::HitServed(host));
            return;
        }
        self.requests[host].is_hit = false;
        self.access_array(Owner::Host(host), op, sector, n);
    }

    #[inline(always)]
    pub(super) fn answered(&mut self, host: u32) {
        if self.requests[host].op == READ && self.kind.front.controller.has_link() {
            self.over_link(host, Action::ReadSent(host));
        } else {
            self.finished(host);
        }
    }

    /// A request is done: another one may take its place, and the host has its answer.
    #[inline(always)]
    pub(super) fn finished(&mut self, host: u32) {
        self.take_place();
        self.say(Port::ControllerToHost, host);
        H::answered(self, host);
    }

    #[inline(always)]
    fn say(&mut self, port: Port, host: u32) {
        let &HostRequest { op, sector, n, .. } = &self.requests[host];
        self.events.said(port, 0, (op, sector, n));
    }

    fn over_link(&mut self, host: u32, then: Action) {
        let now = self.events.now;
        let bytes = self.requests[host].n * self.drives.sector_bytes();
        let sent = self.kind.front.controller.sent_at(now, bytes);
        self.requests[host].link += sent - now;
        self.later(sent, host, then);
    }

    /// What follows a write where drives may lack FUA (rule Y7).
    pub(in crate::simulation) fn passed(&self, sync: i64) -> i64 {
        if self.has_own_log().is_some() {
            // a pool makes it safe itself (rule X10)
            return if sync == PASS_THROUGH { PASS_ONLY } else { sync };
        }
        let is_exposed = self.kind.front.cache.as_ref().is_some_and(|cache| cache.is_exposed());
        let has_fua = self.block.flushes.takes_any() && self.block.flushes.has_fua() && !is_exposed;
        if sync == PASS_ONLY && !has_fua {
            FLUSH_AFTER
        } else {
            sync
        }
    }

    /// Whether a host that wants its writes safe has to flush anything (rule Y2).
    pub(in crate::simulation) fn takes_flushes(&self) -> bool {
        if let Some(is_logged) = self.has_own_log() {
            return is_logged;
        }
        self.block.flushes.takes_any() || self.kind.front.cache.as_ref().is_some_and(|cache| cache.dirty.is_some())
    }
}

//! Writes that must be safe from a power cut: which ones, and what follows them (rules Y1 to Y3, Y7 and Y11); see
//! `diskmodel/engine/reference/flushing.py`.

use rustc_hash::FxHashMap;

use super::{HostRequest, Purpose, Simulation};
use crate::device::Device;
use crate::events::{Action, ARRIVE, LAST};
use crate::mechanics::FLUSH;
use crate::traffic::{Rule, Traffic, PASS_ONLY, PASS_THROUGH};

/// Writes of each client since its last sync (rule Y1).
pub struct ClientSyncs {
    client_of: FxHashMap<u32, u32>,
    n_unsynced: FxHashMap<(u32, u32), i64>,
}

impl ClientSyncs {
    /// None where every write is synchronized, or none is.
    pub fn of(rules: &[Rule]) -> Option<Self> {
        let counts = rules.iter().any(|rule| rule.sync > 0 && rule.sync_every > 1);
        counts.then(|| ClientSyncs { client_of: FxHashMap::default(), n_unsynced: FxHashMap::default() })
    }

    #[inline(never)]
    pub fn took(&mut self, id: u32, client: u32) {
        self.client_of.insert(id, client);
    }

    /// The client of a row that is done.
    #[inline(never)]
    pub fn of_row(&mut self, id: u32) -> u32 {
        self.client_of.remove(&id).unwrap_or(0)
    }

    /// Whether a write is one that a sync follows.
    #[inline(never)]
    fn is_due(&mut self, id: u32, stream: u32, every: i64) -> bool {
        let client = self.client_of.get(&id).copied().unwrap_or(0);
        let n = self.n_unsynced.entry((stream, client)).or_default();
        *n += 1;
        let is_due = *n >= every;
        if is_due {
            *n = 0;
        }
        is_due
    }
}

impl<D: Device, T: Traffic> Simulation<D, T> {
    /// What follows a write of a stream whose writes are synchronized (rule Y1).
    #[inline(never)]
    pub(in crate::simulation) fn sync_of(&mut self, stream: u32, id: u32) -> i64 {
        let rule = self.kind.front.host.clients.traffic.rules()[stream as usize];
        match &mut self.kind.front.host.clients.syncs {
            Some(syncs) if rule.sync_every > 1 => rule.sync * i64::from(syncs.is_due(id, stream, rule.sync_every)),
            _ => self.passed(rule.sync),
        }
    }

    /// A write is done when a commit or a flush after it is, where it needs one (rules Y2, Y3 and Y7).
    #[inline(never)]
    pub(in crate::simulation) fn make_safe(&mut self, host: u32) {
        if self.kind.front.host.clients.journal.is_some() && self.commit(host) {
            return;
        }
        // a call of its own takes the processor, also where there is nothing to flush (rule Y11)
        let is_alone = self.requests[host].op == FLUSH && self.kind.front.host.system.is_some();
        let is_safe = self.requests[host].sync == PASS_ONLY || !(is_alone || self.takes_flushes());
        if is_safe {
            return self.done(host);
        }
        let now = self.events.now;
        self.requests[host].sync_ns -= now;
        let HostRequest { row, sync, .. } = self.requests[host];
        let purpose = Purpose::Flush(host);
        let flush =
            self.requests.put(HostRequest { row, op: FLUSH, issue: now, purpose, sync, ..HostRequest::default() });
        if sync == PASS_THROUGH && !self.block.flushes.has_fua() {
            // its program wakes up with the others that one flush served: who goes on with a next request comes first
            self.events.at(now, ARRIVE, 0, LAST, Action::FlushAsked(flush));
        } else {
            self.flush_asked(flush);
        }
    }

    /// A flush begins its course: with the processor, where there is one.
    #[inline(never)]
    pub(in crate::simulation) fn flush_asked(&mut self, flush: u32) {
        self.submit_request(flush);
    }

    /// A stream asks for a flush alone, for which dirty pages go to the array first (rule Y11).
    #[inline(never)]
    pub(in crate::simulation) fn flush_alone(&mut self, host: u32) {
        if self.page_cache().is_some() {
            self.sync_memory(host);
        } else {
            self.make_safe(host);
        }
    }

    /// The flush after a write has been answered, or its commit has ended.
    #[inline(never)]
    pub(in crate::simulation) fn made_safe(&mut self, host: u32) {
        self.requests[host].sync_ns += self.events.now;
        self.done(host);
    }
}

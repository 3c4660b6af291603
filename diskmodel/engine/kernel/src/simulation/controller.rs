//! The controller: its processor, its link, drawn hits (rules K1 to K4); see `diskmodel/engine/controller.py`.

use super::{HostRequest, Owner, Simulation};
use crate::device::{Device, Shared};
use crate::events::{Action, COMPLETE, LAST_NS};
use crate::faults::{planted, Fault};
use crate::mechanics::{READ, WRITE};
use crate::traffic::Traffic;

const NS_PER_S: i64 = 1_000_000_000;

/// The controller in whole numbers.
#[derive(Clone, Debug)]
pub struct Controller {
    pub command_ns: i64,
    pub hit_ns: i64,
    pub link_bytes_per_s: i64,
    pub hit_ratio: f64,
}

impl<D: Device, T: Traffic> Simulation<D, T> {
    pub(super) fn submit_to_controller(&mut self, host: u32) {
        if self.controller.command_ns == 0 {
            self.processed(host);
            return;
        }
        let now = self.events.now;
        self.processor_free = (now.max(self.processor_free) + self.controller.command_ns).min(LAST_NS);
        self.hosts[host].link += self.processor_free - now;
        self.later(self.processor_free, host, Action::Processed(host));
    }

    pub(super) fn later(&mut self, time: i64, host: u32, action: Action) {
        let device = self.disks.len() as u32;
        self.events.at(time, COMPLETE, device, self.hosts[host].row, action);
    }

    pub(super) fn processed(&mut self, host: u32) {
        if self.hosts[host].op == WRITE && self.controller.link_bytes_per_s > 0 {
            self.over_link(host, Action::WriteArrived(host));
        } else {
            self.access(host);
        }
    }

    pub(super) fn access(&mut self, host: u32) {
        if self.cache.is_none() || !self.cached(host) {
            self.access_disks(host);
        }
    }

    /// A drawn hit takes its time; anything else goes to the disks (rule K2).
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

    pub(super) fn answered(&mut self, host: u32) {
        if self.hosts[host].op == READ && self.controller.link_bytes_per_s > 0 {
            self.over_link(host, Action::ReadSent(host));
        } else {
            self.finished(host);
        }
    }

    pub(super) fn over_link(&mut self, host: u32, then: Action) {
        let now = self.events.now;
        let bytes = self.hosts[host].n * self.model.sector_bytes();
        self.link_free = now.max(self.link_free)
            + (bytes * NS_PER_S + i64::from(planted(Fault::LinkRounding)) * (self.controller.link_bytes_per_s - 1))
                / self.controller.link_bytes_per_s;
        self.link_free = self.link_free.min(LAST_NS);
        self.hosts[host].link += self.link_free - now;
        self.later(self.link_free, host, then);
    }
}

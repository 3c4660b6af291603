//! The array as a volume: how it is laid out, and what is in progress on its disks.

use std::ops::Range;

use super::pool::OfPool;
use super::requests::{ArrayAccess, Owner};
use crate::command::{Command, Slots};
use crate::device::Device;
use crate::drives::Drives;
use crate::events::Events;
use crate::layout::{CopyChoice, Layout, Plan};

pub struct Volume {
    pub(super) layout: Layout,
    pub(super) choice: CopyChoice,
    pub(super) accesses: Slots<ArrayAccess>,
    /// Scratch space for the pieces of an access, and for its commands.
    pub(super) plan: Plan,
    pub(super) ids: Vec<u32>,
}

impl Volume {
    pub fn new(layout: Layout, n_devices: usize) -> Self {
        Volume {
            choice: CopyChoice::new(&layout, n_devices),
            layout,
            accesses: Slots::default(),
            plan: Plan::default(),
            ids: Vec::new(),
        }
    }

    /// Somebody waits for records of which some are read ahead: what still waits of these is of another class (rule X14).
    pub(super) fn promote<D: Device>(&self, records: Range<i64>, drives: &mut Drives<D>, events: &mut Events) {
        let is_part = |command: &Command| match self.accesses[command.access].owner {
            Owner::Pool(OfPool::Ahead(number)) => records.contains(&number),
            _ => false,
        };
        drives.promote(is_part, events);
    }
}

//! The array as a volume: how it is laid out, and what is in progress on its disks.

use super::requests::ArrayAccess;
use crate::command::Slots;
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
}

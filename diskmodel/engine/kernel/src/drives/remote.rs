//! Drives that are served elsewhere: virtual disks and volumes. A simulation has one of these kinds; they share one
//! compiled path of a request, whose time is nothing beside theirs.

use crate::cloud::{self, Cloud};
use crate::command::Commands;
use crate::device::{Device, Front, Shared};
use crate::events::Events;
use crate::virtual_disk::{self, VirtualDisk};

pub enum Model {
    Virtual(virtual_disk::Model),
    Cloud(cloud::Model),
}

impl Shared for Model {
    fn sector_bytes(&self) -> i64 {
        match self {
            Model::Virtual(model) => model.sector_bytes(),
            Model::Cloud(model) => model.sector_bytes(),
        }
    }

    fn border(&self) -> i64 {
        match self {
            Model::Virtual(model) => model.border(),
            Model::Cloud(model) => model.border(),
        }
    }

    fn depth(&self) -> usize {
        match self {
            Model::Virtual(model) => model.depth(),
            Model::Cloud(model) => model.depth(),
        }
    }
}

pub enum Remote {
    Virtual(VirtualDisk),
    Cloud(Cloud),
}

impl Device for Remote {
    type Model = Model;

    fn front(&self) -> &Front {
        match self {
            Remote::Virtual(drive) => drive.front(),
            Remote::Cloud(drive) => drive.front(),
        }
    }

    fn front_mut(&mut self) -> &mut Front {
        match self {
            Remote::Virtual(drive) => drive.front_mut(),
            Remote::Cloud(drive) => drive.front_mut(),
        }
    }

    fn woken(&mut self, model: &Model, commands: &mut Commands, events: &mut Events) {
        match (self, model) {
            (Remote::Virtual(drive), Model::Virtual(model)) => drive.woken(model, commands, events),
            (Remote::Cloud(drive), Model::Cloud(model)) => drive.woken(model, commands, events),
            _ => unreachable!("drives of another kind than their model"),
        }
    }
}

//! Drives that are served elsewhere: virtual disks and volumes. A simulation has one of these kinds; they share one
//! compiled path of a request, whose time is nothing beside theirs.

mod cloud;

use std::collections::BTreeSet;

use crate::command::Commands;
use crate::device::{Device, Front, Shared};
use crate::events::Events;
use crate::given::Caller;
use crate::named::named;
use crate::queue::Policy;
use crate::scenario::VirtualTables;
use crate::schema::Described;
use crate::virtual_disk::{self, VirtualDisk};
use cloud::{Cloud, CloudTables};

/// Tables of one of these kinds, beside a `kind` that says which it is.
#[derive(Clone, Debug)]
pub enum Tables {
    Virtual(VirtualTables),
    Cloud(CloudTables),
}

/// Any drive as serde reads it, which has to know all kinds at once; those of others are type parameters.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Any<H, F> {
    Hdd(H),
    Flash(F),
    Virtual(VirtualTables),
    Cloud(CloudTables),
}

#[cfg(feature = "serde")]
impl<H, F> Any<H, F> {
    /// What the function of its kind makes of it.
    pub fn sorted<D>(self, hdd: fn(H) -> D, flash: fn(F) -> D, remote: fn(Tables) -> D) -> D {
        match self {
            Any::Hdd(tables) => hdd(tables),
            Any::Flash(tables) => flash(tables),
            Any::Virtual(tables) => remote(Tables::Virtual(tables)),
            Any::Cloud(tables) => remote(Tables::Cloud(tables)),
        }
    }
}

named! {
    pub enum Kind {
        Virtual = "virtual",
        Cloud = "cloud",
    }
}

impl Tables {
    pub fn read<C: Caller>(kind: Kind, tables: &C::Value, tags: &[&'static str]) -> Result<Self, C::Error> {
        Ok(match kind {
            Kind::Virtual => Tables::Virtual(VirtualTables::read::<C>(tables, tags)?),
            Kind::Cloud => Tables::Cloud(CloudTables::read::<C>(tables, tags)?),
        })
    }

    /// Kinds and the names of their tables.
    pub fn words(lines: &mut BTreeSet<String>) -> [(&'static str, String); 2] {
        [("virtual", VirtualTables::word(lines)), ("cloud", CloudTables::word(lines))]
    }

    pub fn check(&self) -> Result<(), String> {
        match self {
            Tables::Virtual(tables) => tables.check(),
            Tables::Cloud(tables) => tables.check(),
        }
    }

    pub fn sector_bytes(&self) -> i64 {
        match self {
            Tables::Virtual(tables) => tables.sector_bytes,
            Tables::Cloud(tables) => tables.sector_bytes,
        }
    }

    pub fn n_sectors(&self) -> i64 {
        match self {
            Tables::Virtual(tables) => tables.n_sectors,
            Tables::Cloud(tables) => tables.n_sectors,
        }
    }

    /// Whether a host that wants its writes safe sends flushes (rule Y2).
    pub fn has_flushes(&self) -> bool {
        matches!(self, Tables::Virtual(_))
    }

    /// The drives, each with where its draws begin, and what they share. Of tables that were checked.
    pub fn build(self, depth: usize, host: &Policy, draws: impl Iterator<Item = (u32, u32)>) -> (Model, Vec<Remote>) {
        match self {
            Tables::Virtual(tables) => {
                let drives = draws.map(|(i, draw)| Remote::Virtual(VirtualDisk::new(i, host, draw))).collect();
                (Model::Virtual(tables.model(depth)), drives)
            }
            Tables::Cloud(tables) => {
                let model = cloud::Model::new(tables, depth);
                let drives = draws.map(|(i, draw)| Remote::Cloud(Cloud::new(i, host, draw, &model))).collect();
                (Model::Cloud(model), drives)
            }
        }
    }
}

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

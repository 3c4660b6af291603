//! One volume of a cloud or a storage network: limits with bursts before a latency (rules U1 to U5); see
//! `diskmodel/engine/reference/remote/cloud_volume.py`.

mod limits;
mod tables;

use crate::command::Commands;
use crate::device::{answer, Device, Front, Intake, NoArms, Shared};
use crate::events::Events;
use crate::generator::Generator;
use crate::mechanics::WRITE;
use crate::queue::{Policy, Waiting};
use limits::{Budgets, Charge, Meter};
pub use tables::CloudTables;

/// What every volume of the array shares.
pub struct Model {
    pub tables: CloudTables,
    pub intake: Intake,
}

impl Model {
    /// Of tables that were checked.
    pub fn new(tables: CloudTables, depth: usize) -> Self {
        Model { tables, intake: Intake { depth, overhead_ns: [0, 0] } }
    }

    fn delays(&self, op: u8) -> &[i64] {
        if op == WRITE {
            &self.tables.write_delay_ns
        } else {
            &self.tables.read_delay_ns
        }
    }
}

impl Shared for Model {
    fn sector_bytes(&self) -> i64 {
        self.tables.sector_bytes
    }

    fn border(&self) -> i64 {
        self.tables.n_sectors
    }

    fn depth(&self) -> usize {
        self.intake.depth
    }
}

/// A command that waits for the limits.
struct Held {
    id: u32,
    op: u8,
    charge: Charge,
}

pub struct Cloud {
    front: Front,
    draws: Generator,
    meter: Meter,
    budgets: Budgets,
    held: Vec<Held>,
}

impl Cloud {
    /// `first_draw` is where its draws begin.
    pub fn new(index: u32, host: &Policy, first_draw: u32, model: &Model) -> Self {
        Cloud {
            front: Front::new(index, host),
            draws: Generator::new(first_draw),
            meter: Meter::default(),
            budgets: Budgets::new(&model.tables),
            held: Vec::new(),
        }
    }

    /// The next command that passes the limits: the older of two that are drawn (rule U4).
    fn next(&mut self) -> Held {
        let n = self.held.len() as u64;
        let at = if n > 1 { self.draws.below(n).min(self.draws.below(n)) } else { 0 };
        self.held.remove(at as usize)
    }
}

impl Device for Cloud {
    type Model = Model;

    fn front(&self) -> &Front {
        &self.front
    }

    fn front_mut(&mut self) -> &mut Front {
        &mut self.front
    }

    fn woken(&mut self, model: &Model, commands: &mut Commands, events: &mut Events) {
        let now = events.now;
        self.front.woken();
        while let Some(Waiting { id, op, lba, n, .. }) =
            self.front.hand_over(model.intake.depth, now, commands, &NoArms, |_, free| (now.max(free), 0))
        {
            let charge = self.meter.charge(op, lba, n, &model.tables);
            self.held.push(Held { id, op, charge });
        }
        while !self.held.is_empty() && self.budgets.open_ns() <= now {
            let Held { id, op, charge } = self.next();
            self.front.counters.n_charged += charge.ops;
            self.front.counters.busy_ns += self.budgets.spend(charge, now);
            let latency = self.draws.one_of(model.delays(op));
            let command = &mut commands[id];
            command.arrived = now;
            command.ready = now;
            command.overhead = latency;
            answer(id, now + latency, commands, events);
        }
        if !self.held.is_empty() {
            self.front.wake(self.budgets.open_ns(), events);
        }
        // what was answered is safe
        for id in std::mem::take(&mut self.front.flushes) {
            answer(id, now, commands, events);
        }
    }
}

//! One virtual disk (rules V1 to V5); see `diskmodel/engine/reference/remote/virtual_disk.py`.

mod processor;

use std::ops::Deref;

use crate::command::Commands;
use crate::device::{answer, Device, Front, Intake, NoArms, Shared};
use crate::events::Events;
use crate::mechanics::WRITE;
use crate::queue::{Policy, Waiting};
use crate::scenario::VirtualTables;
use crate::units::NS_PER_S;
use processor::Processor;

/// What every virtual disk of the array shares.
pub struct Model {
    pub tables: VirtualTables,
    pub intake: Intake,
}

impl Deref for Model {
    type Target = VirtualTables;

    #[inline(always)]
    fn deref(&self) -> &VirtualTables {
        &self.tables
    }
}

impl Model {
    fn latency_ns(&self, op: u8) -> i64 {
        if op == WRITE {
            self.write_latency_ns
        } else {
            self.read_latency_ns
        }
    }
}

impl Shared for Model {
    fn sector_bytes(&self) -> i64 {
        self.sector_bytes
    }

    fn border(&self) -> i64 {
        self.n_sectors
    }

    fn depth(&self) -> usize {
        self.intake.depth
    }
}

/// Commands that complete together, and when (rule V4).
#[derive(Default)]
struct Batch {
    members: Vec<u32>,
    done: i64,
}

impl Batch {
    fn add(&mut self, command: u32, done: i64) {
        self.members.push(command);
        self.done = self.done.max(done);
    }

    /// Lets all members complete; the batch is empty afterwards.
    fn complete(&mut self, commands: &mut Commands, events: &mut Events) {
        for id in self.members.drain(..) {
            answer(id, self.done, commands, events);
        }
        self.done = 0;
    }
}

pub struct VirtualDisk {
    front: Front,
    processor: Processor,
    batch: Batch,
}

impl VirtualDisk {
    /// `first_draw` is where its draws of wake-up times begin.
    pub fn new(index: u32, host: &Policy, first_draw: u32) -> Self {
        VirtualDisk { front: Front::new(index, host), processor: Processor::new(first_draw), batch: Batch::default() }
    }
}

impl Device for VirtualDisk {
    type Model = Model;

    fn front(&self) -> &Front {
        &self.front
    }

    fn front_mut(&mut self) -> &mut Front {
        &mut self.front
    }

    fn woken(&mut self, model: &Model, commands: &mut Commands, events: &mut Events) {
        let now = events.now;
        let VirtualDisk { front, processor, batch } = self;
        front.woken();
        loop {
            // a command that finds the processor idle begins the next batch
            if front.processor_free_ns() <= now {
                batch.complete(commands, events);
            }
            let taken = front.hand_over(model.intake.depth, now, commands, &NoArms, |w, free| {
                processor.begin(w.op, w.n, now, free, model)
            });
            let Some(Waiting { id, op, ready, .. }) = taken else { break };
            let latency = model.latency_ns(op);
            commands[id].overhead += latency;
            if model.is_batched {
                batch.add(id, ready + latency);
                if ready > now {
                    front.wake(ready, events);
                }
            } else {
                answer(id, ready + latency, commands, events);
            }
        }
        for at in 0..front.flushes.len() {
            if front.processor_free_ns() <= now {
                batch.complete(commands, events);
            }
            let id = front.flushes[at];
            let ready = front.process_flush(|free| processor.begin(WRITE, 0, now, free, model));
            let done = ready + model.latency_ns(WRITE);
            if model.is_batched {
                batch.add(id, done);
                if ready > now {
                    front.wake(ready, events);
                }
            } else {
                answer(id, done, commands, events);
            }
        }
        front.flushes.clear();
        front.counters.busy_ns = processor.busy_ns;
    }
}

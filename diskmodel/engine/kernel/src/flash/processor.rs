//! What a command costs the drive's processor, how it wakes up, and what it answers together (rules F17 to F20); see
//! `diskmodel/drive/processor.py`.

use super::{Model, NS_PER_S};
use crate::command::Slots;
use crate::faults::{planted, Fault};
use crate::mechanics::WRITE;

const MULTIPLIER: u32 = 1_664_525;
const INCREMENT: u32 = 1_013_904_223;

/// The processor of a model whose commands may cost more than a constant.
#[derive(Clone, Debug, Default)]
pub struct ProcessorTables {
    /// 0: it moves no data.
    pub read_copy_bytes_per_s: i64,
    pub write_copy_bytes_per_s: i64,
    /// Equally likely times until an idle processor begins.
    pub wake_ns: Vec<i64>,
    pub is_batched: bool,
}

impl ProcessorTables {
    /// Whether the time of the processor counts as the drive's busy time (rule F20).
    pub fn counts(&self) -> bool {
        let copies = self.read_copy_bytes_per_s > 0 || self.write_copy_bytes_per_s > 0;
        copies || !self.wake_ns.is_empty() || self.is_batched
    }
}

/// Commands that are answered together when the last of them is done.
#[derive(Clone, Debug, Default)]
struct Batch {
    n_members: usize,
    done: i64,
    served: Vec<u32>,
}

/// The processor of one drive.
pub struct Processor {
    draws: u32,
    batches: Slots<Batch>,
    current: u32,
    /// Time in which it woke up or worked.
    pub busy_ns: i64,
    /// Batch of each command that the drive holds, by the command's slot.
    batch_of: Vec<u32>,
}

impl Processor {
    pub fn new(first_draw: u32) -> Self {
        Processor { draws: first_draw, batches: Slots::default(), current: 0, busy_ns: 0, batch_of: Vec::new() }
    }

    /// When the processor begins with a command that is handed over now, and for how long it works on it.
    pub fn begin(&mut self, op: u8, n_sectors: i64, now: i64, free: i64, model: &Model) -> (i64, i64) {
        let tables = &model.processor;
        let (own, rate) = if op == WRITE {
            (model.intake.write_overhead_ns, tables.write_copy_bytes_per_s)
        } else {
            (model.intake.read_overhead_ns, tables.read_copy_bytes_per_s)
        };
        let copy = if rate > 0 { n_sectors * model.sector_bytes * NS_PER_S / rate } else { 0 };
        let is_idle = if planted(Fault::BatchEnd) { now > free } else { now >= free };
        self.busy_ns = self.busy_ns.saturating_add(own + copy);
        if !is_idle {
            return (free, own + copy);
        }
        if tables.is_batched {
            self.current = self.batches.put_reusing(|batch| {
                batch.n_members = 0;
                batch.done = 0;
                batch.served.clear();
            });
        }
        let wake = self.draw(&tables.wake_ns);
        self.busy_ns = self.busy_ns.saturating_add(if planted(Fault::WakeBusy) { 0 } else { wake });
        (now + wake, own + copy)
    }

    fn draw(&mut self, wake_ns: &[i64]) -> i64 {
        if wake_ns.is_empty() {
            return 0;
        }
        self.draws = MULTIPLIER.wrapping_mul(self.draws).wrapping_add(INCREMENT);
        let at = (u64::from(self.draws) * wake_ns.len() as u64) >> 32;
        wake_ns[(at as usize + usize::from(planted(Fault::WakeDraw))) % wake_ns.len()]
    }

    /// The command that `begin` was asked for belongs to the current batch.
    pub fn join(&mut self, command: u32) {
        let at = command as usize;
        if self.batch_of.len() <= at {
            self.batch_of.resize(at + 1, 0);
        }
        self.batch_of[at] = self.current;
        self.batches[self.current].n_members += 1;
    }

    /// A member has been served and would be done at `done`; calls `answer` with all members and the time of all when it was
    /// the last. Nothing joins any more then: a command joins only before the one before it is ready.
    pub fn served(&mut self, command: u32, done: i64, mut answer: impl FnMut(u32, i64)) {
        let id = self.batch_of[command as usize];
        let batch = &mut self.batches[id];
        batch.served.push(command);
        batch.done = if planted(Fault::BatchDone) { done } else { batch.done.max(done) };
        if batch.served.len() == batch.n_members {
            for &member in &batch.served {
                answer(member, batch.done);
            }
            self.batches.release(id);
        }
    }
}

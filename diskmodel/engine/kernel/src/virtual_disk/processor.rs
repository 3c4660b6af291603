//! What a command costs the host of a virtual disk, and when that host wakes up (rules V1 and V2); see
//! `diskmodel/drive/virtual/processor.py`.

use super::{Model, NS_PER_S};
use crate::generator::Generator;
use crate::mechanics::WRITE;

/// The command processor of one virtual disk.
pub struct Processor {
    draws: Generator,
    /// Time in which it woke up or worked (rule V5).
    pub busy_ns: i64,
}

impl Processor {
    pub fn new(first_draw: u32) -> Self {
        Processor { draws: Generator::new(first_draw), busy_ns: 0 }
    }

    /// When the processor, which has finished its work at `free`, begins with a command that is passed to it now, and
    /// for how long it works on it.
    pub fn begin(&mut self, op: u8, n_sectors: i64, now: i64, free: i64, model: &Model) -> (i64, i64) {
        let own = model.intake.overhead_ns(op);
        let rate = if op == WRITE { model.write_copy_bytes_per_s } else { model.read_copy_bytes_per_s };
        let copy = if rate > 0 { n_sectors * model.sector_bytes * NS_PER_S / rate } else { 0 };
        self.busy_ns = self.busy_ns.saturating_add(own + copy);
        if now < free {
            return (free, own + copy);
        }
        let wake = self.draws.one_of(&model.wake_ns);
        self.busy_ns = self.busy_ns.saturating_add(wake);
        (now + wake, own + copy)
    }
}

//! Firmware that copies in batches, and takes no writes meanwhile (rule F24); see `diskmodel/drive/flash/dies.py`.

use super::Model;

/// Copies since the last batch, and what the one that goes on lets in.
pub struct Batch {
    copied: i64,
    /// When it ends; the time of the last one where none goes on.
    pub until: i64,
    room: i64,
}

impl Batch {
    pub fn new(model: &Model, drive: u32) -> Self {
        Batch { copied: 618 * i64::from(drive) % 1000 * model.batch_units / 1000, until: 0, room: 0 }
    }

    /// Whether no further write is let in.
    pub fn holds(&self, now: i64) -> bool {
        now < self.until && self.room == 0
    }

    /// How many of these units of a write are let in.
    pub fn takes(&mut self, now: i64, mut count: i64) -> i64 {
        if now < self.until {
            count = count.min(self.room);
            self.room -= count;
        }
        count
    }

    /// So many units were copied: a batch begins when they are enough, unless other writes wait than this one.
    pub fn copied(&mut self, n_units: i64, now: i64, is_alone: bool, model: &Model) {
        if model.batch_ns == 0 {
            return;
        }
        self.copied += n_units;
        if self.copied < model.batch_units {
            return;
        }
        self.copied %= model.batch_units;
        if is_alone && now >= self.until {
            self.until = now + model.batch_ns;
            self.room = model.batch_room_units;
        }
    }
}

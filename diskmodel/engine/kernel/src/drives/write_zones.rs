//! Zones that the host writes in order: one write of each at a time in the queue above a disk (rule N2); see
//! `diskmodel/engine/reference/device.py`.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::command::{Command, Commands};
use crate::mechanics::WRITE;
use crate::rule::{within, MAX_LENGTH_BYTES, MAX_SECTORS};
use crate::schema::record;

record! {
    /// The zones of a drive, as a caller hands them over.
    #[derive(Clone, Debug)]
    pub struct WriteZoneTables {
        /// Length of a zone, and where the zones begin that are written in order.
        pub sectors: i64,
        pub first_sector: i64,
        /// Sectors up to which writes that wait for a zone become one.
        pub merge_sectors: i64,
    }
}

impl WriteZoneTables {
    pub fn check(&self, sector_bytes: i64) -> Result<(), String> {
        within("write_zones.sectors", self.sectors, 1, MAX_SECTORS)?;
        within("write_zones.first_sector", self.first_sector, 0, MAX_SECTORS)?;
        within("write_zones.merge_sectors", self.merge_sectors, 0, MAX_LENGTH_BYTES / sector_bytes)
    }
}

/// Which zones of a disk are being written, and what waits for them.
pub struct WriteZones {
    tables: WriteZoneTables,
    /// Blocks of one arm: writes of different arms do not become one.
    border: i64,
    /// Zones with a write in the queue or in the drive, and the writes that wait for it.
    written: FxHashMap<i64, VecDeque<u32>>,
}

impl WriteZones {
    pub fn new(tables: &WriteZoneTables, border: i64) -> Self {
        WriteZones { tables: tables.clone(), border, written: FxHashMap::default() }
    }

    /// Whether two blocks are of one zone.
    pub fn are_together(&self, lba: i64, other: i64) -> bool {
        lba / self.tables.sectors == other / self.tables.sectors
    }

    /// The zone that a write has to itself.
    fn zone_of(&self, op: u8, lba: i64) -> Option<i64> {
        (op == WRITE && lba >= self.tables.first_sector).then(|| lba / self.tables.sectors)
    }

    /// Keeps a write whose zone is being written; otherwise its zone is, from now on.
    pub fn holds_back(&mut self, id: u32, commands: &Commands) -> bool {
        let Command { op, lba, .. } = commands[id];
        let Some(zone) = self.zone_of(op, lba) else { return false };
        if let Some(behind) = self.written.get_mut(&zone) {
            behind.push_back(id);
            return true;
        }
        self.written.insert(zone, VecDeque::new());
        false
    }

    /// The write that enters the queue when `done` has left the drive, with those behind it that continue it.
    pub fn next(&mut self, done: &Command, commands: &mut Commands) -> Option<u32> {
        let zone = self.zone_of(done.op, done.lba)?;
        let behind = self.written.get_mut(&zone)?;
        let Some(first) = behind.pop_front() else {
            self.written.remove(&zone);
            return None;
        };
        let limit = self.tables.merge_sectors;
        let mut last = first;
        while let Some(&part) = behind.front() {
            let Command { lba, n, .. } = commands[first];
            let Command { lba: part_lba, n: part_n, .. } = commands[part];
            let is_near = lba / self.border == part_lba / self.border;
            if lba + n != part_lba || !is_near || n + part_n > limit {
                break;
            }
            behind.pop_front();
            commands[first].n += part_n;
            commands[last].next_joined = part + 1;
            last = part;
        }
        commands[first].last_joined = if last == first { 0 } else { last + 1 };
        Some(first)
    }
}

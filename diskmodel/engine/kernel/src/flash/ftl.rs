//! Garbage collection: which writes cost how many copies (rules F12 to F16); see `diskmodel/drive/flash/ftl.py`.

use std::collections::VecDeque;

use super::overlay::Overlay;
use super::shared::Shared;
use crate::named::named;
use crate::schema::record;

/// Blocks of the model on top of the over-provisioned ones (rule F13).
const RESERVE_BLOCKS: usize = 2;
/// Added to the valid units of blocks that may not be cleaned.
const NEVER: i64 = 1 << 40;
const NOWHERE: u32 = u32::MAX;

named! {
    /// Which block is cleaned next (rule F14).
    pub enum GcPolicy {
        Greedy = "greedy",
        CostBenefit = "cost-benefit",
    }
}

record! {
    /// The small drive that stands for the large one (rule F12), as `diskmodel.drive.flash.ftl.FtlTables`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct FtlTables {
        pub n_units: i64,
        pub physical_units: i64,
        pub extent_units: i64,
        pub n_extents: i64,
        pub folded_extents: i64,
        pub model_units: i64,
        pub model_blocks: usize,
        pub block_units: i64,
        pub units_per_page: i64,
        pub is_exact: bool,
        pub is_fresh: bool,
        pub valid: Vec<i64>,
        pub stride: i64,
        pub policy: GcPolicy,
    }
}

impl FtlTables {
    /// Unit of the model on which a unit of the drive falls.
    fn fold(&self, unit: i64) -> i64 {
        // behind what is used
        let unit = if unit < self.n_units { unit } else { unit % self.n_units };
        if self.is_exact {
            return unit;
        }
        let (extent, rest) = (unit / self.extent_units, unit % self.extent_units);
        extent * self.folded_extents / self.n_extents * self.extent_units + rest
    }
}

/// What a cleaning cost: valid units copied, and pages that held them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    pub units: i64,
    pub pages: i64,
}

/// Blocks of the model: where each unit lies, and what is cleaned when.
#[derive(Clone, Debug)]
pub struct Ftl {
    n_host: i64,
    n_cleaned: i64,
    slot_of: Overlay,
    /// The last unit that was put into each slot; it is valid while that is its slot.
    unit_at: Shared,
    valid: Vec<i64>,
    closed: Vec<i64>,
    unwritten: i64,
    /// The next one last.
    free: VecDeque<usize>,
    host_slot: usize,
    copy_slot: usize,
}

impl Ftl {
    pub fn new(tables: &FtlTables) -> Self {
        let n = tables.model_blocks + RESERVE_BLOCKS;
        let mut ftl = Ftl {
            n_host: 0,
            n_cleaned: 0,
            slot_of: Overlay::new(tables.model_units as usize, NOWHERE),
            unit_at: Shared::new(n * tables.block_units as usize, NOWHERE),
            valid: vec![NEVER; n],
            closed: vec![0; n],
            unwritten: if tables.is_fresh && !tables.is_exact { tables.physical_units } else { 0 },
            free: (0..n).rev().collect(),
            host_slot: 0,
            copy_slot: 0,
        };
        if !(tables.is_fresh && tables.is_exact) {
            ftl.fill(tables);
        }
        ftl.host_slot = ftl.fresh_block(tables);
        ftl.copy_slot = ftl.fresh_block(tables);
        ftl
    }

    /// Lets copies have what this is now in common.
    pub fn freeze(&mut self) {
        self.slot_of.freeze();
        self.unit_at.freeze();
    }

    /// Whether blocks are used again, so that each must be erased before it is programmed.
    pub fn is_cleaning(&self, tables: &FtlTables) -> bool {
        !(tables.is_fresh && (self.unwritten > 0 || (tables.is_exact && self.n_cleaned == 0)))
    }

    /// Units that the host may write before blocks are cleaned again.
    pub fn until_cleaning(&self, tables: &FtlTables) -> i64 {
        tables.block_units - self.host_slot as i64 % tables.block_units
    }

    /// Writes one unit of the drive (None: a slot is filled with nothing); returns the cost of the cleaning it caused.
    pub fn write(&mut self, unit: Option<i64>, tables: &FtlTables) -> Cost {
        self.n_host += 1;
        let mut cost = Cost::default();
        if self.unwritten > 0 {
            self.unwritten -= 1;
            return cost;
        }
        self.host_slot = match unit {
            Some(unit) => self.place(tables.fold(unit) as u32, self.host_slot, tables),
            None => self.host_slot + 1,
        };
        if self.host_slot % tables.block_units as usize != 0 {
            return cost;
        }
        self.close(self.host_slot - 1, tables);
        while self.free.len() < RESERVE_BLOCKS {
            let Some(more) = self.clean(tables) else { break };
            cost.units += more.units;
            cost.pages += more.pages;
        }
        self.host_slot = self.fresh_block(tables);
        cost
    }

    /// Puts a unit into a slot; returns the next slot.
    fn place(&mut self, unit: u32, slot: usize, tables: &FtlTables) -> usize {
        let per_block = tables.block_units as usize;
        let old = self.slot_of.replace(unit as usize, slot as u32);
        if old != NOWHERE {
            self.valid[old as usize / per_block] -= 1;
        }
        self.unit_at.replace(slot, unit);
        self.valid[slot / per_block] += 1;
        slot + 1
    }

    /// First slot of a block to fill. There is one: cleaning keeps two, and fills at most one in between.
    fn fresh_block(&mut self, tables: &FtlTables) -> usize {
        let block = self.free.pop_back().unwrap_or(0);
        self.valid[block] = NEVER;
        block * tables.block_units as usize
    }

    fn close(&mut self, slot: usize, tables: &FtlTables) {
        let block = slot / tables.block_units as usize;
        self.valid[block] -= NEVER;
        self.closed[block] = self.n_host;
    }

    /// Copy what is valid in a victim and free it; None where every block is wholly valid.
    fn clean(&mut self, tables: &FtlTables) -> Option<Cost> {
        let victim = self.victim(tables)?;
        let per_block = tables.block_units as usize;
        let first = victim * per_block;
        let mut cost = Cost::default();
        let mut last_page = usize::MAX;
        for slot in first..first + per_block {
            let unit = self.unit_at.get(slot);
            if unit == NOWHERE || self.slot_of.get(unit as usize) != slot as u32 {
                continue;
            }
            cost.units += 1;
            let page = slot / tables.units_per_page as usize;
            if page != last_page {
                cost.pages += 1;
                last_page = page;
            }
            self.copy_slot = self.place(unit, self.copy_slot, tables);
            if self.copy_slot % per_block == 0 {
                self.close(self.copy_slot - 1, tables);
                self.copy_slot = self.fresh_block(tables);
            }
        }
        self.valid[victim] = NEVER;
        self.free.push_front(victim);
        self.n_cleaned += 1;
        Some(cost)
    }

    /// Block to clean next; ties go to the lower number (rule F14).
    fn victim(&self, tables: &FtlTables) -> Option<usize> {
        if tables.policy == GcPolicy::Greedy {
            let least = *self.valid.iter().min()?;
            if least >= tables.block_units {
                return None;
            }
            return self.valid.iter().position(|&v| v == least);
        }
        let mut best: Option<(usize, i128, i128)> = None;
        for (block, &valid) in self.valid.iter().enumerate() {
            if valid >= tables.block_units {
                continue;
            }
            let gain = i128::from(self.n_host - self.closed[block]) * i128::from(tables.block_units - valid);
            let cost = i128::from(2 * valid);
            if best.is_none_or(|(_, best_gain, best_cost)| gain * best_cost > best_gain * cost) {
                best = Some((block, gain, cost));
            }
        }
        best.map(|(block, ..)| block)
    }

    /// Steady state: units in a scattered order over the blocks, spread within each block (rule F16).
    fn fill(&mut self, tables: &FtlTables) {
        let mut place = 0;
        for (block, &count) in tables.valid.iter().enumerate() {
            self.valid[block] = count;
            self.closed[block] = block as i64 - tables.model_blocks as i64;
            for j in 0..count {
                let unit = place * tables.stride % tables.model_units;
                let slot = block as i64 * tables.block_units + j * tables.block_units / count;
                self.slot_of.replace(unit as usize, slot as u32);
                self.unit_at.replace(slot as usize, unit as u32);
                place += 1;
            }
        }
        self.free.retain(|&block| block >= tables.model_blocks);
    }
}

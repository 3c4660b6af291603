//! What garbage collection owes, and when it is paid (rule F15); see `diskmodel/drive/flash/dies.py`.

use super::dies::{Dies, Job, Work};
use super::ftl::Ftl;
use super::Model;

/// Copies that are due with a page: units, and pages that are read for them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Copied {
    pub units: i64,
    pub reads: i64,
}

/// The drive's garbage collection: the model that it is followed on, and its debts.
pub struct Collection {
    ftl: Ftl,
    owed_units: i64,
    owed_reads: i64,
    owed_within: i64,
    copied_units: i64,
    /// Units that the host wrote in the run, and those programmed for them (rule F22).
    written: [i64; 2],
    /// Pages of each die that were programmed since its last erase.
    since_erase: Vec<i64>,
}

impl Collection {
    pub fn new(ftl: Ftl, model: &Model, drive: u32) -> Self {
        let n = model.n_dies() as i64;
        let turn = 618 * i64::from(drive) % 1000;
        Collection {
            ftl,
            owed_units: 0,
            owed_reads: 0,
            owed_within: 0,
            copied_units: 0,
            written: [0, 0],
            // staggered, so that neither dies nor drives erase in step
            since_erase: (0..n).map(|die| (1000 * die + turn) * model.pages_per_block / (1000 * n)).collect(),
        }
    }

    /// Units that the host wrote in the run, and those programmed for them.
    pub fn written(&self) -> [i64; 2] {
        self.written
    }

    /// A page with these units was closed on `die`; its work is ready at `ready`. `dies` take it; none do before the run.
    /// Returns the copies that are due with it.
    pub fn page_closed(
        &mut self,
        units: &[i64],
        die: usize,
        ready: i64,
        mut dies: Option<&mut Dies>,
        model: &Model,
    ) -> Copied {
        let per_page = model.units_per_page;
        let empty = per_page - units.len() as i64;
        let filled_up = (0..empty).map(|_| None);
        for unit in units.iter().map(|&unit| Some(unit)).chain(filled_up) {
            let cost = self.ftl.write(unit, &model.ftl);
            if cost.units > 0 {
                self.owed_units += cost.units;
                self.owed_reads += cost.pages;
                self.owed_within = self.ftl.until_cleaning(&model.ftl);
            }
        }
        let (mut n_reads, mut n_units) = (self.owed_reads, self.owed_units);
        if self.owed_within > per_page {
            n_reads = n_reads * per_page / self.owed_within;
            n_units = n_units * per_page / self.owed_within;
        }
        self.owed_reads -= n_reads;
        self.owed_units -= n_units;
        self.owed_within -= per_page;
        let n_programs = (self.copied_units + n_units) / per_page;
        self.copied_units = (self.copied_units + n_units) % per_page;
        if dies.is_some() {
            self.written[0] += units.len() as i64;
            self.written[1] += per_page + n_units;
        }
        let mut add = |work| {
            if let Some(dies) = dies.as_deref_mut() {
                dies.add(die, Job { work, ready, page: -1 });
            }
        };
        for (n, work) in [(n_reads, Work::CopyRead), (n_programs, Work::CopyProgram)] {
            for _ in 0..n {
                add(work);
            }
        }
        let since = &mut self.since_erase[die];
        *since += 1 + n_programs;
        while *since >= model.pages_per_block {
            *since -= model.pages_per_block;
            if self.ftl.is_cleaning(&model.ftl) {
                add(Work::Erase);
            }
        }
        Copied { units: n_units, reads: n_reads }
    }
}

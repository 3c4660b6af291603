//! Writes that wait until their bits are set (rule L13); see `diskmodel/engine/reference/raid.py`.

use crate::device::Device;
use crate::events::{Action, COMPLETE};
use crate::layout::{Bitmap, ChildIo, Layout};
use crate::mechanics::WRITE;
use crate::simulation::block::submission::Work;
use crate::simulation::md::{HasMd, OfMd, Turn};
use crate::simulation::{Array, Owner, Volume};

/// A write that waits for the bitmap.
#[derive(Clone, Copy)]
struct Waiting {
    owner: Owner,
    sector: i64,
    n: i64,
    asked: i64,
}

/// The bitmap, and what waits for it.
pub struct Intents {
    pub(super) bitmap: Bitmap,
    waiting: Vec<Waiting>,
    /// So many of them, the first ones, wait for the write of the bitmap that is in progress.
    n_taken: usize,
    taken: Vec<Waiting>,
    is_writing: bool,
    n_written: u64,
    pages: Vec<i64>,
}

impl Intents {
    /// None without a bitmap.
    pub fn of(layout: &Layout) -> Option<Self> {
        (layout.bitmap_chunk > 0).then(|| Intents {
            bitmap: Bitmap::new(layout),
            waiting: Vec::new(),
            n_taken: 0,
            taken: Vec::new(),
            is_writing: false,
            n_written: 0,
            pages: Vec::new(),
        })
    }
}

impl<D: Device, K: HasMd<D>> Array<D, K> {
    /// A write that needs bits begins when they are set.
    pub(super) fn intend(&mut self, owner: Owner, sector: i64, n: i64, asked: i64) {
        let bits = self.volume.layout.bits_of(sector, n);
        let has_own_thread = self.block.submitter.is_some() && !self.block.is_host_thread();
        let Some(intents) = self.kind.intents() else { return };
        intents.bitmap.enter(bits, self.events.now);
        intents.waiting.push(Waiting { owner, sector, n, asked });
        if has_own_thread {
            self.block.hand_work(Work::Turn(Turn::TakeWrites));
            self.proceed();
        } else if !intents.is_writing {
            self.take_waiting();
        }
    }

    /// All writes that wait begin: now, or when the bits that are pending have been set.
    pub(super) fn take_waiting(&mut self) {
        let Some(intents) = self.kind.intents() else { return };
        intents.n_taken = intents.waiting.len();
        if intents.bitmap.has_pending() {
            self.write_bits();
        } else {
            self.begin_taken();
        }
    }

    fn begin_taken(&mut self) {
        let Some(intents) = self.kind.intents() else { return };
        let mut taken = std::mem::take(&mut intents.taken);
        taken.clear();
        taken.extend(intents.waiting.drain(..intents.n_taken));
        for &Waiting { owner, sector, n, asked } in &taken {
            self.plan_access(owner, WRITE, sector, n, asked);
        }
        if let Some(intents) = self.kind.intents() {
            intents.taken = taken;
        }
    }

    /// Writes the pages of the bitmap with bits that are pending to all disks that are left.
    fn write_bits(&mut self) {
        let Array { kind, volume: Volume { layout, plan, .. }, .. } = self;
        let Some(intents) = kind.intents() else { return };
        intents.is_writing = true;
        intents.bitmap.take(&mut intents.pages);
        plan.first.clear();
        plan.then.clear();
        for page in &intents.pages {
            let lba = layout.bitmap_start + page * layout.bitmap_page;
            let left = (0..layout.n_disks).filter(|disk| !layout.failed.contains(disk));
            let end = layout.bitmap_end;
            let n = layout.bitmap_page.min(end - lba);
            plan.first.extend(left.map(|disk| ChildIo::new(disk, WRITE, lba, n)));
        }
        self.block.sleep_for_bits(true);
        self.start(Owner::Md(OfMd::Bitmap), self.events.now, true, None);
    }

    pub(super) fn bits_written(&mut self) {
        let Some(intents) = self.kind.intents() else { return };
        intents.n_written += 1;
        let flush = self.volume.layout.bitmap_flush_ns;
        if flush == 0 {
            return self.bits_durable();
        }
        let (device, order) = (self.drives.len() + 3, intents.n_written - 1);
        self.events.at(self.events.now + flush, COMPLETE, device, order, Action::BitsDurable);
    }

    /// The bits are set: the writes that were taken begin, in the order in which they came; then those behind them.
    pub(in crate::simulation) fn bits_durable(&mut self) {
        let Some(intents) = self.kind.intents() else { return };
        intents.bitmap.written();
        self.begin_taken();
        let Some(intents) = self.kind.intents() else { return };
        intents.is_writing = false;
        let has_waiting = !intents.waiting.is_empty();
        if self.block.submitter.is_some() {
            self.block.sleep_for_bits(false);
            self.proceed();
        } else if has_waiting {
            self.take_waiting();
        }
    }
}

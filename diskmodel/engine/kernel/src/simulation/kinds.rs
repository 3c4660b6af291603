//! What is on the disks: Linux md (also a disk as it is) or a pool. Either plans what is asked of it as accesses to the
//! disks, and learns when these have ended. Neither knows the other: here is what takes a call to the one of the array, and
//! what both need.

use super::block::flushing::VOLUME;
use super::block::submission::Request;
use super::md::{HasMd, Md, Turn};
use super::pool::{HasPool, Pool};
use super::{AboveDisks, AboveVolume, Array, HasFront, Times, WithKinds};
use crate::command::Command;
use crate::device::Device;
use crate::drives::auxiliary::Auxiliary;
use crate::events::OfAuxiliary;
use crate::layout::{L2arc, Layout};

/// The volume of the array, with its state.
pub enum Kind {
    Md(Md),
    Pool(Box<Pool>),
}

impl Kind {
    /// Of a layout; `group`, `l2arc` and `own` as `Pool::of` has them.
    pub fn of(
        layout: &Layout,
        host_work_ns: i64,
        group: [i64; 3],
        l2arc: Option<Box<L2arc>>,
        own: [Option<Box<Auxiliary>>; 2],
    ) -> Self {
        if layout.pool.is_none() {
            let [log, _] = own;
            return Kind::Md(Md::new(layout, log));
        }
        Pool::of(layout, host_work_ns, group, l2arc, own)
            .map_or_else(|| Kind::Md(Md::new(layout, None)), |pool| Kind::Pool(Box::new(pool)))
    }

    fn pool(&mut self) -> Option<&mut Pool> {
        match self {
            Kind::Md(_) => None,
            Kind::Pool(pool) => Some(pool),
        }
    }

    /// Its drives beside the disks, where there are any: of a log, of a special vdev, and cache devices.
    pub fn own_drives(&self) -> [Option<&Auxiliary>; 3] {
        match self {
            Kind::Md(md) => [md.journal_drives(), None, None],
            Kind::Pool(pool) => pool.own_drives(),
        }
    }

    /// Sectors of a disk that a rebuild or a scan is through.
    pub fn front(&self, layout: &Layout) -> i64 {
        match self {
            Kind::Md(md) => md.front(layout),
            Kind::Pool(pool) => pool.scan_front().unwrap_or(layout.rebuild_front),
        }
    }
}

/// A volume, and who is in front of it.
pub struct Kinds<F> {
    pub(super) volume: Kind,
    pub(super) front: F,
}

impl<D: Device, F: AboveVolume<D, Self>> HasFront<D> for Kinds<F> {
    type Front = F;

    #[inline(always)]
    fn front(&mut self) -> &mut F {
        &mut self.front
    }
}

impl<D: Device, F: AboveVolume<D, Self>> HasMd<D> for Kinds<F> {
    #[inline(always)]
    fn md(&mut self) -> Option<&mut Md> {
        match &mut self.volume {
            Kind::Md(md) => Some(md),
            Kind::Pool(_) => None,
        }
    }
}

impl<D: Device, F: AboveVolume<D, Self>> HasPool<D> for Kinds<F> {
    #[inline(always)]
    fn pool(&mut self) -> Option<&mut Pool> {
        self.volume.pool()
    }

    #[inline(always)]
    fn pool_and_front(&mut self) -> (Option<&mut Pool>, &F) {
        (self.volume.pool(), &self.front)
    }
}

impl<D: Device, F: AboveVolume<D, Self>> AboveDisks<D> for Kinds<F> {
    #[inline(always)]
    fn begin(on: &mut WithKinds<D, F>, request: Request) {
        match on.kind.volume {
            Kind::Md(_) => on.begin_access(request),
            Kind::Pool(_) => on.pool_access(request),
        }
    }

    #[inline(always)]
    fn submit_writes(on: &mut WithKinds<D, F>, access: u32) {
        match on.kind.volume {
            Kind::Md(_) => on.submit_writes(access),
            Kind::Pool(_) => on.submit(access),
        }
    }

    #[inline(always)]
    fn ended(on: &mut WithKinds<D, F>, last: &Command) {
        match on.kind.volume {
            Kind::Md(_) => on.finish_access(last),
            Kind::Pool(_) => on.pool_access_ended(last),
        }
    }

    #[inline(always)]
    fn flushed(on: &mut WithKinds<D, F>, who: u32) {
        if who == VOLUME {
            on.flushed_for_volume();
        } else {
            F::finished(on, who);
        }
    }

    #[inline(always)]
    fn disk_flushed(on: &mut WithKinds<D, F>, who: u32) {
        match on.kind.volume {
            Kind::Md(_) => on.partial_flushed(who),
            Kind::Pool(_) => on.log_part_flushed(who),
        }
    }

    #[inline(always)]
    fn take_turn(on: &mut WithKinds<D, F>, turn: Turn) {
        on.take_turn(turn);
    }
}

impl<D: Device, F: AboveVolume<D, Kinds<F>>> WithKinds<D, F> {
    /// Something happens at a drive of the volume's log.
    #[inline(never)]
    pub(super) fn log_drive_happened(&mut self, what: OfAuxiliary) {
        match self.kind.volume {
            Kind::Md(_) => self.journal_drive_happened(what),
            Kind::Pool(_) => self.intent_drive_happened(what),
        }
    }

    #[inline(never)]
    fn flushed_for_volume(&mut self) {
        match self.kind.volume {
            Kind::Md(_) => self.submit_superblock(),
            Kind::Pool(_) => self.group_flushed(),
        }
    }

    /// The cache in front serves a read.
    #[inline(always)]
    pub(super) fn read_from_cache(&mut self, sector: i64, n: i64) {
        if let Kind::Pool(_) = self.kind.volume {
            self.pool_hit(sector, n);
        }
    }

    /// Whether the volume makes writes safe itself, and does so now; None: its disks do.
    pub(super) fn has_own_log(&self) -> Option<bool> {
        match self.kind.volume {
            Kind::Md(_) => None,
            Kind::Pool(_) => self.volume.layout.pool.as_ref().map(|pool| pool.writes.is_logged),
        }
    }
}

/// What both kinds need.
impl<D: Device, K: HasFront<D>> Array<D, K> {
    /// Where the time of a request went that an access begun at `start` has served, which ended with this command.
    #[inline(always)]
    pub(super) fn account(&mut self, host: u32, asked: i64, start: i64, last: &Command) {
        let parity = last.submitted - start;
        let request = &mut self.requests[host];
        request.parity += parity;
        request.queue += self.events.now - asked - parity - (last.done - last.submitted);
        request.last = Times::of(last);
    }

    /// A request has been served by an access that ended with this command.
    #[inline(always)]
    pub(super) fn answer(&mut self, host: u32, last: &Command) {
        let place = self.place_of(host);
        K::Front::answered(self, host);
        if let Some(place) = place {
            self.leave_place(host, place, last);
        }
    }
}

//! A resilver or a scrub: what is stored in order of place, beside transaction groups (rules X20 to X25); see
//! `diskmodel/engine/reference/pools/scan.py`.

use crate::device::Device;
use crate::layout::{counts_as, scan_step, scanned_vdevs, Layout, Stored, SyncAction};
use crate::simulation::pool::{HasPool, OfPool};
use crate::simulation::{Array, Owner, Volume};

/// How far a scan has come.
pub(super) struct Scan {
    /// Of each vdev that it goes through, what is left to begin, and sectors of data that are read or written.
    vdevs: Vec<(Stored, i64)>,
    /// Sectors of a disk that are through, of all vdevs.
    pub(super) front: i64,
    /// When the group began to wait for it; None: none does.
    begun: Option<i64>,
    /// Whether it goes through allocated space, whatever the groups do (rule X25).
    is_in_order: bool,
    /// Groups that have begun to be written, and what was begun and is not written, of even and odd ones.
    n_groups: usize,
    out: [i64; 2],
    /// Whether the group waits until all is written that was begun before it.
    is_awaited: bool,
}

/// What is read or written of a scan: blocks of data of this one of the vdevs that it goes through, begun when an even or
/// an odd group was open.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Scanned {
    at: u32,
    group: u32,
    blocks: i64,
}

impl Scan {
    /// None where there is none.
    pub(super) fn of(layout: &Layout) -> Option<Self> {
        let pool = layout.pool.as_ref()?;
        if layout.sync_action == SyncAction::None {
            return None;
        }
        let vdevs = scanned_vdevs(layout).map(|vdev| (Stored::new(layout, pool, vdev), 0)).collect();
        let (front, is_in_order) = (layout.rebuild_front, pool.scan.segment > 0);
        Some(Scan { vdevs, front, begun: None, is_in_order, n_groups: 0, out: [0; 2], is_awaited: false })
    }

    /// Whether records are left that have not been begun, and that groups wait for.
    pub(super) fn has_work(&self, layout: &Layout) -> bool {
        let has_more = |(stored, _): &(Stored, i64)| layout.pool.as_ref().is_some_and(|pool| !stored.is_at_end(pool));
        !self.is_in_order && self.vdevs.iter().any(has_more)
    }

    /// A group begins; whether it waits for what a sequential resilver began before (rule X25).
    pub(super) fn begin_group(&mut self) -> bool {
        let before = self.n_groups % 2;
        self.n_groups += 1;
        self.is_awaited = self.is_in_order && self.out[before] > 0;
        self.is_awaited
    }
}

impl<D: Device, K: HasPool<D>> Array<D, K> {
    /// Lets a group wait for its part of the scan, if something is left of it.
    pub(super) fn begin_scan(&mut self) -> bool {
        let now = self.events.now;
        let Some((pool, layout, _)) = self.pool() else { return false };
        let Some(scan) = pool.scan.as_mut().filter(|scan| scan.has_work(layout)) else { return false };
        scan.begun = Some(now);
        self.go_on_scanning();
        true
    }

    /// Begins a sequential resilver with the run.
    pub(super) fn begin_in_order(&mut self) {
        if self.kind.pool().and_then(|pool| pool.scan.as_ref()).is_some_and(|scan| scan.is_in_order) {
            while self.begin_stretch(0) {}
        }
    }

    /// Begins what is next of all vdevs while there is room for it and the group may wait.
    fn go_on_scanning(&mut self) {
        let n_vdevs = self.kind.pool().and_then(|pool| pool.scan.as_ref()).map_or(0, |scan| scan.vdevs.len());
        for at in 0..n_vdevs {
            while self.begin_stretch(at) {}
        }
        let Some(scan) = self.kind.pool().and_then(|pool| pool.scan.as_mut()) else { return };
        if !scan.is_in_order && scan.vdevs.iter().all(|&(_, in_flight)| in_flight == 0) {
            scan.begun = None;
            self.group_scanned();
        }
    }

    /// Begins what is next of a vdev; false where nothing is left, there is no room, or the group may not wait.
    fn begin_stretch(&mut self, at: usize) -> bool {
        let now = self.events.now;
        let Array { volume: Volume { layout, plan, choice, .. }, kind, drives, .. } = self;
        let (Some(pool), Some(tables)) = (kind.pool(), layout.pool.as_ref()) else { return false };
        let (dirty, group_begun) = (pool.dirty(), pool.group_begun());
        let Some(scan) = pool.scan.as_mut() else { return false };
        let is_dirty = dirty >= tables.writes.more_from;
        let may_wait = scan.begun.is_some_and(|begun| {
            now - begun <= tables.scan.least_ns || (!is_dirty && now - group_begun < tables.writes.group_ns)
        });
        let (stored, in_flight) = &mut scan.vdevs[at];
        let has_room = *in_flight < tables.scan.in_flight;
        if stored.is_at_end(tables) || !has_room || !(scan.is_in_order || may_wait) {
            return false;
        }
        let (vdev, stretch) = (stored.vdev, stored.take(layout, tables));
        choice.begin();
        let has_part = scan_step(layout, tables, vdev, stretch, plan, &mut |copies, n| {
            choice.choose(copies, n, |disk| drives.peek(disk))
        });
        if has_part {
            *in_flight += stretch.blocks * tables.block;
            let group = scan.n_groups % 2;
            scan.out[group] += 1;
            let scanned = Scanned { at: at as u32, group: group as u32, blocks: stretch.blocks };
            self.start(Owner::Pool(OfPool::Scan(scanned)), now, true, None);
        } else {
            scan.front += counts_as(layout, tables, stretch.blocks);
        }
        true
    }

    /// What was taken is on the new disk, or has been read.
    #[inline(never)]
    pub(super) fn stretch_scanned(&mut self, Scanned { at, group, blocks }: Scanned) {
        let Some((pool, layout, tables)) = self.pool() else { return };
        let Some(scan) = pool.scan.as_mut() else { return };
        scan.vdevs[at as usize].1 -= blocks * tables.block;
        scan.out[group as usize] -= 1;
        scan.front += counts_as(layout, tables, blocks);
        self.go_on_scanning();
        let Some(scan) = self.kind.pool().and_then(|pool| pool.scan.as_mut()) else { return };
        let is_before = group as usize != scan.n_groups % 2;
        if scan.is_awaited && is_before && scan.out[group as usize] == 0 {
            scan.is_awaited = false;
            self.write_group();
        }
    }
}

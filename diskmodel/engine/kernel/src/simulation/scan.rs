//! A resilver or a scrub: records in order of place, while a transaction group waits (rules X20 to X22); see
//! `diskmodel/engine/reference/pools/scan.py`.

use super::{Owner, Simulation};
use crate::device::Device;
use crate::layout::{scan_step, scanned_vdevs, Layout, Stored, SyncAction};
use crate::traffic::Traffic;

/// How far a scan has come.
pub(super) struct Scan {
    /// Of each vdev that it goes through, what is left to begin, and sectors of records that are read or written.
    vdevs: Vec<(Stored, i64)>,
    /// Sectors of a disk that are through, of all vdevs.
    pub(super) front: i64,
    /// When the group began to wait for it; None: none does.
    begun: Option<i64>,
}

impl Scan {
    /// None where there is none.
    pub(super) fn of(layout: &Layout) -> Option<Self> {
        let pool = layout.pool.as_ref()?;
        if layout.sync_action == SyncAction::None {
            return None;
        }
        let vdevs = scanned_vdevs(layout).map(|vdev| (Stored::new(layout, pool, vdev), 0)).collect();
        Some(Scan { vdevs, front: layout.rebuild_front, begun: None })
    }

    /// Whether records are left that have not been begun.
    pub(super) fn has_work(&self, layout: &Layout) -> bool {
        layout.pool.as_ref().is_some_and(|pool| self.vdevs.iter().any(|(stored, _)| !stored.is_at_end(pool)))
    }
}

impl<D: Device, T: Traffic> Simulation<D, T> {
    /// Lets a group wait for its part of the scan, if something is left of it.
    pub(super) fn begin_scan(&mut self) -> bool {
        let now = self.events.now;
        let Some((pool, layout, _)) = self.pool() else { return false };
        let Some(scan) = pool.scan.as_mut().filter(|scan| scan.has_work(layout)) else { return false };
        scan.begun = Some(now);
        self.go_on_scanning();
        true
    }

    /// Begins records of all vdevs while there is room for them and the group may wait.
    fn go_on_scanning(&mut self) {
        let n_vdevs = self.pool.as_ref().and_then(|pool| pool.scan.as_ref()).map_or(0, |scan| scan.vdevs.len());
        for at in 0..n_vdevs {
            while self.begin_record(at) {}
        }
        let Some(scan) = self.pool.as_mut().and_then(|pool| pool.scan.as_mut()) else { return };
        if scan.vdevs.iter().all(|&(_, in_flight)| in_flight == 0) {
            scan.begun = None;
            self.group_scanned();
        }
    }

    /// Begins the next record of a vdev; false where none is left, there is no room, or the group may not wait.
    fn begin_record(&mut self, at: usize) -> bool {
        let now = self.events.now;
        let Simulation { pool, layout, plan, disks, choice, .. } = self;
        let (Some(pool), Some(tables)) = (pool.as_mut(), layout.pool.as_ref()) else { return false };
        let (dirty, group_begun) = (pool.dirty(), pool.group_begun());
        let Some(scan) = pool.scan.as_mut() else { return false };
        let Some(begun) = scan.begun else { return false };
        let is_dirty = dirty >= tables.writes.more_from;
        let may_wait = now - begun <= tables.scan.least_ns || (!is_dirty && now - group_begun < tables.writes.group_ns);
        let (stored, in_flight) = &mut scan.vdevs[at];
        let has_room = *in_flight < tables.scan.in_flight;
        if stored.is_at_end(tables) || !has_room || !may_wait {
            return false;
        }
        let (vdev, first) = (stored.vdev, stored.take(tables));
        choice.begin();
        let has_part = scan_step(layout, tables, (vdev, first), plan, &mut |copies, n| {
            choice.choose(copies, n, |disk| disks[disk as usize].front().state())
        });
        if has_part {
            *in_flight += tables.record;
            self.start(Owner::Scan(at as u32), now, true, None);
        } else {
            scan.front += layout.rebuild_window;
        }
        true
    }

    /// A record is on the new disk, or has been read.
    #[inline(never)]
    pub(super) fn record_scanned(&mut self, at: u32) {
        let Some((pool, layout, tables)) = self.pool() else { return };
        let Some(scan) = pool.scan.as_mut() else { return };
        scan.vdevs[at as usize].1 -= tables.record;
        scan.front += layout.rebuild_window;
        self.go_on_scanning();
    }
}

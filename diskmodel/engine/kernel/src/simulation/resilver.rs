//! A resilver: records in order of place, while a transaction group waits (rules X20 and X21); see
//! `diskmodel/engine/reference/pools/resilver.py`.

use super::{Owner, Simulation};
use crate::device::Device;
use crate::layout::{resilver_step, DiskState, Layout, Stored};
use crate::traffic::Traffic;

/// How far a resilver has come.
pub(super) struct Resilver {
    stored: Stored,
    /// Sectors of records that are read or written, and of the new disk that are through.
    in_flight: i64,
    pub(super) front: i64,
    /// When the group began to wait for it; None: none does.
    begun: Option<i64>,
}

impl Resilver {
    /// None where no disk is resilvered.
    pub(super) fn of(layout: &Layout) -> Option<Self> {
        let pool = layout.pool.as_ref()?;
        if layout.rebuild_disk < 0 {
            return None;
        }
        let mut stored = Stored::new(layout, pool);
        stored.skip(pool, layout.rebuild_front / layout.rebuild_window);
        Some(Resilver { stored, in_flight: 0, front: layout.rebuild_front, begun: None })
    }

    /// Whether records are left that have not been begun.
    pub(super) fn has_work(&self, layout: &Layout) -> bool {
        layout.pool.as_ref().is_some_and(|pool| !self.stored.is_at_end(pool))
    }
}

impl<D: Device, T: Traffic> Simulation<D, T> {
    /// Lets a group wait for its part of the resilver, if something is left of it.
    pub(super) fn begin_resilver(&mut self) -> bool {
        let now = self.events.now;
        let Some((pool, layout, _)) = self.pool() else { return false };
        let Some(resilver) = pool.resilver.as_mut().filter(|resilver| resilver.has_work(layout)) else { return false };
        resilver.begun = Some(now);
        self.go_on_resilvering();
        true
    }

    /// Begins records while there is room for them and the group may wait.
    fn go_on_resilvering(&mut self) {
        let now = self.events.now;
        loop {
            let Simulation { pool, layout, plan, disks, choice, .. } = self;
            let (Some(pool), Some(tables)) = (pool.as_mut(), layout.pool.as_ref()) else { return };
            let (dirty, group_begun) = (pool.dirty(), pool.group_begun());
            let Some(resilver) = pool.resilver.as_mut() else { return };
            let Some(begun) = resilver.begun else { return };
            let is_dirty = dirty >= tables.writes.more_from;
            let may_wait =
                now - begun <= tables.resilver.least_ns || (!is_dirty && now - group_begun < tables.writes.group_ns);
            let has_room = resilver.in_flight < tables.resilver.in_flight;
            if resilver.stored.is_at_end(tables) || !has_room || !may_wait {
                if resilver.in_flight == 0 {
                    resilver.begun = None;
                    self.group_resilvered();
                }
                return;
            }
            let first = resilver.stored.take(tables);
            choice.begin();
            let has_part = resilver_step(layout, tables, first, plan, &mut |copies, n| {
                choice.choose(copies, n, |disk| {
                    let front = disks[disk as usize].front();
                    DiskState { pending: front.pending, completed_end: front.completed_end }
                })
            });
            if has_part {
                resilver.in_flight += tables.record;
                self.start(Owner::Resilver, now, true, None);
            } else {
                resilver.front += layout.rebuild_window;
            }
        }
    }

    /// A record has been written to the new disk.
    #[inline(never)]
    pub(super) fn record_resilvered(&mut self) {
        let Some((pool, layout, tables)) = self.pool() else { return };
        let Some(resilver) = pool.resilver.as_mut() else { return };
        resilver.in_flight -= tables.record;
        resilver.front += layout.rebuild_window;
        self.go_on_resilvering();
    }
}

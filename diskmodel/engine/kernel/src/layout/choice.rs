//! Which copy serves a read (rule L5); see `diskmodel/engine/reference/raid.py`.

use super::{Copy, CopyPolicy, Layout, PoolTables};

/// What a choice may ask of a disk: commands that have been submitted and not completed, and the block after the last
/// one that completed.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiskState {
    pub pending: usize,
    pub completed_end: i64,
}

/// What was chosen so far.
pub struct CopyChoice {
    policy: CopyPolicy,
    next_copy: usize,
    /// Block after the last read that was chosen for each disk.
    read_end: Vec<i64>,
    /// Choices of the request that is being planned.
    n_chosen: Vec<usize>,
    /// Of a pool, with the first sector of data on each disk.
    pool: Option<(PoolTables, i64)>,
}

impl CopyChoice {
    pub fn new(layout: &Layout, n_disks: usize) -> Self {
        CopyChoice {
            policy: layout.read_policy,
            next_copy: 0,
            read_end: vec![0; n_disks],
            n_chosen: vec![0; n_disks],
            pool: layout.pool.clone().map(|pool| (pool, layout.data_offset)),
        }
    }

    /// A new request is planned: what was chosen before has been submitted.
    pub fn begin(&mut self) {
        self.n_chosen.fill(0);
    }

    /// Copy that serves a read of `n` sectors; there is more than one.
    pub fn choose(&mut self, copies: &[Copy], n: i64, state: impl Fn(u32) -> DiskState) -> Copy {
        let copy = self.by_policy(copies, state);
        self.read_end[copy.disk as usize] = copy.lba + n;
        self.n_chosen[copy.disk as usize] += 1;
        copy
    }

    fn by_policy(&mut self, copies: &[Copy], state: impl Fn(u32) -> DiskState) -> Copy {
        let pending = |c: &Copy| (state(c.disk).pending + self.n_chosen[c.disk as usize]) as i64;
        let distance = |c: &Copy| (c.lba - state(c.disk).completed_end).abs();
        match self.policy {
            CopyPolicy::RoundRobin => {
                self.next_copy += 1;
                copies[(self.next_copy - 1) % copies.len()]
            }
            CopyPolicy::ShortestQueue => least(copies, pending),
            CopyPolicy::Nearest => {
                let goes_on = |c: &&Copy| distance(c) == 0 || self.read_end[c.disk as usize] == c.lba;
                if let Some(copy) = copies.iter().find(goes_on) {
                    return *copy;
                }
                let idle = least(copies, pending);
                if pending(&idle) == 0 {
                    idle
                } else {
                    least(copies, distance)
                }
            }
            CopyPolicy::NearestArm => least(copies, distance),
            CopyPolicy::IdleOrNearest => least(copies, |c| if pending(c) == 0 { 0 } else { distance(c) }),
            CopyPolicy::Lowest => least(copies, |c| c.lba),
            CopyPolicy::Primary => copies[0],
            CopyPolicy::LeastLoaded => {
                let Some((pool, offset)) = &self.pool else { return copies[0] };
                let load = |c: &Copy| {
                    pending(c).min(pool.most_active) + pool.seek_load(c.lba - self.read_end[c.disk as usize])
                };
                let least = copies.iter().map(load).min().unwrap_or(0);
                let n_least = copies.iter().filter(|c| load(c) == least).count() as i64;
                let turn = (copies[0].lba - offset) / pool.turn_of_copies % n_least;
                copies.iter().filter(|c| load(c) == least).nth(turn as usize).copied().unwrap_or(copies[0])
            }
        }
    }
}

fn least(copies: &[Copy], key: impl Fn(&Copy) -> i64) -> Copy {
    let mut best = (i64::MAX, Copy::default());
    for copy in copies {
        let k = key(copy);
        if k < best.0 {
            best = (k, *copy);
        }
    }
    best.1
}

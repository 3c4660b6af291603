//! A rebuild, a check or a resync: step after step over the members (rules R1 to R7); see `diskmodel/engine/reference/rebuild.py`.

use std::collections::VecDeque;

use crate::device::Device;
use crate::drives::Drives;
use crate::events::{Action, Events, ARRIVE};
use crate::layout::{Layout, Plan, SyncAction};
use crate::simulation::{AboveVolume, Md, Owner, WithKinds};

/// Number of notes of the speed, and the time between two (rule R5).
const N_MARKS: usize = 10;
const MARK_STEP_NS: i64 = 3_000_000_000;
/// What is rebuilt at most while requests wait and none completes, bytes (rule R6): at 200 MB/s more than five minutes,
/// and hosts give up after half a minute. Without an end a run would take the time and memory of the whole rebuild.
const MAX_STARVING_BYTES: i64 = 64 << 30;

/// How far a rebuild has come, and when its next step begins.
pub struct Rebuild {
    /// Sectors of the lost disk's data area that are on the spare.
    front: i64,
    /// Sectors of it that steps have been begun for.
    begun: i64,
    step_began: i64,
    n_running: i64,
    is_scheduled: bool,
    /// First sectors of the steps that have ended before one that began earlier: a few at most.
    ended: Vec<i64>,
    is_yielding: bool,
    /// Sectors of the steps that have ended.
    n_done: i64,
    /// When the speed was noted, and what had been done then; the speed is the one since `mark`.
    marks: VecDeque<(i64, i64)>,
    mark: (i64, i64),
    /// Sectors of each disk that steps have begun to use, and those of others when the disk was last found in use.
    n_own: Vec<i64>,
    n_others: Vec<i64>,
    /// Requests that have completed, and what steps had been begun for when one last had, or none waited (rule R6).
    n_completed: u64,
    begun_then: i64,
}

impl Rebuild {
    pub fn new(layout: &Layout) -> Self {
        let front = layout.rebuild_front;
        let is_idle = layout.sync_action == SyncAction::None;
        let n_disks = if is_idle { 0 } else { (layout.n_disks + layout.n_spares) as usize };
        Rebuild {
            front,
            begun: front,
            step_began: 0,
            n_running: 0,
            is_scheduled: false,
            ended: Vec::new(),
            is_yielding: false,
            n_done: 0,
            marks: VecDeque::from([(0, 0); N_MARKS]),
            mark: (0, 0),
            n_own: vec![0; n_disks],
            n_others: vec![0; n_disks],
            n_completed: 0,
            begun_then: front,
        }
    }

    /// Sectors of the lost disk's data area that are on the spare.
    pub fn front(&self) -> i64 {
        self.front
    }

    /// Whether there is a pass that is not through yet.
    pub fn has_work(&self, layout: &Layout) -> bool {
        layout.pool.is_none() && layout.sync_action != SyncAction::None && self.front < layout.member
    }

    /// The step that begins now: its first sector; its pieces go to `plan`.
    fn begin_step(&mut self, layout: &Layout, now: i64, plan: &mut Plan) -> i64 {
        let first = self.begun;
        self.is_scheduled = false;
        self.step_began = now;
        self.begun = (first + layout.rebuild_window).min(layout.member);
        self.n_running += 1;
        layout.rebuild_step(first, plan);
        for piece in plan.first.iter().chain(&plan.then) {
            self.n_own[piece.disk() as usize] += piece.n;
        }
        first
    }

    /// Whether the rebuild keeps up its least speed, on the average since the mark (rule R5).
    fn is_fast_enough(&mut self, layout: &Layout, now: i64) -> bool {
        let (newest, _) = self.marks[N_MARKS - 1];
        if now >= newest + MARK_STEP_NS {
            self.mark = self.marks.pop_front().unwrap_or_default();
            self.marks.push_back((now, self.n_done));
        }
        let (since, done) = self.mark;
        (self.n_done - done) / ((now - since) / 1_000_000_000 + 1) >= layout.rebuild_speed_min
    }

    /// Whether requests wait for the rebuild without an end (rule R6).
    fn starves(&mut self, n_issued: u64, n_completed: u64, sector_bytes: i64) -> bool {
        if n_issued == n_completed || n_completed != self.n_completed {
            (self.n_completed, self.begun_then) = (n_completed, self.begun);
        }
        self.begun - self.begun_then > MAX_STARVING_BYTES / sector_bytes
    }

    /// Whether others have used a disk since it was last found in use (rule R5); `used` gives the sectors of each.
    fn is_array_in_use(&mut self, layout: &Layout, used: impl Iterator<Item = i64>) -> bool {
        let idle = layout.rebuild_idle;
        let mut is_in_use = false;
        for ((n_used, n_own), last) in used.zip(&self.n_own).zip(&mut self.n_others) {
            let n_others = n_used - n_own;
            if n_others - *last > idle {
                *last = n_others;
                is_in_use = true;
            }
        }
        is_in_use
    }

    /// The step that began at `first` has ended.
    fn end_step(&mut self, layout: &Layout, first: i64) {
        self.n_running -= 1;
        self.n_done += layout.rebuild_window.min(layout.member - first);
        self.ended.push(first);
        while let Some(i) = self.ended.iter().position(|&ended| ended == self.front) {
            self.ended.swap_remove(i);
            self.front = (self.front + layout.rebuild_window).min(layout.member);
        }
    }

    /// When the next step begins, if there is one and it may.
    fn next_step(&mut self, layout: &Layout, now: i64) -> Option<i64> {
        let most = if self.is_yielding { 1 } else { layout.rebuild_steps };
        if self.is_scheduled || self.n_running >= most || self.begun >= layout.member {
            return None;
        }
        self.is_scheduled = true;
        let gap = layout.rebuild_gap_ns;
        Some(now.max(self.step_began + gap))
    }
}

impl Md {
    pub(in crate::simulation) fn schedule_rebuild<D: Device>(
        &self,
        time: i64,
        drives: &Drives<D>,
        events: &mut Events,
    ) {
        events.at(time, ARRIVE, drives.len() + 1, 0, Action::RebuildStep);
    }

    fn schedule_next_step<D: Device>(&mut self, layout: &Layout, drives: &Drives<D>, events: &mut Events) {
        if let Some(time) = self.rebuild.next_step(layout, events.now) {
            self.schedule_rebuild(time, drives, events);
        }
    }

    /// A step has ended that began at this sector.
    pub(in crate::simulation) fn rebuilt<D: Device>(
        &mut self,
        first: i64,
        layout: &Layout,
        drives: &Drives<D>,
        events: &mut Events,
    ) {
        self.rebuild.end_step(layout, first);
        self.schedule_next_step(layout, drives, events);
    }

    /// The disks have a step: it yields to others, or not, and the next one begins when it may.
    fn step_begun<D: Device>(&mut self, layout: &Layout, drives: &Drives<D>, events: &mut Events) {
        let rebuild = &mut self.rebuild;
        rebuild.is_yielding =
            rebuild.is_fast_enough(layout, events.now) && rebuild.is_array_in_use(layout, drives.used());
        self.schedule_next_step(layout, drives, events);
    }
}

impl<D: Device, F: AboveVolume<D>> WithKinds<D, F> {
    pub(in crate::simulation) fn rebuild_step(&mut self) {
        let progress = self.kind.front.progress();
        if self.kind.md.rebuild.starves(progress.n_issued, progress.n_done, self.drives.sector_bytes()) {
            progress.starve();
        }
        let first = self.kind.md.rebuild.begin_step(&self.volume.layout, self.events.now, &mut self.volume.plan);
        self.start(Owner::Rebuild(first), self.events.now, true, None);
        self.kind.md.step_begun(&self.volume.layout, &self.drives, &mut self.events);
    }
}

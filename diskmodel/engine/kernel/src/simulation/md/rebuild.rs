//! A rebuild, a check or a resync: step after step over the members (rules R1 to R8); see
//! `diskmodel/engine/reference/md/rebuild.py`.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::device::Device;
use crate::events::{Action, ARRIVE};
use crate::layout::{Layout, Plan, SyncAction};
use crate::progress::Progress;
use crate::simulation::block::submission::Request;
use crate::simulation::md::barrier::Barrier;
use crate::simulation::md::{HasMd, OfMd};
use crate::simulation::{AboveVolume, Array, Owner};

/// Number of notes of the speed, and the time between two (rule R5).
const N_MARKS: usize = 10;
const MARK_STEP_NS: i64 = 3_000_000_000;
/// What is rebuilt at most while requests wait and none completes, bytes (rule R6): at 200 MB/s more than five minutes,
/// and hosts give up after half a minute. Without an end a run would take the time and memory of the whole rebuild.
const MAX_STARVING_BYTES: i64 = 64 << 30;
/// The same in steps, of small windows: 16 GiB of 4 KiB.
const MAX_STARVING_STEPS: i64 = 4 << 20;

/// How far a rebuild has come, and when its next step begins.
pub struct Rebuild {
    /// Sectors of the lost disk's data area that are on the spare.
    front: i64,
    /// Sectors of it that steps have been begun for.
    begun: i64,
    step_began: i64,
    n_running: i64,
    is_scheduled: bool,
    /// First sectors of the steps that have ended before one that began earlier, the lowest first: a few, unless that one
    /// waits at a busy disk.
    ended: BinaryHeap<Reverse<i64>>,
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
    /// Who may go where requests and steps wait for each other.
    barrier: Option<Box<Barrier>>,
}

impl Rebuild {
    /// None where no pass goes on.
    pub fn of(layout: &Layout) -> Option<Self> {
        if layout.sync_action == SyncAction::None {
            return None;
        }
        let front = layout.rebuild_front;
        let n_disks = (layout.n_disks + layout.n_spares) as usize;
        Some(Rebuild {
            front,
            begun: front,
            step_began: 0,
            n_running: 0,
            is_scheduled: false,
            ended: BinaryHeap::new(),
            is_yielding: false,
            n_done: 0,
            marks: VecDeque::from([(0, 0); N_MARKS]),
            mark: (0, 0),
            n_own: vec![0; n_disks],
            n_others: vec![0; n_disks],
            n_completed: 0,
            begun_then: front,
            barrier: Barrier::of(layout).map(Box::new),
        })
    }

    /// Sectors of the lost disk's data area that are on the spare.
    pub fn front(&self) -> i64 {
        self.front
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
    fn starves(&mut self, n_issued: u64, n_completed: u64, sector_bytes: i64, window: i64) -> bool {
        if n_issued == n_completed || n_completed != self.n_completed {
            (self.n_completed, self.begun_then) = (n_completed, self.begun);
        }
        self.begun - self.begun_then > (MAX_STARVING_BYTES / sector_bytes).min(MAX_STARVING_STEPS * window)
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
        self.ended.push(Reverse(first));
        while self.ended.peek() == Some(&Reverse(self.front)) {
            self.ended.pop();
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

impl<D: Device, K: HasMd<D>> Array<D, K> {
    /// The first step begins with the run, if there is something to do.
    pub(in crate::simulation) fn begin_rebuild(&mut self) {
        let member = self.volume.layout.member;
        if self.kind.rebuild().is_some_and(|rebuild| rebuild.front < member) {
            self.schedule_rebuild(0);
        }
    }

    fn schedule_rebuild(&mut self, time: i64) {
        self.events.at(time, ARRIVE, self.drives.len() + 1, 0, Action::RebuildStep);
    }

    pub(in crate::simulation) fn rebuild_step(&mut self) {
        let Progress { n_issued, n_done, .. } = *self.kind.front().progress();
        let (sector_bytes, window) = (self.drives.sector_bytes(), self.volume.layout.rebuild_window);
        let Some(rebuild) = self.kind.rebuild() else { return };
        if rebuild.starves(n_issued, n_done, sector_bytes, window) {
            self.kind.front().progress().starve();
        }
        let now = self.events.now;
        let Some(rebuild) = self.kind.rebuild() else { return };
        if !rebuild.barrier.as_mut().is_none_or(|barrier| barrier.may_begin(now)) {
            return;
        }
        let first = rebuild.begin_step(&self.volume.layout, self.events.now, &mut self.volume.plan);
        self.start(Owner::Md(OfMd::Rebuild(first)), self.events.now, true, None);
        // the disks have the step: it yields to others, or not, and the next one begins when it may
        let (layout, now) = (&self.volume.layout, self.events.now);
        let Some(rebuild) = self.kind.rebuild() else { return };
        rebuild.is_yielding =
            rebuild.is_fast_enough(layout, now) && rebuild.is_array_in_use(layout, self.drives.used());
        self.schedule_next_step();
    }

    /// A step has ended that began at this sector.
    pub(super) fn rebuilt(&mut self, first: i64) {
        if let Some(rebuild) = self.kind.rebuild() {
            rebuild.end_step(&self.volume.layout, first);
            if let Some(waiting) = rebuild.barrier.as_mut().and_then(|barrier| barrier.end_step()) {
                self.requests_go(waiting);
            }
        }
        self.schedule_next_step();
    }

    fn barrier(&mut self) -> Option<&mut Barrier> {
        self.kind.rebuild()?.barrier.as_deref_mut()
    }

    /// The request, if it may begin; otherwise it begins when no step is in progress.
    #[inline(never)]
    pub(super) fn pass_barrier(&mut self, request: Request) -> Option<Request> {
        match self.barrier() {
            Some(barrier) => barrier.enter(request),
            None => Some(request),
        }
    }

    /// Requests that have waited begin, and the next step when it may.
    fn requests_go(&mut self, waiting: Vec<Request>) {
        for request in waiting {
            if self.block.is_host_thread() {
                self.block.wait_for_thread(request);
                self.proceed();
            } else {
                self.begin_access(request);
            }
        }
        let now = self.events.now;
        if let Some(due) = self.barrier().and_then(Barrier::due) {
            self.schedule_rebuild(now.max(due));
        }
    }

    /// A request has ended: a step may wait for that.
    #[inline(never)]
    pub(super) fn leave_barrier(&mut self) {
        if self.barrier().is_some_and(Barrier::leave) {
            self.schedule_rebuild(self.events.now);
        }
    }

    fn schedule_next_step(&mut self) {
        let (layout, now) = (&self.volume.layout, self.events.now);
        if let Some(time) = self.kind.rebuild().and_then(|rebuild| rebuild.next_step(layout, now)) {
            self.schedule_rebuild(time);
        }
    }
}

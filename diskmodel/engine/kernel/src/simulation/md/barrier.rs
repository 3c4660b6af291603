//! Requests and steps of a pass over the members that wait for each other, at the barriers of Linux's RAID 10 (rule R8); see
//! `diskmodel/engine/reference/md/barrier.py`.

use crate::layout::Layout;
use crate::simulation::block::submission::Request;

pub struct Barrier {
    /// How long the pass sleeps where requests wait.
    pause_ns: i64,
    n_steps: u64,
    n_requests: u64,
    /// Requests that wait for the steps.
    waiting: Vec<Request>,
    /// A step waits for the requests that have begun, and others for it.
    is_raised: bool,
    /// A step lets the requests that wait go first, and goes no earlier than this.
    due: Option<i64>,
}

impl Barrier {
    /// None where neither waits for the other.
    pub fn of(layout: &Layout) -> Option<Self> {
        (layout.rebuild_pause_ns > 0).then(|| Barrier {
            pause_ns: layout.rebuild_pause_ns,
            n_steps: 0,
            n_requests: 0,
            waiting: Vec::new(),
            is_raised: false,
            due: None,
        })
    }

    /// The request, if it may begin.
    pub fn enter(&mut self, request: Request) -> Option<Request> {
        if self.is_raised || self.n_steps > 0 {
            self.waiting.push(request);
            return None;
        }
        self.n_requests += 1;
        Some(request)
    }

    /// A request has ended; whether a step may begin that has waited for that.
    pub fn leave(&mut self) -> bool {
        self.n_requests -= 1;
        self.is_raised && self.n_requests == 0
    }

    /// Whether a step may begin; if not it does so later by itself.
    pub fn may_begin(&mut self, now: i64) -> bool {
        if !self.is_raised {
            if !self.waiting.is_empty() {
                self.due = Some(now + self.pause_ns);
                return false;
            }
            if self.n_requests > 0 {
                self.is_raised = true;
                return false;
            }
        }
        self.is_raised = false;
        self.n_steps += 1;
        true
    }

    /// A step has ended; with the last one in progress the requests that wait may begin.
    pub fn end_step(&mut self) -> Option<Vec<Request>> {
        self.n_steps -= 1;
        if self.n_steps > 0 {
            return None;
        }
        self.waiting.iter_mut().for_each(|request| request.has_passed = true);
        self.n_requests = self.waiting.len() as u64;
        Some(std::mem::take(&mut self.waiting))
    }

    /// When a step may begin that has let requests go first.
    pub fn due(&mut self) -> Option<i64> {
        self.due.take()
    }
}

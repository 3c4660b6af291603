//! Who hands commands to the disks, one after the other, and sleeps at a write that has to wait (rules Q10 and Q11);
//! see `diskmodel/engine/reference/submission.py`.

use std::collections::VecDeque;

use crate::command::Command;
use crate::device::Device;
use crate::drives::Drives;
use crate::events::{Action, Events, ARRIVE, LAST};
use crate::mechanics::READ;
use crate::queue::WriteThrottle;
use crate::simulation::md::Turn;
use crate::simulation::{AboveDisks, Array, BlockLayer, Owner};

/// A request that the thread takes when it is awake.
pub struct Request {
    pub(in crate::simulation) owner: Owner,
    pub(in crate::simulation) op: u8,
    pub(in crate::simulation) sector: i64,
    pub(in crate::simulation) n: i64,
    pub(in crate::simulation) asked: i64,
    /// It has waited at the barrier of a rebuild (rule R8), and goes on.
    pub(in crate::simulation) has_passed: bool,
}

/// What the thread does in order.
pub(in crate::simulation) enum Work {
    /// Hand over this command; the block layer does it itself.
    HandOver(u32),
    /// Notice that the access with this last command has ended.
    End(Command),
    /// Do something for the volume.
    Turn(Turn),
    /// Begin a request.
    Begin(Request),
}

/// One thread, and the writes that each disk may be given.
pub struct Submitter {
    throttles: Vec<WriteThrottle>,
    held: VecDeque<Work>,
    requests: VecDeque<Request>,
    /// Last commands of accesses that have ended and have not been noticed.
    ends: VecDeque<Command>,
    /// How long the host works between two completions that it notices.
    host_work_ns: i64,
    is_in_turn: bool,
    is_asleep: bool,
    /// It has the bitmap written and sleeps until its bits are set (rule L13).
    sleeps_for_bits: bool,
    /// It is at work, and goes on by itself with whatever that gives it to do.
    is_proceeding: bool,
    /// The thread is the host's own (mirrors); parity arrays have one of their own.
    pub is_host_thread: bool,
}

impl Submitter {
    pub fn new(throttles: Vec<WriteThrottle>, is_host_thread: bool, host_work_ns: i64) -> Self {
        Submitter {
            throttles,
            held: VecDeque::new(),
            requests: VecDeque::new(),
            ends: VecDeque::new(),
            host_work_ns,
            is_in_turn: false,
            is_asleep: false,
            sleeps_for_bits: false,
            is_proceeding: false,
            is_host_thread,
        }
    }
}

impl BlockLayer {
    /// Whether the host's own thread hands commands to the disks.
    pub(in crate::simulation) fn is_host_thread(&self) -> bool {
        self.submitter.as_ref().is_some_and(|s| s.is_host_thread)
    }

    /// Lets a request wait until the thread has handed over what it sleeps at.
    #[inline(always)]
    pub(in crate::simulation) fn wait_for_thread(&mut self, request: Request) {
        if let Some(s) = &mut self.submitter {
            s.requests.push_back(request);
        }
    }

    /// Lets an access that has ended wait until the thread notices it.
    pub(in crate::simulation) fn wait_for_notice(&mut self, last: Command) {
        if let Some(s) = &mut self.submitter {
            s.ends.push_back(last);
        }
    }

    /// Work for the thread, behind what it still has.
    pub(in crate::simulation) fn hand_work(&mut self, work: Work) {
        if let Some(s) = &mut self.submitter {
            s.held.push_back(work);
        }
    }

    /// Commands for the thread, behind what it still has.
    pub(in crate::simulation) fn hand_commands<D: Device>(&mut self, ids: &[u32], drives: &mut Drives<D>) {
        ids.iter().for_each(|&id| drives.reserve(id));
        if let Some(s) = &mut self.submitter {
            s.held.extend(ids.iter().map(|&id| Work::HandOver(id)));
        }
    }

    /// The thread sleeps until the bitmap, or the superblock, has been written; or it has been.
    pub(in crate::simulation) fn sleep_for_bits(&mut self, sleeps: bool) {
        if let Some(s) = &mut self.submitter {
            s.sleeps_for_bits = sleeps;
        }
    }

    /// The host has issued what the completion that it noticed last let it issue.
    fn turn_ended(&mut self) {
        if let Some(s) = &mut self.submitter {
            s.is_in_turn = false;
        }
    }

    /// Whether the thread begins to work now: not where it is at work already.
    fn begins_work(&mut self) -> bool {
        self.submitter.as_mut().is_some_and(|s| !std::mem::replace(&mut s.is_proceeding, true))
    }

    fn ends_work(&mut self) {
        if let Some(s) = &mut self.submitter {
            s.is_proceeding = false;
        }
    }

    /// What the thread does next beside handing over commands; None: it sleeps, or has nothing to do.
    fn next_work<D: Device>(&mut self, drives: &mut Drives<D>, events: &mut Events) -> Option<Work> {
        loop {
            let s = self.submitter.as_mut()?;
            if s.is_asleep || s.sleeps_for_bits {
                return None;
            }
            if let Some(&Work::HandOver(id)) = s.held.front() {
                let may_go = self.may_go(id, drives, events);
                let s = self.submitter.as_mut()?;
                if !may_go {
                    s.is_asleep = true;
                    return None;
                }
                s.held.pop_front();
                self.hand_reserved(id, drives, events);
                continue;
            }
            if let Some(work) = s.held.pop_front() {
                return Some(work);
            }
            if let Some(request) = s.requests.pop_front() {
                return Some(Work::Begin(request));
            }
            if s.is_in_turn {
                return None;
            }
            let last = s.ends.pop_front()?;
            if !s.ends.is_empty() {
                s.is_in_turn = true;
                let (end, device) = (events.now + s.host_work_ns, drives.len());
                events.at(end, ARRIVE, device, LAST, Action::TurnEnded);
            }
            return Some(Work::End(last));
        }
    }

    /// A command that passes the thread by.
    pub(in crate::simulation) fn hand_directly<D: Device>(
        &mut self,
        id: u32,
        drives: &mut Drives<D>,
        events: &mut Events,
    ) {
        drives.reserve(id);
        self.hand_reserved(id, drives, events);
    }

    /// A command has completed; true: the thread has waited for that.
    #[inline(always)]
    fn completed<D: Device>(&mut self, command: &Command, drives: &mut Drives<D>, events: &mut Events) -> bool {
        let response = events.now - command.arrived;
        let Some(s) = &mut self.submitter else { return false };
        let throttle = &mut s.throttles[command.device as usize];
        if command.is_bitmap {
            throttle.exempt_completed();
            return false;
        }
        throttle.completed(command.seq, command.op, response) && self.wakes(command.device, drives, events)
    }

    /// A window of a disk has ended; true: the thread has waited for that.
    fn window_ended<D: Device>(&mut self, device: u32, drives: &mut Drives<D>, events: &mut Events) -> bool {
        let now = events.now;
        let Some(s) = &mut self.submitter else { return false };
        let throttle = &mut s.throttles[device as usize];
        let limit = throttle.limit;
        if throttle.close_window(now) {
            self.open_window(device, events);
        }
        self.submitter.as_ref().is_some_and(|s| s.throttles[device as usize].limit > limit)
            && self.wakes(device, drives, events)
    }

    fn may_go<D: Device>(&mut self, id: u32, drives: &Drives<D>, events: &mut Events) -> bool {
        let &Command { op, device, .. } = drives.command(id);
        if op == READ {
            return true;
        }
        let Some(s) = &self.submitter else { return true };
        if !s.throttles[device as usize].is_open {
            self.open_window(device, events);
        }
        let Some(s) = &self.submitter else { return true };
        s.throttles[device as usize].has_place()
    }

    /// Hands over a command that has been counted already.
    fn hand_reserved<D: Device>(&mut self, id: u32, drives: &mut Drives<D>, events: &mut Events) {
        let now = events.now;
        let &Command { seq, op, device, is_bitmap, .. } = drives.command(id);
        if let (Some(s), false) = (&mut self.submitter, is_bitmap) {
            s.throttles[device as usize].issued(seq, op, now);
        }
        self.data_begins(id, drives);
        drives.submit_reserved(id, events);
    }

    /// Whether the thread, which sleeps at a command for this disk, wakes up.
    fn wakes<D: Device>(&mut self, device: u32, drives: &Drives<D>, events: &mut Events) -> bool {
        let Some(s) = &self.submitter else { return false };
        if !s.is_asleep {
            return false;
        }
        let Some(&Work::HandOver(id)) = s.held.front() else { return false };
        if drives.command(id).device != device || !self.may_go(id, drives, events) {
            return false;
        }
        if let Some(s) = &mut self.submitter {
            s.is_asleep = false;
        }
        true
    }

    fn open_window(&mut self, device: u32, events: &mut Events) {
        let Some(s) = &mut self.submitter else { return };
        let end = events.now + s.throttles[device as usize].open_window();
        events.at(end, ARRIVE, device, LAST, Action::WindowEnded(device));
    }
}

impl<D: Device, K: AboveDisks<D>> Array<D, K> {
    /// The host has issued what the completion that it noticed last let it issue.
    pub(in crate::simulation) fn turn_ended(&mut self) {
        self.block.turn_ended();
        self.proceed();
    }

    /// A command has completed.
    pub(in crate::simulation) fn throttled_completed(&mut self, command: Command) {
        if self.block.completed(&command, &mut self.drives, &mut self.events) {
            self.proceed();
        }
    }

    pub(in crate::simulation) fn window_ended(&mut self, device: u32) {
        if self.block.tags.is_some() {
            return self.window_of_places_ended();
        }
        if self.block.window_ended(device, &mut self.drives, &mut self.events) {
            self.proceed();
        }
    }

    /// The thread does what it has, until it sleeps.
    pub(in crate::simulation) fn proceed(&mut self) {
        // What the thread does gives it more to do. Were that begun at once, each access that waits would run within the
        // one before it, however many they are.
        if !self.block.begins_work() {
            return;
        }
        while let Some(work) = self.block.next_work(&mut self.drives, &mut self.events) {
            match work {
                Work::HandOver(_) => {}
                Work::End(last) => K::ended(self, &last),
                Work::Turn(turn) => K::take_turn(self, turn),
                Work::Begin(request) => K::begin(self, request),
            }
        }
        self.block.ends_work();
    }
}

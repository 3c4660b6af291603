//! Who hands commands to the disks, one after the other, and sleeps at a write that has to wait (rules Q10 and Q11);
//! see `diskmodel/engine/reference/submission.py`.

use std::collections::VecDeque;

use super::stripe_journal::Turn;
use super::{Owner, Simulation};
use crate::command::Command;
use crate::device::Device;
use crate::events::{Action, ARRIVE, LAST};
use crate::mechanics::READ;
use crate::queue::WriteThrottle;
use crate::traffic::Traffic;

/// A request that the thread takes when it is awake.
struct Request {
    owner: Owner,
    op: u8,
    sector: i64,
    n: i64,
    asked: i64,
}

/// What the thread does in order.
enum Work {
    /// Hand over this command.
    HandOver(u32),
    /// Notice that the access with this last command has ended.
    End(Command),
    /// Take the writes that wait for the bitmap.
    TakeWrites,
    /// Do something for the journal.
    Journal(Turn),
}

/// One thread, and the writes that each disk may be given.
pub struct Submitter {
    throttles: Vec<WriteThrottle>,
    held: VecDeque<Work>,
    requests: VecDeque<Request>,
    /// Last commands of accesses that have ended and have not been noticed.
    ends: VecDeque<Command>,
    /// How long the host works between two completions that it notices.
    turn_ns: i64,
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
    pub fn new(throttles: Vec<WriteThrottle>, is_host_thread: bool, turn_ns: i64) -> Self {
        Submitter {
            throttles,
            held: VecDeque::new(),
            requests: VecDeque::new(),
            ends: VecDeque::new(),
            turn_ns,
            is_in_turn: false,
            is_asleep: false,
            sleeps_for_bits: false,
            is_proceeding: false,
            is_host_thread,
        }
    }
}

impl<D: Device, T: Traffic> Simulation<D, T> {
    /// Whether the host's own thread hands commands to the disks.
    pub(super) fn is_host_thread(&self) -> bool {
        self.submitter.as_ref().is_some_and(|s| s.is_host_thread)
    }

    /// Starts an access in the thread: now, or when it has handed over what it sleeps at.
    #[inline(always)]
    pub(super) fn access_when_awake(&mut self, owner: Owner, op: u8, sector: i64, n: i64, asked: i64) {
        if let Some(s) = &mut self.submitter {
            s.requests.push_back(Request { owner, op, sector, n, asked });
        }
        self.proceed();
    }

    /// Notices in the thread that an access has ended.
    pub(super) fn finish_when_awake(&mut self, last: Command) {
        if let Some(s) = &mut self.submitter {
            s.ends.push_back(last);
        }
        self.proceed();
    }

    /// Notices in the array's thread that an access has ended, behind what the thread still has.
    pub(super) fn finish_in_thread(&mut self, last: Command) {
        if let Some(s) = &mut self.submitter {
            s.held.push_back(Work::End(last));
        }
        self.proceed();
    }

    /// Takes the writes that wait for the bitmap, behind what the array's thread still has.
    pub(super) fn take_waiting_in_turn(&mut self) {
        if let Some(s) = &mut self.submitter {
            s.held.push_back(Work::TakeWrites);
        }
        self.proceed();
    }

    /// Does something for the journal, behind what the array's thread still has.
    pub(super) fn hand_turn_to_thread(&mut self, turn: Turn) {
        if let Some(s) = &mut self.submitter {
            s.held.push_back(Work::Journal(turn));
        }
        self.proceed();
    }

    /// The thread sleeps until the bitmap, or the superblock, has been written.
    pub(super) fn sleep_for_bits(&mut self) {
        if let Some(s) = &mut self.submitter {
            s.sleeps_for_bits = true;
        }
    }

    /// The thread goes on: the bitmap has been written.
    pub(super) fn bits_set(&mut self) {
        if let Some(s) = &mut self.submitter {
            s.sleeps_for_bits = false;
        }
        self.proceed();
    }

    /// The host has issued what the completion that it noticed last let it issue.
    pub(super) fn turn_ended(&mut self) {
        if let Some(s) = &mut self.submitter {
            s.is_in_turn = false;
        }
        self.proceed();
    }

    /// Commands for the thread, behind those that it still has.
    pub(super) fn hand_to_thread(&mut self, ids: &[u32]) {
        ids.iter().for_each(|&id| self.drives.reserve(id));
        if let Some(s) = &mut self.submitter {
            s.held.extend(ids.iter().map(|&id| Work::HandOver(id)));
        }
        self.proceed();
    }

    /// A command that passes the thread by.
    pub(super) fn hand_directly(&mut self, id: u32) {
        self.drives.reserve(id);
        self.hand_reserved(id);
    }

    /// A command has completed.
    pub(super) fn throttled_completed(&mut self, command: Command) {
        let response = self.events.now - command.arrived;
        let Some(s) = &mut self.submitter else { return };
        let throttle = &mut s.throttles[command.device as usize];
        if command.is_bitmap {
            throttle.exempt_completed();
        } else if throttle.completed(command.seq, command.op, response) {
            self.wake_thread(command.device);
        }
    }

    pub(super) fn window_ended(&mut self, device: u32) {
        if self.places.is_some() {
            return self.window_of_places_ended();
        }
        let now = self.events.now;
        let Some(s) = &mut self.submitter else { return };
        let throttle = &mut s.throttles[device as usize];
        let limit = throttle.limit;
        if throttle.close_window(now) {
            self.open_window(device);
        }
        if self.submitter.as_ref().is_some_and(|s| s.throttles[device as usize].limit > limit) {
            self.wake_thread(device);
        }
    }

    fn proceed(&mut self) {
        // What the thread does gives it more to do. Were that begun at once, each access that waits would run within the
        // one before it, however many they are.
        match &mut self.submitter {
            Some(s) if !s.is_proceeding => s.is_proceeding = true,
            _ => return,
        }
        self.work_until_asleep();
        if let Some(s) = &mut self.submitter {
            s.is_proceeding = false;
        }
    }

    fn work_until_asleep(&mut self) {
        loop {
            let Some(s) = &mut self.submitter else { return };
            if s.is_asleep || s.sleeps_for_bits {
                return;
            }
            if let Some(&Work::HandOver(id)) = s.held.front() {
                if !self.may_go(id) {
                    if let Some(s) = &mut self.submitter {
                        s.is_asleep = true;
                    }
                    return;
                }
            }
            let Some(s) = &mut self.submitter else { return };
            match s.held.pop_front() {
                Some(Work::HandOver(id)) => {
                    self.hand_reserved(id);
                    continue;
                }
                Some(Work::End(last)) => {
                    self.finish_access(&last);
                    continue;
                }
                Some(Work::TakeWrites) => {
                    self.take_waiting();
                    continue;
                }
                Some(Work::Journal(turn)) => {
                    self.do_for_journal(turn);
                    continue;
                }
                None => {}
            }
            if let Some(Request { owner, op, sector, n, asked }) = s.requests.pop_front() {
                self.begin_access(owner, op, sector, n, asked);
                continue;
            }
            if s.is_in_turn {
                return;
            }
            let Some(last) = s.ends.pop_front() else { return };
            if !s.ends.is_empty() {
                s.is_in_turn = true;
                let (end, device) = (self.events.now + s.turn_ns, self.drives.len());
                self.events.at(end, ARRIVE, device, LAST, Action::TurnEnded);
            }
            self.finish_access(&last);
        }
    }

    fn may_go(&mut self, id: u32) -> bool {
        let &Command { op, device, .. } = self.drives.command(id);
        if op == READ {
            return true;
        }
        let Some(s) = &self.submitter else { return true };
        if !s.throttles[device as usize].is_open {
            self.open_window(device);
        }
        let Some(s) = &self.submitter else { return true };
        s.throttles[device as usize].has_place()
    }

    /// Hands over a command that has been counted already.
    fn hand_reserved(&mut self, id: u32) {
        let now = self.events.now;
        let &Command { seq, op, device, is_bitmap, .. } = self.drives.command(id);
        if let (Some(s), false) = (&mut self.submitter, is_bitmap) {
            s.throttles[device as usize].issued(seq, op, now);
        }
        self.data_begins(id);
        self.drives.submit_reserved(id, &mut self.events);
    }

    fn wake_thread(&mut self, device: u32) {
        let Some(s) = &self.submitter else { return };
        if !s.is_asleep {
            return;
        }
        let Some(&Work::HandOver(id)) = s.held.front() else { return };
        if self.drives.command(id).device == device && self.may_go(id) {
            if let Some(s) = &mut self.submitter {
                s.is_asleep = false;
            }
            self.proceed();
        }
    }

    fn open_window(&mut self, device: u32) {
        let Some(s) = &mut self.submitter else { return };
        let end = self.events.now + s.throttles[device as usize].open_window();
        self.events.at(end, ARRIVE, device, LAST, Action::WindowEnded(device));
    }
}

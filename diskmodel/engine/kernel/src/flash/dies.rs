//! Dies, channels and interface: when each page is read and programmed (rules F3 to F7); see
//! `diskmodel/drive/flash/dies.py`.
//!
//! Reads are assigned when they come; programs wait in the buffer and start when their die is free, so a read that comes
//! before that goes first. `start_until` catches up with what has started by itself.

use std::cmp::{Ordering, Reverse};
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};

use super::gate::LATELY_NS;
use super::wire::Wire;
use super::Model;
use crate::events::LAST_NS;
use crate::generator::Generator;

/// What waits for a die in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    Program,
    CopyRead,
    CopyProgram,
    Erase,
}

/// Background work, not before `ready`; a PROGRAM takes `page` out of the buffer when it ends, other work -1.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    pub work: Work,
    pub ready: i64,
    pub page: i64,
}

/// Background work that has started, of a die its `nth`. What ends at one time may be applied in any order.
#[derive(Clone, Copy, Debug)]
pub struct Ending {
    time: i64,
    pub page: i64,
    held: i64,
    die: u32,
    nth: u32,
}

impl PartialEq for Ending {
    fn eq(&self, other: &Self) -> bool {
        self.time == other.time
    }
}

impl Eq for Ending {}

impl PartialOrd for Ending {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ending {
    // reversed: BinaryHeap gives the greatest first, the earliest comes first here
    fn cmp(&self, other: &Self) -> Ordering {
        other.time.cmp(&self.time)
    }
}

/// The background work that a die started last.
#[derive(Clone, Copy, Debug, Default)]
struct Running {
    nth: u32,
    end: i64,
    /// When it goes on after the reads that suspended it; 0: it was never suspended.
    resumes: i64,
    is_suspendable: bool,
}

#[derive(Clone, Debug, Default)]
struct Die {
    free: i64,
    jobs: VecDeque<Job>,
    /// The page that it sensed last, and when that was done.
    register: Option<(i64, i64)>,
    running: Running,
}

impl Die {
    fn next_start(&self) -> Option<i64> {
        self.jobs.front().map(|job| self.free.max(job.ready))
    }

    /// Interrupts a program or an erase for a read; returns when that is sensed, None where it has to wait (rule F21).
    fn suspend(&mut self, now: i64, writes_wait: bool, draws: &mut Generator, model: &Model) -> Option<i64> {
        let running = &mut self.running;
        if writes_wait || !running.is_suspendable || running.end <= now {
            return None;
        }
        let mut start = running.resumes;
        if start <= now {
            start = now + draws.one_of(&model.suspend_ns);
            if start >= running.end {
                return None;
            }
        }
        running.resumes = start + model.read_ns;
        running.end = (running.end + model.read_ns).min(LAST_NS);
        self.free = running.end;
        Some(running.resumes)
    }
}

/// Dies of one drive and their wires.
pub struct Dies {
    dies: Vec<Die>,
    channels: Vec<Wire>,
    interface: Wire,
    starts: BinaryHeap<Reverse<(i64, u32)>>,
    endings: BinaryHeap<Ending>,
    busy: i64,
    floor: i64,
    last: i64,
    /// Draws of the times until something is suspended (rule F21).
    suspensions: Generator,
    /// When a die last sensed for a read (rule F27).
    read: i64,
}

impl Dies {
    pub fn new(model: &Model, draw: u32) -> Self {
        Dies {
            dies: vec![Die::default(); model.n_dies()],
            channels: vec![Wire::default(); model.channels],
            interface: Wire::default(),
            starts: BinaryHeap::new(),
            endings: BinaryHeap::new(),
            busy: 0,
            floor: 0,
            last: 0,
            suspensions: Generator::new(draw),
            read: -LATELY_NS - 1,
        }
    }

    /// Time for which the dies were held, all together.
    pub fn busy_ns(&self) -> i64 {
        self.busy
    }

    /// The drive acts at `now`: what starts before has started.
    pub fn advance(&mut self, now: i64, model: &Model) {
        self.floor = self.last;
        self.last = now;
        self.start_until(now - 1, model);
    }

    /// When the drive last acted.
    pub fn now(&self) -> i64 {
        self.last
    }

    /// Background work that has ended, one at a time.
    pub fn next_ending(&mut self, now: i64) -> Option<Ending> {
        if self.next_end()? > now {
            return None;
        }
        let ending = self.endings.pop()?;
        self.busy = self.busy.saturating_add(ending.held);
        Some(ending)
    }

    /// The die is busy from before the run: for the share `nth / n_dies` of what it has to do first (rule F18).
    pub fn hold(&mut self, die: usize, nth: i64, model: &Model) {
        let needs = |job: &Job| match job.work {
            Work::Program | Work::CopyProgram => model.program_ns,
            Work::CopyRead => model.read_ns,
            Work::Erase => 0,
        };
        let total: i64 = self.dies[die].jobs.iter().map(needs).sum();
        let until = nth * total / model.n_dies() as i64;
        self.dies[die].free = until;
        self.endings.push(Ending { time: until, page: -1, held: until, die: die as u32, nth: 0 });
    }

    /// When background work next ends; what was suspended ends later than was known when it started.
    fn next_end(&mut self) -> Option<i64> {
        loop {
            let mut first = self.endings.peek_mut()?;
            let running = &self.dies[first.die as usize].running;
            if first.nth != running.nth || first.time >= running.end {
                return Some(first.time);
            }
            first.time = running.end;
        }
    }

    /// Whether nothing goes on in the background, or will.
    pub fn is_quiet(&self) -> bool {
        self.endings.is_empty() && self.starts.is_empty()
    }

    /// When work next ends or may start.
    pub fn next_change(&mut self) -> Option<i64> {
        let end = self.next_end();
        let start = self.starts.peek().map(|s| s.0 .0);
        match (end, start) {
            (Some(end), Some(start)) => Some(end.min(start)),
            (end, start) => end.or(start),
        }
    }

    /// Starts what may start by `now`; an entry of the heap is never later than the true start of its die's first job.
    pub fn start_until(&mut self, now: i64, model: &Model) {
        if self.starts.peek().is_none_or(|s| s.0 .0 > now) {
            return;
        }
        let mut starts = std::mem::take(&mut self.starts);
        while let Some(mut first) = starts.peek_mut() {
            let Reverse((seen, die)) = *first;
            if seen > now {
                break;
            }
            if self.dies[die as usize].next_start() == Some(seen) {
                self.start(die as usize, seen, model);
            }
            match self.dies[die as usize].next_start() {
                Some(next) => *first = Reverse((next, die)),
                None => _ = PeekMut::pop(first),
            }
        }
        self.starts = starts;
    }

    pub fn add(&mut self, die: usize, job: Job) {
        let jobs = &mut self.dies[die].jobs;
        jobs.push_back(job);
        if jobs.len() == 1 {
            let start = self.dies[die].free.max(job.ready);
            self.starts.push(Reverse((start, die as u32)));
        }
    }

    /// Starts all jobs of a die, in order; returns the end of the last one (rule F11).
    pub fn start_all(&mut self, die: usize, model: &Model) -> i64 {
        let mut end = 0;
        while let Some(at) = self.dies[die].next_start() {
            end = self.start(die, at, model);
        }
        end
    }

    /// Starts the first job of a die; returns when it ends (rule F6).
    fn start(&mut self, at_die: usize, at: i64, model: &Model) -> i64 {
        let die = &mut self.dies[at_die];
        let Some(job) = die.jobs.pop_front() else { return at };
        die.register = None;
        let channel = &mut self.channels[model.channel_of(at_die)];
        let beside_reads = if at - self.read <= LATELY_NS { model.program_beside_reads_ns } else { 0 };
        let end = match job.work {
            Work::CopyRead => {
                let end = at + model.read_ns;
                channel.reserve(end, model.page_ns, self.floor);
                end
            }
            Work::Erase => at + model.erase_ns,
            Work::Program | Work::CopyProgram => {
                channel.reserve(at, model.page_ns, self.floor) + model.program_ns + beside_reads
            }
        };
        let end = end.min(LAST_NS);
        die.free = end;
        let nth = die.running.nth.wrapping_add(1);
        let is_suspendable = model.suspends && job.work != Work::CopyRead;
        die.running = Running { nth, end, resumes: 0, is_suspendable };
        self.endings.push(Ending { time: end, page: job.page, held: end - at, die: at_die as u32, nth });
        end
    }

    /// End of a transfer over the interface that may begin at `earliest`.
    pub fn send(&mut self, earliest: i64, ns: i64) -> i64 {
        self.interface.reserve(earliest, ns, self.floor)
    }

    /// When the requested part of a page has left its die, and how long that took without waiting (rule F4).
    ///
    /// While writes wait for room, reads do not starve the programs (rule F7).
    pub fn sense(&mut self, now: i64, page: i64, n_sectors: i64, writes_wait: bool, model: &Model) -> (i64, i64) {
        let at_die = model.die_of(page);
        if writes_wait {
            let die = &self.dies[at_die];
            if die.jobs.front().is_some_and(|job| job.ready <= now) {
                self.start(at_die, die.free.max(now), model);
            }
        }
        let move_ns = model.channel_ns(n_sectors);
        let (die, channel) = (&mut self.dies[at_die], &mut self.channels[model.channel_of(at_die)]);
        if let Some((held, sensed)) = die.register {
            if held == page {
                return (channel.reserve(now.max(sensed), move_ns, self.floor), move_ns);
            }
        }
        self.read = now;
        let suspended = die.suspend(now, writes_wait, &mut self.suspensions, model);
        let sensed = suspended.unwrap_or_else(|| {
            let sensed = (now.max(die.free) + model.read_ns).min(LAST_NS);
            die.free = sensed;
            die.register = Some((page, sensed));
            sensed
        });
        self.busy = self.busy.saturating_add(model.read_ns);
        (channel.reserve(sensed, move_ns, self.floor), model.read_ns + move_ns)
    }
}

//! An arm of a disk and the commands that wait for it (rules D3, L12).

use std::collections::VecDeque;

use super::read_ahead::Stream;
use crate::cache::Segment;
use crate::mechanics::Arm;
use crate::media_cache::MediaLog;
use crate::queue::{Policy, Pool, Waiting};

/// An arm, what it did last, and what waits for it.
pub(super) struct Actuator {
    pub scheduler: Policy,
    pub first_lba: i64,
    pub arm: Arm,
    /// When its last access begins and ends.
    pub begun_ns: i64,
    pub free_ns: i64,
    /// With a media cache: when the head moved for that access, after a cleaning; when the last access that was no
    /// cleaning ended; and when the disk looks whether to clean.
    pub moved_ns: i64,
    pub worked_ns: i64,
    pub rouse_ns: i64,
    pub media: Option<Box<MediaLog>>,
    pub served_end: i64,
    /// From when on it may take what is overdue again (rule D12).
    pub may_give_way_ns: i64,
    /// Commands that the drive processes, in the order in which they become ready; then those that wait for the arm.
    pub accepted: VecDeque<Waiting>,
    pub ready: Pool,
    /// Those that are not weighed yet, because others came before them (rule D3).
    pub beyond: VecDeque<Waiting>,
    pub stream: Option<Stream>,
    /// Segment of the stream that its last access stayed on (rule C5).
    pub went_on: Option<Segment>,
    /// Kept for a write since `free_ns`, and that write when it has come (rule L12).
    pub is_held: bool,
    pub follower: Option<u32>,
    pub is_follower_ready: bool,
}

impl Actuator {
    pub fn new(first_lba: i64, scheduler: Policy, media: Option<Box<MediaLog>>) -> Self {
        Actuator {
            scheduler,
            first_lba,
            arm: Arm::default(),
            begun_ns: 0,
            free_ns: 0,
            moved_ns: 0,
            worked_ns: 0,
            rouse_ns: 0,
            media,
            served_end: first_lba,
            may_give_way_ns: 0,
            accepted: VecDeque::new(),
            ready: Pool::default(),
            beyond: VecDeque::new(),
            stream: None,
            went_on: None,
            is_held: false,
            follower: None,
            is_follower_ready: false,
        }
    }

    /// Whether nothing happens to it unless a command comes.
    pub fn is_idle(&self, now: i64) -> bool {
        let has_none = self.accepted.is_empty() && self.ready.is_empty() && self.beyond.is_empty();
        has_none && !self.is_held && self.free_ns <= now
    }

    /// A command that the buffer does not serve now waits for the arm.
    pub fn enter(&mut self, waiting: Waiting, most: usize) {
        if self.ready.len() < most && self.beyond.is_empty() {
            self.ready.push(waiting, &self.scheduler);
        } else {
            self.beyond.push_back(waiting);
        }
    }

    /// Fills up what the scheduler chooses among.
    pub fn weigh(&mut self, most: usize) {
        while self.ready.len() < most {
            let Some(waiting) = self.beyond.pop_front() else { return };
            self.ready.push(waiting, &self.scheduler);
        }
    }

    /// Releases the arm; returns for how long it was held.
    pub fn release(&mut self, now: i64) -> i64 {
        let held = now - self.free_ns;
        self.free_ns = now;
        self.is_held = false;
        self.follower = None;
        self.is_follower_ready = false;
        held
    }
}

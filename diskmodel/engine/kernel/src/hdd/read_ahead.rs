//! What an arm goes on reading after a read (rules C3 to C5).

use super::actuator::Actuator;
use super::arms::OwnArm;
use super::{Disk, Model};
use crate::cache::Segment;
use crate::mechanics::{Access, Extent, Progress, READ};
use crate::queue::Waiting;

pub(super) struct Stream {
    segment: Segment,
    limit: i64,
    from: Progress,
    /// The last track that it has read to its end. Followed from there, a long stream takes no longer than a short one.
    reached: Progress,
    /// When it was last followed; again at the same time would change nothing.
    followed_ns: i64,
    /// Whether the last read stayed on it.
    is_long: bool,
}

impl Disk {
    #[inline(always)]
    pub(super) fn start_stream(&mut self, i: usize, lba: i64, n: i64, access: &Access, model: &Model) {
        let e = &model.electronics;
        let end = lba + n;
        let passed = model.passed(self.actuators[i].first_lba, lba, access.first_wait, self.spindle.revolution);
        let went_on = self.actuators[i].went_on.take();
        let is_long = went_on.is_some();
        let segment = match went_on {
            Some(segment) => self.segments.go_on(segment, end),
            None => self.segments.insert(lba - passed, end),
        };
        if let Some(segment) = segment {
            if e.read_ahead_sectors > 0 {
                let actuator = &mut self.actuators[i];
                let limit = model.stream_limit(actuator.first_lba, lba, end);
                let from = Progress { lba: end - actuator.first_lba, at_ns: access.end, arm: access.arm };
                actuator.stream = Some(Stream { segment, limit, from, reached: from, followed_ns: -1, is_long });
            }
        }
    }

    #[inline]
    pub(super) fn follow_stream(&mut self, i: usize, model: &Model, now: i64) {
        if self.actuators[i].stream.is_some() {
            self.follow(i, model, now);
        }
    }

    fn follow(&mut self, i: usize, model: &Model, now: i64) {
        let Disk { actuators, segments, spindle, .. } = self;
        let actuator = &mut actuators[i];
        let first = actuator.first_lba;
        let Some(stream) = actuator.stream.as_mut() else { return };
        // a stream that begins now has read nothing yet, and the arm is where it begins
        if stream.from.at_ns >= now || stream.followed_ns == now {
            return;
        }
        stream.followed_ns = now;
        let (front, arm) = model.mechanics.streamed(spindle, &mut stream.reached, stream.limit - first, now);
        actuator.arm = arm;
        segments.extend(&mut stream.segment, front + first);
        if model.electronics.reads_whole_track && now - stream.from.at_ns >= spindle.revolution {
            let last = stream.limit - 1;
            let place = model.mechanics.zones.place(last - first);
            segments.reach_back(&mut stream.segment, last - i64::from(place.sector));
        }
    }

    /// A hit on what is read ahead moves the limit on; a stream that had stopped there starts again (rule C3).
    pub(super) fn prolong_stream(&mut self, i: usize, start: i64, end: i64, model: &Model, now: i64) {
        let actuator = &mut self.actuators[i];
        let limit = model.stream_limit(actuator.first_lba, start, end);
        let arm = actuator.arm;
        let Some(stream) = actuator.stream.as_mut() else { return };
        if start < stream.segment.start || end > stream.segment.end || limit <= stream.limit {
            return;
        }
        if stream.segment.end >= stream.limit {
            stream.from = Progress { lba: stream.segment.end - actuator.first_lba, at_ns: now, arm };
            stream.reached = stream.from;
        }
        stream.limit = limit;
    }

    /// Whether the arm is on a stream that its last read stayed on.
    pub(super) fn is_on_long_stream(&self, i: usize) -> bool {
        self.actuators[i].stream.as_ref().is_some_and(|stream| stream.is_long)
    }

    /// The oldest read of those that are weighed that begins in that stream's segment and ends beyond it (rule Q13).
    #[inline(never)]
    pub(super) fn take_from_stream(&mut self, i: usize, model: &Model, now: i64) -> Option<Waiting> {
        self.follow_stream(i, model, now);
        let Segment { start, end, .. } = self.actuators[i].stream.as_ref()?.segment;
        let continues = |w: &Waiting| w.op == READ && start <= w.lba && w.lba < end && end < w.lba + w.n;
        let at = self.actuators[i].ready.list().commands().iter().position(continues)?;
        let angle = self.angle(now);
        let Actuator { scheduler, ready, arm, served_end, .. } = &mut self.actuators[i];
        let chosen = ready.list().commands()[at];
        ready.list().remove(at);
        let arms = OwnArm { model, arm: *arm, spindle: &self.spindle, angle };
        scheduler.choose_only(&chosen, *served_end, now, &arms);
        self.actuators[i].weigh(model.electronics.weighed_commands);
        Some(chosen)
    }

    pub(super) fn is_on_stream(&self, i: usize, start: i64, end: i64) -> bool {
        match &self.actuators[i].stream {
            Some(s) => s.segment.start <= start && start <= s.segment.end && s.segment.end < end,
            None => false,
        }
    }

    /// An access that stays on the stream, whose segment it extends.
    pub(super) fn stay_on_stream(&mut self, i: usize, end: i64, model: &Model, now: i64) -> Access {
        let access = self.continue_stream(i, end, model, now);
        let actuator = &mut self.actuators[i];
        actuator.went_on = actuator.stream.as_ref().map(|stream| stream.segment);
        access
    }

    fn continue_stream(&self, i: usize, end: i64, model: &Model, now: i64) -> Access {
        let actuator = &self.actuators[i];
        let first = actuator.first_lba;
        let Some(stream) = &actuator.stream else { return Access::default() };
        let front = stream.segment.end;
        if front >= stream.limit {
            let rest = Extent { op: READ, lba: front - first, n: end - front };
            let target = model.mechanics.target(rest.lba, &self.spindle);
            let again = model.mechanics.access(actuator.arm, &self.spindle, rest, &target, (now, 0), 0);
            return Access { first_wait: 0, ..again };
        }
        // an access that may begin anywhere on a track takes its tracks in another time than read-ahead does
        let from = if model.mechanics.is_zero_latency() { &stream.from } else { &stream.reached };
        let whole = Extent { op: READ, lba: from.lba, n: end - first - from.lba };
        let target = model.mechanics.target(whole.lba, &self.spindle);
        let whole = model.mechanics.access(from.arm, &self.spindle, whole, &target, (from.at_ns, 0), 0);
        Access { seek: 0, rotation: 0, transfer: whole.end - now, first_end: now, first_wait: 0, ..whole }
    }
}

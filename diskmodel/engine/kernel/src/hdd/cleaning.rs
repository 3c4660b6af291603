//! An arm with a media cache: where its accesses go, and when it cleans (rules G3, G4, G6 to G8).

use super::actuator::Actuator;
use super::serve::Start;
use super::{Disk, Model};
use crate::command::Commands;
use crate::events::{Events, LAST_NS};
use crate::mechanics::{Access, Extent, Spindle, READ};
use crate::media_cache::MediaLog;
use crate::scenario::Spans;

/// The media cache of each arm.
pub type Logs = Vec<Option<Box<MediaLog>>>;

impl Disk {
    /// Takes writes that lie in the media cache when the run begins, in order (rule G9); the logs of the arms, of which
    /// copies are cheap.
    pub fn load_logs(&mut self, writes: &Spans, per_actuator: i64) -> Logs {
        for (&lba, &n) in writes.lba.iter().zip(&writes.n) {
            let Actuator { media, first_lba, .. } = &mut self.actuators[(lba / per_actuator) as usize];
            if let Some(media) = media {
                media.write(lba - *first_lba, n, false);
            }
        }
        self.actuators.iter_mut().filter_map(|actuator| actuator.media.as_mut()).for_each(|media| media.share());
        self.actuators.iter().map(|actuator| actuator.media.clone()).collect()
    }

    /// Media caches in the state of others, without runs.
    pub fn set_logs(&mut self, logs: &Logs) {
        for (own, its) in self.actuators.iter_mut().zip(logs) {
            own.media.clone_from(its);
        }
    }

    /// Runs of writes that go on, in order: number, first block, sectors (rule G9).
    pub fn load_runs(&mut self, runs: &[(u64, i64, i64)], per_actuator: i64) {
        for &(_, lba, n) in runs {
            let Actuator { media, first_lba, .. } = &mut self.actuators[(lba / per_actuator) as usize];
            if let Some(media) = media {
                media.begin_run(lba - *first_lba, n);
            }
        }
    }

    /// Whether blocks that wait when the run begins do not go to the media cache.
    pub(super) fn is_known_run(&self, lba: i64, n: i64, per_actuator: i64) -> bool {
        let Actuator { media, first_lba, .. } = &self.actuators[(lba / per_actuator) as usize];
        media.as_ref().is_some_and(|media| media.is_known_run(lba - first_lba, n))
    }

    /// An access of an arm that has a media cache: a write may wait for a cleaning.
    #[inline(never)]
    pub(super) fn access_by_log(&mut self, i: usize, wanted: Extent, start: Start, model: &Model) -> Access {
        let Extent { op, lba: block, n } = wanted;
        let lba = block - self.actuators[i].first_lba;
        let mut at = start.at;
        let steps = if op == READ {
            self.parts_of(i, lba, n)
        } else {
            let place = self.place_of_write(i, lba, n, start.in_place, &mut at, model);
            vec![Extent { op, lba: place, n }]
        };
        let is_in_place = steps[0].lba == lba;
        let access = if op == READ && is_in_place && steps.len() == 1 && self.is_on_stream(i, block, block + n) {
            self.stay_on_stream(i, block + n, model, at)
        } else {
            let stays = start.is_follower;
            let extra = if stays { 0 } else { self.travel_to_edge(i, model) };
            let arm = self.actuators[i].arm;
            let target = model.mechanics.target(steps[0].lba, &self.spindle);
            let first = self.move_arm(arm, steps[0], &target, (at, extra), start.data_at, model);
            let access = chain(model, &self.spindle, first, &steps[1..], start.data_at);
            Access { first_wait: if is_in_place { access.first_wait } else { 0 }, ..access }
        };
        #[cfg(feature = "movements")]
        self.note(i, Extent { op, lba, n }, &access, model, at);
        let actuator = &mut self.actuators[i];
        actuator.arm = access.arm;
        actuator.begun_ns = start.at;
        actuator.moved_ns = at;
        actuator.free_ns = access.end;
        actuator.worked_ns = access.end;
        actuator.served_end = block + n;
        actuator.stream = None;
        self.front.counters.busy_ns += access.end - start.at;
        access
    }

    /// Notes a write that has become ready in its run; whether it goes in place (rule G2).
    #[inline]
    pub(super) fn note_run(&mut self, i: usize, id: u32, lba: i64, n: i64, commands: &mut Commands) -> bool {
        let Actuator { media, first_lba, .. } = &mut self.actuators[i];
        let Some(media) = media else { return false };
        let in_place = media.is_in_run(lba - *first_lba, n);
        commands[id].in_place = in_place;
        in_place
    }

    fn parts_of(&mut self, i: usize, lba: i64, n: i64) -> Vec<Extent> {
        let media = self.actuators[i].media.as_mut();
        media.map_or_else(|| vec![Extent { op: READ, lba, n }], |media| media.places(lba, n).to_vec())
    }

    /// Where the head goes to write blocks of an arm, once there is room from `at` on.
    fn place_of_write(&mut self, i: usize, lba: i64, n: i64, in_run: bool, at: &mut i64, model: &Model) -> i64 {
        let in_place = in_run || self.actuators[i].media.as_ref().is_some_and(|media| media.is_full_without_bands());
        while !in_place && self.actuators[i].media.as_ref().is_some_and(|media| media.is_full()) && *at < LAST_NS {
            *at = self.clean(i, *at, model);
        }
        let media = self.actuators[i].media.as_mut();
        media.map_or(lba, |media| media.write(lba, n, in_place))
    }

    /// Makes the next step of cleaning from `now` on; when it ends (rules G7 and G8).
    fn clean(&mut self, i: usize, now: i64, model: &Model) -> i64 {
        let Disk { actuators, spindle, .. } = self;
        let actuator = &mut actuators[i];
        let Some(media) = actuator.media.as_mut() else { return now };
        let standing = Access { end: now, arm: actuator.arm, ..Access::default() };
        let access = chain(model, spindle, standing, media.clean(), 0);
        actuator.arm = access.arm;
        actuator.stream = None;
        access.end
    }

    /// An arm that has had nothing to do for long enough cleans (rule G6).
    pub(super) fn rest(&mut self, i: usize, model: &Model, events: &mut Events) {
        let now = events.now;
        let actuator = &self.actuators[i];
        let Some(media) = &actuator.media else { return };
        let has_work = !actuator.accepted.is_empty() || !actuator.ready.is_empty() || !actuator.beyond.is_empty();
        if media.is_empty() || actuator.is_held || has_work {
            return;
        }
        let mut due = actuator.worked_ns.saturating_add(media.tables.idle_ns);
        if actuator.free_ns <= now && due <= now {
            self.follow_stream(i, model, now);
            let end = self.clean(i, now, model);
            let actuator = &mut self.actuators[i];
            actuator.begun_ns = now;
            actuator.free_ns = end;
            self.front.counters.busy_ns += end - now;
        }
        let Disk { actuators, front, .. } = self;
        let actuator = &mut actuators[i];
        due = due.max(actuator.free_ns).min(LAST_NS);
        // it looks anew when it is woken: one that comes sooner is enough
        if actuator.rouse_ns <= now || due < actuator.rouse_ns {
            actuator.rouse_ns = due;
            front.wake(due, events);
        }
    }
}

/// An access and others after it, as one.
fn chain(model: &Model, spindle: &Spindle, first: Access, others: &[Extent], data_at: i64) -> Access {
    let mut whole = first;
    for &step in others {
        let target = model.mechanics.target(step.lba, spindle);
        let part = model.mechanics.access(whole.arm, spindle, step, &target, (whole.end, 0), data_at);
        whole = Access {
            seek: whole.seek + part.seek,
            rotation: whole.rotation + part.rotation,
            transfer: whole.transfer + part.transfer,
            first_end: whole.first_end,
            first_wait: 0,
            end: part.end,
            arm: part.arm,
        };
    }
    whole
}

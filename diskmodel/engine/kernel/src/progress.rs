//! How far a run is: what it counts, when it has to end, and the levels that it records.

use crate::events::Events;
use crate::simulation::{Levels, MAX_NS, STARVED, STOPPED, TOO_LONG};

/// Events between two looks at whether a run is to stop. They take about 2 ms, and 0.1 s where most of them move 128 KiB
/// to flash. Simulated time would not do: a quiet second takes no time, a busy one of many flash drives takes minutes.
const LOOK_EVENTS: u64 = 1 << 14;

pub struct Progress {
    /// From so many events on the run looks whether it has to end, and why.
    look_events: u64,
    /// No request completes beside the rebuild.
    is_starved: bool,
    sample_every: u64,
    pub n_issued: u64,
    pub n_done: u64,
    levels: Vec<Levels>,
}

impl Progress {
    /// Levels are recorded after every `sample_every` completions; 0: never.
    pub fn new(sample_every: u64) -> Self {
        Progress { look_events: 0, is_starved: false, sample_every, n_issued: 0, n_done: 0, levels: Vec::new() }
    }

    /// Whether it is time to look.
    #[inline(always)]
    pub fn is_due(&self, events: &Events) -> bool {
        events.now > MAX_NS || events.n_scheduled() >= self.look_events
    }

    /// Ends a run that may not go on, or sets when to look again.
    #[cold]
    #[inline(never)]
    pub fn look(&mut self, events: &Events, is_stopped: &mut dyn FnMut() -> bool) -> Result<(), &'static str> {
        if self.is_starved {
            return Err(STARVED);
        }
        if events.now > MAX_NS {
            return Err(TOO_LONG);
        }
        if is_stopped() {
            return Err(STOPPED);
        }
        self.look_events = events.n_scheduled() + LOOK_EVENTS;
        Ok(())
    }

    /// No request completes any more: the next look ends the run.
    pub fn starve(&mut self) {
        self.is_starved = true;
        self.look_events = 0;
    }

    /// A request is done; whether its levels are to be recorded.
    #[inline(always)]
    pub fn has_done(&mut self) -> bool {
        self.n_done += 1;
        self.sample_every > 0 && self.n_done % self.sample_every == 0
    }

    pub fn record(&mut self, levels: Levels) {
        self.levels.push(levels);
    }

    pub fn take_levels(&mut self) -> Vec<Levels> {
        std::mem::take(&mut self.levels)
    }
}

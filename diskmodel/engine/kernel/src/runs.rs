//! A run from its beginning to its end, of drives of any kind: what callers need of a simulation.

use crate::device::{Counters, Device};
#[cfg(feature = "movements")]
use crate::movement::Movement;
use crate::ports::Said;
use crate::scenario::Built;
use crate::simulation::{Levels, Parts, Simulation};
use crate::traffic::Feed;

/// What a run writes down beside its completions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recorded {
    /// What stations say to each other (`ports`).
    pub ports: bool,
    /// What the arms of hard disks do (`movement`).
    pub movements: bool,
}

/// What a run leaves behind, beside what its feed has.
pub struct Outcome {
    /// Events that it took.
    pub n_events: u64,
    pub end_ns: i64,
    pub rebuilt_sectors: i64,
    /// When a write first had to wait for room in the controller's cache.
    pub cache_full_ns: Option<i64>,
    /// Records that were looked for on a pool's cache devices: those found, and the others.
    pub l2arc_reads: [i64; 2],
    /// Of each disk, and of drives beside the disks.
    pub counters: Vec<Counters>,
    pub own_counters: Vec<Counters>,
    pub levels: Vec<Levels>,
    pub said: Vec<Said>,
    #[cfg(feature = "movements")]
    pub movements: Vec<Vec<Movement>>,
}

/// Runs what comes from a feed through an array until the last completion, or until `is_stopped` has come true.
///
/// # Errors
///
/// Why the run did not come to its end (`simulation::TOO_LONG` and others). The feed comes back in any case.
pub fn run<'a>(
    built: Built,
    feed: Feed<'a>,
    is_stopped: &mut dyn FnMut() -> bool,
    recorded: Recorded,
) -> (Result<Outcome, &'static str>, Feed<'a>) {
    match built {
        Built::Hdd(parts) => run_parts(parts, feed, is_stopped, recorded),
        Built::Flash(parts) => run_parts(parts, feed, is_stopped, recorded),
        Built::Remote(parts) => run_parts(parts, feed, is_stopped, recorded),
    }
}

fn run_parts<'a, D: Device>(
    #[cfg_attr(not(feature = "movements"), allow(unused_mut))] mut parts: Parts<D>,
    feed: Feed<'a>,
    is_stopped: &mut dyn FnMut() -> bool,
    recorded: Recorded,
) -> (Result<Outcome, &'static str>, Feed<'a>) {
    #[cfg(feature = "movements")]
    if recorded.movements {
        parts.disks.iter_mut().for_each(Device::record);
    }
    let mut simulation = Simulation::new(parts, feed);
    if recorded.ports {
        simulation.log_ports();
    }
    let outcome = simulation.run_unless(is_stopped).map(|(end_ns, rebuilt_sectors)| Outcome {
        n_events: simulation.n_events(),
        end_ns,
        rebuilt_sectors,
        cache_full_ns: simulation.cache_full_ns(),
        l2arc_reads: simulation.l2arc_reads(),
        counters: simulation.disks().iter().map(|disk| disk.counters_until(end_ns)).collect(),
        own_counters: simulation.own_counters(end_ns),
        levels: simulation.take_levels(),
        said: simulation.take_ports(),
        #[cfg(feature = "movements")]
        movements: simulation.disks().iter().map(|disk| disk.movements().to_vec()).collect(),
    });
    (outcome, simulation.into_traffic())
}

//! Schedulers: which waiting command comes next (rules Q1 to Q8). One policy, one file; see `diskmodel/queue/`.

mod deadline;
mod deep;
mod look;
mod neighbours;
mod pool;
mod sptf;
mod write_throttle;

use crate::faults::{planted, Fault};
use crate::mechanics::Target;

pub use deadline::Deadline;
pub use look::Look;
pub use pool::Pool;
pub use write_throttle::WriteThrottle;

/// A waiting command: what a scheduler may look at, and whose it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Waiting {
    pub seq: u64,
    pub op: u8,
    pub lba: i64,
    pub n: i64,
    pub arrived: i64,
    /// When the drive has processed it; from then on, how far the buffer had grown when it was looked for there in vain.
    pub ready: i64,
    pub id: u32,
    pub actuator: u16,
    /// Where it begins, for schedulers that ask for positioning times.
    pub target: Target,
}

/// What schedulers by positioning time ask of the arms.
pub trait Arms {
    /// Seek and rotational latency of a command from now (rule Q6); where that is not below `limit`, anything that is
    /// not.
    fn time_ns(&self, waiting: &Waiting, limit: i64) -> i64;

    /// Where an arm is.
    fn cylinder(&self, actuator: u32) -> i64;

    /// What no move over so many cylinders or more is shorter than.
    fn least_ns(&self, distance: i64) -> i64;
}

/// What the arm does at the end of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    None,
    Turn,
    Wrap,
}

#[derive(Clone, Debug)]
pub enum Policy {
    Fcfs,
    Sstf,
    Look(Look),
    CLook { turned: bool, to_edge: bool },
    Sptf,
    SptfAged { age_ns: i64 },
    Deadline(Deadline),
}

/// A scheduler's tunables, in the order of `diskmodel.queue.Queue`.
#[derive(Clone, Debug)]
pub struct Tunables {
    pub name: String,
    pub age_ns: i64,
    pub read_expire_ns: i64,
    pub write_expire_ns: i64,
    pub fifo_batch: i64,
    pub writes_starved: i64,
}

impl Policy {
    /// The scheduler called `name`, with fresh state.
    pub fn new(tunables: &Tunables) -> Result<Self, String> {
        Ok(match tunables.name.as_str() {
            "fcfs" => Policy::Fcfs,
            "sstf" => Policy::Sstf,
            "look" => Policy::Look(Look::new(false, false)),
            "scan" => Policy::Look(Look::new(true, false)),
            "f-scan" => Policy::Look(Look::new(false, true)),
            "c-look" => Policy::CLook { turned: false, to_edge: false },
            "c-scan" => Policy::CLook { turned: false, to_edge: true },
            "sptf" => Policy::Sptf,
            "sptf-aged" => Policy::SptfAged { age_ns: tunables.age_ns },
            "mq-deadline" => Policy::Deadline(Deadline::new(tunables)),
            other => return Err(format!("unknown scheduler {other}")),
        })
    }

    /// Whether it asks for positioning times.
    pub fn is_positional(&self) -> bool {
        matches!(self, Policy::Sptf | Policy::SptfAged { .. })
    }

    /// Index of the next command; ties go to the earlier arrival.
    pub fn choose(&mut self, waiting: &[Waiting], head_lba: i64, now: i64, arms: &impl Arms) -> usize {
        match self {
            Policy::Fcfs => 0,
            Policy::Sstf => first_least(waiting, |w| (w.lba - head_lba).abs()),
            Policy::Look(look) => look.choose(waiting, head_lba),
            Policy::CLook { turned, .. } => {
                let ahead = first_least_of(waiting, |w| w.lba >= head_lba, |w| w.lba);
                *turned = ahead.is_none();
                ahead.unwrap_or_else(|| first_least(waiting, |w| w.lba))
            }
            Policy::Sptf => sptf::soonest(waiting, arms),
            Policy::SptfAged { age_ns } => sptf::soonest_aged(waiting, *age_ns, now, arms),
            Policy::Deadline(deadline) => deadline.choose(waiting, now),
        }
    }

    /// Whether the arm went to an edge for the last choice, and how: (edge, direction of the sweep).
    pub fn edge(&self) -> (Edge, i64) {
        match self {
            Policy::Look(look) if look.to_edge && look.turned => (Edge::Turn, look.swept),
            Policy::CLook { turned: true, to_edge: true } => (Edge::Wrap, 1),
            _ => (Edge::None, 1),
        }
    }
}

/// Index of the first element with the least key.
pub fn first_least(waiting: &[Waiting], key: impl Fn(&Waiting) -> i64) -> usize {
    first_least_of(waiting, |_| true, key).unwrap_or(0)
}

/// Index of the first element with the least key among those that count.
pub fn first_least_of(
    waiting: &[Waiting],
    counts: impl Fn(&Waiting) -> bool,
    key: impl Fn(&Waiting) -> i64,
) -> Option<usize> {
    let mut best: Option<(i64, usize)> = None;
    for (i, w) in waiting.iter().enumerate() {
        if counts(w) {
            let k = key(w);
            if best.is_none_or(|(least, _)| k < least || (planted(Fault::SchedulerTies) && k == least)) {
                best = Some((k, i));
            }
        }
    }
    best.map(|(_, i)| i)
}

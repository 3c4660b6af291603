//! Schedulers: which waiting command comes next (rules Q1 to Q8, Q12). One policy, one file; see `diskmodel/queue/`.
//!
//! To add one: a file with a type that implements [`Scheduler`], its `mod` line here, and one line in `registry.rs`.

mod c_look;
mod deep;
mod f_scan;
mod fcfs;
mod look;
mod mq_deadline;
mod neighbours;
mod pool;
mod registry;
mod rpo;
mod sptf;
mod sstf;
mod tables;
mod write_throttle;

use std::fmt::Debug;

use crate::faults::{planted, Fault};
use crate::mechanics::Target;

use deep::Deep;
pub use pool::Pool;
pub use registry::{Policy, SchedulerName};
pub use tables::Queue;
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

/// Commands whose positioning times are computed at once, and from how many on that takes less time.
pub const TOGETHER: usize = 16;
const WORTH_IT: usize = if cfg!(feature = "faults") { 3 } else { 8 };

/// Positioning times of so many commands.
pub type Times = [i32; TOGETHER];

/// What schedulers by positioning time ask of the arms.
pub trait Arms {
    /// Seek and rotational latency of a command from now (rule Q6); a revolution more where the latency is shorter than
    /// `margin` (rule Q12).
    fn time_ns(&self, waiting: &Waiting, margin: i64) -> i64;

    /// The same of the first commands of `waiting` at once, where that is possible.
    fn times_ns(&self, _waiting: &[Waiting], _margin: i64) -> Option<Times> {
        None
    }

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

/// How many waiting commands are kept, so that a choice need not look at each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As a list in order of arrival: each choice looks at all commands.
    List,
    /// Only the order of arrival matters.
    Arrival,
    /// By first block, in the two parts that [`Scheduler::part`] makes.
    Block,
    /// The same, and in each part by arrival.
    BlockAndArrival,
    /// By cylinder, for each arm. The choice changes no state of the scheduler.
    Cylinder,
    /// The same, and by arrival.
    CylinderAndArrival,
}

impl Order {
    /// Whether anything is to be chosen among `n` commands: not the first one, or not without a trace in the scheduler.
    fn has_choice(self, n: usize) -> bool {
        match self {
            Order::Arrival => false,
            Order::Cylinder | Order::CylinderAndArrival => n != 1,
            Order::List | Order::Block | Order::BlockAndArrival => true,
        }
    }
}

/// A scheduler: a choice among waiting commands.
///
/// `choose` is all that a scheduler needs. One whose `ORDER` is not a list also makes the same choice in `take`, among
/// many commands that are kept in that order.
pub trait Scheduler: Clone + Debug {
    const ORDER: Order = Order::List;
    /// Whether it asks for positioning times.
    const IS_POSITIONAL: bool = false;

    /// With fresh state, as a description has it.
    fn of(queue: &Queue) -> Self;

    /// Whether anything is to be chosen among `n` commands: not the first one, or not without a trace in the scheduler.
    #[inline(always)]
    fn has_choice(&self, n: usize) -> bool {
        Self::ORDER.has_choice(n)
    }

    /// Index of the next command in `waiting`, which is in order of arrival and never empty; ties go to the earlier
    /// arrival (rule Q1). `head` is the block after the last command chosen.
    fn choose(&mut self, waiting: &[Waiting], head: i64, now: i64, arms: &impl Arms) -> usize;

    /// Takes the same choice out of commands that are kept in `ORDER`, with its turn.
    fn take(&mut self, _deep: &mut Deep, _head: i64, _now: i64, _arms: &impl Arms) -> Option<(u64, Waiting)> {
        None
    }

    /// Part 0 or 1 of a command that arrives, where commands are kept by block.
    fn part(&self, _waiting: &Waiting) -> usize {
        0
    }

    /// Whether the arm went to an edge for the last choice, and how: (edge, direction of the sweep).
    fn edge(&self) -> (Edge, i64) {
        (Edge::None, 1)
    }
}

/// Passes on each command's place in the row, itself and its positioning time, in order.
#[inline(always)]
fn for_each_time(waiting: &[Waiting], margin: i64, arms: &impl Arms, mut take: impl FnMut(usize, &Waiting, i64)) {
    for (part, waiting) in waiting.chunks(TOGETHER).enumerate() {
        let first = part * TOGETHER;
        let together = if waiting.len() < WORTH_IT { None } else { arms.times_ns(waiting, margin) };
        match together {
            Some(times) => {
                for (i, (w, &time)) in waiting.iter().zip(&times).enumerate() {
                    take(first + i, w, i64::from(time));
                }
            }
            None => {
                for (i, w) in waiting.iter().enumerate() {
                    take(first + i, w, arms.time_ns(w, margin));
                }
            }
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

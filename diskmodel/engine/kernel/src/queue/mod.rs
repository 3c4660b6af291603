//! Schedulers: which waiting command comes next (rules Q1 to Q8, Q12). One policy, one file; see `diskmodel/queue/`.
//!
//! To add one: a file with a type that implements [`Scheduler`], its `mod` line here, and one line in `registry.rs`.

mod by_class;
mod c_look;
mod deep;
mod f_scan;
mod fcfs;
mod least;
mod look;
mod mq_deadline;
mod neighbours;
mod pool;
mod registry;
mod row;
mod rpo;
mod sptf;
mod sstf;
mod tables;
mod targets;
mod write_throttle;

use std::fmt::Debug;

use crate::mechanics::Target;

pub use by_class::{ByClass, PoolRules};
use deep::Deep;
pub use pool::Pool;
pub use registry::{Policy, SchedulerName};
pub use row::Row;
pub use tables::Queue;
pub use targets::{head_of, Targets, LANES};
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

/// From how many commands on it takes less time to compute their positioning times at once.
const WORTH_IT: usize = 8;

/// How much later than computed the head may come (rule Q12): a time, and a part of the move.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Margin {
    pub ns: i64,
    pub move_256ths: i64,
}

impl Margin {
    pub const NONE: Margin = Margin { ns: 0, move_256ths: 0 };

    /// Latency below which a command is expected to be missed behind a move that takes `time`.
    #[inline(always)]
    pub fn behind(self, time: i64) -> i64 {
        self.ns + (time >> 8) * self.move_256ths
    }
}

/// What schedulers by positioning time ask of the arms.
pub trait Arms {
    /// Seek and rotational latency of a command from now (rule Q6); a revolution more where the latency is shorter than
    /// `margin` (rule Q12).
    fn time_ns(&self, waiting: &Waiting, margin: Margin) -> i64;

    /// The same of the first groups of commands, as many as there are in `times`; false where they have to be computed
    /// one by one.
    fn times_ns(&self, _aims: &Targets, _margin: Margin, _times: &mut [[i32; LANES]]) -> bool {
        false
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

    /// The same choice among commands in a row, by what their positioning times depend on.
    fn choose_in(&mut self, row: &mut Row, head: i64, now: i64, arms: &impl Arms) -> usize {
        self.choose(row.commands(), head, now, arms)
    }

    /// The same choice among the commands of two rows, one behind the other; `both` is a row to line them up in.
    fn choose_of_both(&mut self, rows: [&mut Row; 2], both: &mut Row, head: i64, now: i64, arms: &impl Arms) -> usize {
        both.take_both(rows);
        self.choose_in(both, head, now, arms)
    }

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
            if best.is_none_or(|(least, _)| k < least) {
                best = Some((k, i));
            }
        }
    }
    best.map(|(_, i)| i)
}

/// Positioning times of the first `n` commands in a row, which it has targets of, eight at once; none where that is not
/// possible.
#[inline(always)]
fn times_of<'a>(
    row: &Row,
    n: usize,
    margin: Margin,
    arms: &impl Arms,
    times: &'a mut Vec<[i32; LANES]>,
) -> Option<&'a [[i32; LANES]]> {
    let n_groups = n.div_ceil(LANES);
    if times.len() < n_groups {
        times.resize(2 * n_groups, [0; LANES]);
    }
    let times = &mut times[..n_groups];
    arms.times_ns(row.targets(), margin, times).then_some(times)
}

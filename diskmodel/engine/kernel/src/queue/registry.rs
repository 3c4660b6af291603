//! The one list of the kernel's schedulers; `diskmodel/queue/registry.py` is the list of the SimPy engine.

use super::deep::Deep;
use super::{c_look, f_scan, fcfs, look, mq_deadline, rpo, sptf, sstf};
use super::{Arms, Edge, Order, Queue, Row, Scheduler, Waiting};
use crate::named::named;

/// Makes the names, the enum over all schedulers, and its methods, which pass each call on.
macro_rules! schedulers {
    ($($Name:ident = $name:literal => $kind:ty),* $(,)?) => {
        named! {
            /// Name of a scheduler.
            pub enum SchedulerName { $($Name = $name),* }
        }

        /// A scheduler with its state. An enum, so that a choice costs no look-up at run time.
        #[derive(Clone, Debug)]
        pub enum Policy { $($Name($kind)),* }

        impl Policy {
            /// The scheduler that a description names, with fresh state.
            pub fn new(queue: &Queue) -> Self {
                match queue.scheduler {
                    $(SchedulerName::$Name => Policy::$Name(<$kind as Scheduler>::of(queue))),*
                }
            }

            /// Whether it asks for positioning times.
            pub fn is_positional(&self) -> bool {
                match self { $(Policy::$Name(_) => <$kind as Scheduler>::IS_POSITIONAL),* }
            }

            /// Whether it serves commands in order of arrival.
            pub fn is_in_order(&self) -> bool {
                self.order() == Order::Arrival
            }

            /// Whether anything is to be chosen among `n` commands.
            #[inline]
            pub(super) fn has_choice(&self, n: usize) -> bool {
                match self { $(Policy::$Name(scheduler) => scheduler.has_choice(n)),* }
            }

            pub(super) fn order(&self) -> Order {
                match self { $(Policy::$Name(_) => <$kind as Scheduler>::ORDER),* }
            }

            /// Index of the next command; ties go to the earlier arrival.
            pub fn choose(&mut self, row: &mut Row, head: i64, now: i64, arms: &impl Arms) -> usize {
                match self { $(Policy::$Name(scheduler) => scheduler.choose_in(row, head, now, arms)),* }
            }

            /// The same among the commands of two rows; `both` is a row to line them up in.
            pub fn choose_of_both(
                &mut self, rows: [&mut Row; 2], both: &mut Row, head: i64, now: i64, arms: &impl Arms,
            ) -> usize {
                match self { $(Policy::$Name(scheduler) => scheduler.choose_of_both(rows, both, head, now, arms)),* }
            }

            /// Makes a choice that is none; it may leave a trace in the scheduler.
            pub fn choose_only(&mut self, waiting: &Waiting, head: i64, now: i64, arms: &impl Arms) {
                let only = std::slice::from_ref(waiting);
                if self.has_choice(1) {
                    match self { $(Policy::$Name(scheduler) => _ = scheduler.choose(only, head, now, arms)),* }
                }
            }

            pub(super) fn take(
                &mut self, deep: &mut Deep, head: i64, now: i64, arms: &impl Arms,
            ) -> Option<(u64, Waiting)> {
                match self { $(Policy::$Name(scheduler) => scheduler.take(deep, head, now, arms)),* }
            }

            pub(super) fn part(&self, waiting: &Waiting) -> usize {
                match self { $(Policy::$Name(scheduler) => scheduler.part(waiting)),* }
            }

            /// Whether the arm went to an edge for the last choice, and how: (edge, direction of the sweep).
            pub fn edge(&self) -> (Edge, i64) {
                match self { $(Policy::$Name(scheduler) => scheduler.edge()),* }
            }
        }
    };
}

schedulers! {
    Fcfs = "fcfs" => fcfs::Fcfs,
    Sstf = "sstf" => sstf::Sstf,
    Scan = "scan" => look::Look<true>,
    CScan = "c-scan" => c_look::CLook<true>,
    Look = "look" => look::Look<false>,
    CLook = "c-look" => c_look::CLook<false>,
    FScan = "f-scan" => f_scan::FScan,
    Sptf = "sptf" => sptf::Sptf,
    SptfAged = "sptf-aged" => sptf::SptfAged,
    Rpo = "rpo" => rpo::Rpo,
    Deadline = "mq-deadline" => mq_deadline::Deadline,
}

impl Policy {
    /// In order of arrival.
    pub fn in_order() -> Self {
        Policy::Fcfs(fcfs::Fcfs)
    }
}

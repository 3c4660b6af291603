//! A queue, as a caller hands it over.

use super::SchedulerName;
use crate::schema::record;

record! {
    /// A queue: its scheduler, and the tunables of all schedulers, as `diskmodel.queue.Queue`.
    #[derive(Clone, Debug)]
    pub struct Queue as "QueueTables" {
        pub scheduler: SchedulerName,
        pub age_ns: i64,
        pub miss_margin_ns: i64,
        pub miss_256ths: i64,
        pub age_weight_ppm: i64,
        pub committed: i64,
        pub read_expire_ns: i64,
        pub write_expire_ns: i64,
        pub fifo_batch: i64,
        pub writes_starved: i64,
    }
}

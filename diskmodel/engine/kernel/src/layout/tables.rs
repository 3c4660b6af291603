//! A layout, as a caller hands it over.

use super::{CopyPolicy, Family, JournalTables, PartialTables, PoolTables, Rotation, SyncAction, WritePolicy};
use crate::schema::record;

record! {
    /// A layout in sectors, as `diskmodel.layout.tables.LayoutTables`.
    #[derive(Clone, Debug)]
    pub struct LayoutTables {
        pub family: Family,
        pub n_disks: u32,
        pub n_spares: u32,
        pub strip: i64,
        pub member: i64,
        /// Usable sectors.
        pub capacity: i64,
        pub data_offset: i64,
        pub copies: i64,
        pub far: bool,
        pub n_groups: i64,
        pub n_data: i64,
        pub n_parity: i64,
        pub rotation: Rotation,
        pub cuts_reads: bool,
        /// Sectors of the longest request that the members take, where longer ones come out of order; 0: all are in order.
        pub largest_request: i64,
        /// Share of requests that are not cut there, in millionths.
        pub huge_page_ppm: i64,
        pub holds_disks: bool,
        pub read_policy: CopyPolicy,
        pub write_policy: WritePolicy,
        pub failed: Vec<u32>,
        pub sync_action: SyncAction,
        pub rebuild_disk: i64,
        pub rebuild_window: i64,
        pub rebuild_steps: i64,
        pub rebuild_gap_ns: i64,
        /// Sectors per second below which the rebuild does not yield.
        pub rebuild_speed_min: i64,
        /// Sectors that others may use of a disk without the rebuild yielding.
        pub rebuild_idle: i64,
        pub rebuild_front: i64,
        /// Sectors that a bit of the write-intent bitmap stands for; 0: no bitmap.
        pub bitmap_chunk: i64,
        pub bitmap_start: i64,
        pub bitmap_end: i64,
        pub bitmap_page: i64,
        pub bitmap_interval_ns: i64,
        pub bitmap_flush_ns: i64,
        /// Pages that the stripe cache keeps (rule L15), and sectors of one of them; 0: no cache.
        pub stripe_cache: i64,
        pub stripe_page: i64,
        /// Of an array with a journal (rule Y13).
        pub journal: Option<JournalTables>,
        /// Of an array with a log of partial parity (rule Y16).
        pub ppl: Option<PartialTables>,
        /// Of a pool; None: RAID.
        pub pool: Option<PoolTables>,
    }
}

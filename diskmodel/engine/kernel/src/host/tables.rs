//! A host, as a caller hands it over.

use crate::schema::record;

record! {
    /// A host that costs time or buffers, as `diskmodel.host.tables.HostTables`.
    #[derive(Clone, Debug)]
    pub struct HostTables {
        pub submission_ns: Costs,
        pub submission_sequential_ns: Costs,
        pub n_processors: usize,
        /// How long a request holds what only one can hold.
        pub lock_ns: Costs,
        /// The processor's pauses: the time before each, and how long it lasts.
        pub pause_gap_ns: Vec<i64>,
        pub pause_ns: Vec<i64>,
        pub is_buffered: bool,
        pub read_ahead_sectors: i64,
        pub largest_request_sectors: i64,
        pub page_sectors: i64,
        /// None: nothing is kept, and writes go to the array at once.
        pub page_cache: Option<PageCacheTables>,
    }
}

impl HostTables {
    /// While it submits one request the host notices no completion (rule Q11).
    pub fn host_work_ns(&self) -> i64 {
        self.submission_ns.read.max(self.submission_ns.write)
    }
}

record! {
    /// Processor time of a read and of a write.
    #[derive(Clone, Copy, Debug)]
    pub struct Costs {
        pub read: i64,
        pub write: i64,
    }
}

impl Costs {
    /// By operation.
    pub fn by_op(self) -> [i64; 2] {
        [self.read, self.write]
    }
}

record! {
    /// A host's page cache, as `diskmodel.host.tables.PageCacheTables`.
    #[derive(Clone, Debug)]
    pub struct PageCacheTables {
        pub memory_pages: usize,
        pub background_pages: usize,
        pub limit_pages: usize,
        /// Time after which dirty memory is old.
        pub old_ns: i64,
        pub writeback_depth: usize,
        pub is_synchronous: bool,
        /// 0: never.
        pub sync_every: u64,
    }
}

//! Faults that can be planted, to prove that the tests would notice them. Only with the feature `faults`, which no
//! release has; without it every `planted` is a constant `false`, and the compiler removes what hangs on it.

macro_rules! faults {
    ($($name:ident),* $(,)?) => {
        /// A deviation of one place, or of one step, from a rule.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Fault { $($name),* }

        /// Names of all faults, in order.
        #[cfg(feature = "faults")]
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

faults! {
    StartSkew,
    TrackSkew,
    CylinderSkew,
    ZoneBorder,
    SpareSectors,
    SeekDistance,
    HeadSwitch,
    WriteSettle,
    AngleRounding,
    RotationSlack,
    ZeroLatency,
    WriteSeek,
    SeekInward,
    InOrder,
    RetryTime,
    LastSector,
    BufferFull,
    Prefill,
    WriteTail,
    PhaseOrder,
    DeviceOrder,
    SchedulerTies,
    LookDirection,
    SweepEdge,
    AgeLimit,
    MissMargin,
    MarginAtRest,
    AgeWeight,
    Committed,
    BatchLength,
    DeadlineBatch,
    WritesStarved,
    CacheEviction,
    ReadAheadLimit,
    TrackLimit,
    ReadOnArrival,
    WholeTrack,
    WriteDrops,
    KeptWrites,
    OwnTrack,
    StreamRestart,
    DestageOrder,
    DestagePressure,
    DestageMuch,
    WeighedWrites,
    ParityRotation,
    WriteMethodTie,
    CopyChoice,
    RoundRobin,
    ReadEnd,
    ChosenCounts,
    CutReads,
    PartOrder,
    HugePages,
    MergeLimit,
    MergeOrder,
    MergeFirst,
    WriteRoom,
    ZoneFirst,
    ZoneOrder,
    ZoneMerge,
    ZoneBorders,
    ThrottleWindow,
    ThrottleWake,
    ThreadTurn,
    HeldBusy,
    HeldTravel,
    HeldOrder,
    RebuildFront,
    RebuildGap,
    RebuildIdle,
    RebuildMark,
    ResyncReads,
    LinkRounding,
    ClientPace,
    FirstLayout,
    FirstPieces,
    FirstShift,
    EraseTurn,
    PageTwice,
    LastPage,
    WireGap,
    ReadsBeforeStarts,
    RegisterKept,
    ReadsStarvePrograms,
    BufferRoom,
    ProgramReady,
    DriveEnd,
    PartialOrder,
    ExtentFolding,
    VictimTie,
    BlockAge,
    FreeBlockOrder,
    DebtRounding,
    CopyOrder,
    EraseCount,
    BatchEnd,
    WakeDraw,
    DelayDraw,
    BatchDone,
    CopyRounding,
    LatencyOfOther,
    SteadyFill,
    FreshErase,
    WakeBusy,
    BlockEviction,
    TwoQueueShare,
    ArcBorder,
    HighMark,
    LowMark,
    DestageLength,
    DestageSweep,
    LaneBudget,
    LaneTurn,
    StripeCost,
    LoadedWrites,
    LoadedDies,
    LoadedDebt,
    LoadedAge,
    LoadedCache,
    LoadedPages,
    LevelEvery,
    LevelBusy,
    PrefetchLimit,
    PrefetchPiece,
    SubmissionQueue,
    HostLock,
    BitmapWait,
    BitmapClear,
    BitmapBatch,
    BitmapRows,
    BitmapTail,
    BitmapSleep,
    BitmapHead,
    BitmapThrottle,
    StripeOrder,
    StripeCache,
    StripeJoin,
    StripeFollow,
    FirstProcessor,
    AwakeInPause,
    WorkInPause,
    GoesOn,
    SyncCount,
    SyncSince,
    WindowMark,
    WindowGrowth,
    RequestCut,
    MemoryPages,
    PageUse,
    BackgroundRatio,
    DirtyRatio,
    PageExpiry,
    DirtySince,
    StaleWake,
    LateUntilClean,
    WritebackSweep,
    WritebackLength,
    WritebackDepth,
    WriterOrder,
    LastPart,
    BusyAhead,
    RunLength,
    LogEnd,
    CacheRoom,
    ExtentRest,
    PiecesInOrder,
    ScratchWrite,
    BackInPlace,
    WholeBand,
    IdleTime,
    LoadedLog,
    LoadedRuns,
    SharedAge,
}

/// Whether `fault` is planted now.
#[cfg(not(feature = "faults"))]
#[inline(always)]
pub const fn planted(_fault: Fault) -> bool {
    false
}

#[cfg(feature = "faults")]
mod planting {
    use super::Fault;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static PLANTED: AtomicUsize = AtomicUsize::new(usize::MAX);

    pub fn planted(fault: Fault) -> bool {
        PLANTED.load(Ordering::Relaxed) == fault as usize
    }

    /// Switches on mutant number `number` and all others off; an unknown number switches on none.
    pub fn plant(number: usize) {
        PLANTED.store(number, Ordering::Relaxed);
    }
}

#[cfg(feature = "faults")]
pub use planting::{plant, planted};

//! A layout, as a caller hands it over: a record for each kind of volume, and what the kernel makes of all of them.

use std::collections::BTreeSet;

use super::{CopyPolicy, Family, JournalTables, PartialTables, PoolTables, Rotation, SyncAction, WritePolicy};
use crate::given::{Caller, Given};
use crate::named::named;
use crate::schema::{record, Described};

/// A layout in sectors, of any kind: what a kind does not have is 0, or None.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(from = "VolumeTables"))]
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
    /// Time that the rebuild sleeps where requests wait for its steps (rule R8); 0: neither waits for the other.
    pub rebuild_pause_ns: i64,
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

impl LayoutTables {
    /// What stands for the fields that a kind does not have.
    pub fn without() -> Self {
        LayoutTables {
            family: Family::Pool,
            n_disks: 0,
            n_spares: 0,
            strip: 0,
            member: 0,
            capacity: 0,
            data_offset: 0,
            copies: 0,
            far: false,
            n_groups: 0,
            n_data: 0,
            n_parity: 0,
            rotation: Rotation::None,
            cuts_reads: false,
            largest_request: 0,
            huge_page_ppm: 0,
            holds_disks: false,
            read_policy: CopyPolicy::Primary,
            write_policy: WritePolicy::Fewest,
            failed: Vec::new(),
            sync_action: SyncAction::None,
            rebuild_disk: -1,
            rebuild_window: 0,
            rebuild_steps: 1,
            rebuild_gap_ns: 0,
            rebuild_speed_min: 0,
            rebuild_idle: 0,
            rebuild_pause_ns: 0,
            rebuild_front: 0,
            bitmap_chunk: 0,
            bitmap_start: 0,
            bitmap_end: 0,
            bitmap_page: 0,
            bitmap_interval_ns: 0,
            bitmap_flush_ns: 0,
            stripe_cache: 0,
            stripe_page: 0,
            journal: None,
            ppl: None,
            pool: None,
        }
    }
}

/// Defines a record for each kind: what all have, and its own fields.
macro_rules! kinds {
    (all $all:tt $($(#[$meta:meta])* $Name:ident $own:tt)*) => {
        $(kinds! { @one $all $(#[$meta])* $Name $own })*
    };
    (@one { $($of_all:ident: $All:ty),* $(,)? } $(#[$meta:meta])* $Name:ident { $($own:ident: $Own:ty),* $(,)? }) => {
        record! {
            $(#[$meta])*
            #[derive(Clone, Debug)]
            pub struct $Name {
                $(pub $of_all: $All,)*
                $(pub $own: $Own,)*
            }
        }

        impl From<$Name> for LayoutTables {
            fn from(tables: $Name) -> Self {
                LayoutTables {
                    $($of_all: tables.$of_all,)*
                    $($own: tables.$own.into(),)*
                    ..LayoutTables::without()
                }
            }
        }
    };
}

kinds! {
    all {
        n_disks: u32,
        n_spares: u32,
        strip: i64,
        member: i64,
        capacity: i64,
        data_offset: i64,
        copies: i64,
        n_groups: i64,
        n_data: i64,
        n_parity: i64,
        read_policy: CopyPolicy,
        failed: Vec<u32>,
        sync_action: SyncAction,
        rebuild_disk: i64,
        rebuild_window: i64,
        rebuild_front: i64,
    }

    /// A disk on its own, as `diskmodel.layout.single.tables`.
    SingleTables { family: Family }

    /// RAID, as `diskmodel.layout.md.tables`.
    MdTables {
        family: Family,
        far: bool,
        rotation: Rotation,
        cuts_reads: bool,
        largest_request: i64,
        huge_page_ppm: i64,
        holds_disks: bool,
        write_policy: WritePolicy,
        rebuild_steps: i64,
        rebuild_gap_ns: i64,
        rebuild_speed_min: i64,
        rebuild_idle: i64,
        rebuild_pause_ns: i64,
        bitmap_chunk: i64,
        bitmap_start: i64,
        bitmap_end: i64,
        bitmap_page: i64,
        bitmap_interval_ns: i64,
        bitmap_flush_ns: i64,
        stripe_cache: i64,
        stripe_page: i64,
        journal: Option<JournalTables>,
        ppl: Option<PartialTables>,
    }

    /// The vdevs of a pool, as `diskmodel.layout.pools.tables`.
    VdevTables { pool: PoolTables }
}

/// A layout's tables, beside a `kind` that says which they are.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[allow(clippy::large_enum_variant)] // it is read, and gone
pub enum VolumeTables {
    Single(SingleTables),
    Md(MdTables),
    Pool(VdevTables),
}

#[cfg(feature = "serde")]
impl From<VolumeTables> for LayoutTables {
    fn from(tables: VolumeTables) -> Self {
        match tables {
            VolumeTables::Single(tables) => tables.into(),
            VolumeTables::Md(tables) => tables.into(),
            VolumeTables::Pool(tables) => tables.into(),
        }
    }
}

named! {
    enum Kind {
        Single = "single",
        Md = "md",
        Pool = "pool",
    }
}

impl<C: Caller> Given<C> for LayoutTables {
    fn given(tables: &C::Value) -> Result<Self, C::Error> {
        const TAG: &[&str] = &["kind"];
        Ok(match C::field(tables, "Layout", "kind")? {
            Kind::Single => SingleTables::read::<C>(tables, TAG)?.into(),
            Kind::Md => MdTables::read::<C>(tables, TAG)?.into(),
            Kind::Pool => VdevTables::read::<C>(tables, TAG)?.into(),
        })
    }
}

impl Described for LayoutTables {
    fn word(lines: &mut BTreeSet<String>) -> String {
        let words =
            [("md", MdTables::word(lines)), ("single", SingleTables::word(lines)), ("pool", VdevTables::word(lines))];
        lines.extend(words.iter().map(|(kind, word)| format!("{word}.kind: {kind}")));
        words.map(|(_, word)| word).join("|")
    }
}

//! Tables of drives as a caller hands them over, and what the simulation makes of them.

use std::collections::BTreeSet;
use std::mem::take;

use crate::device::Intake;
use crate::divisor::Divisor;
use crate::drives::remote;
use crate::flash::{self, FtlTables};
use crate::given::{Caller, Given};
use crate::hdd::{self, Bus, Chances, Electronics};
use crate::mechanics::{Mechanics, SeekColumn, Turned, ZoneColumns, Zones};
use crate::media_cache::MediaCacheTables;
use crate::named::named;
use crate::schema::{record, Described};
use crate::units::NS_PER_S;
use crate::virtual_disk;

record! {
    /// A hard disk's tables.
    #[derive(Clone, Debug)]
    pub struct HddTables {
        pub sector_bytes: i64,
        pub n_sectors: i64,
        pub n_sectors_per_actuator: i64,
        pub actuators: i64,
        pub heads: i64,
        pub zone_first_lba: Vec<i64>,
        pub zone_first_cylinder: Vec<i64>,
        pub sectors_per_track: Vec<i64>,
        pub start_skew: Vec<i64>,
        pub track_skew: Vec<i64>,
        pub cylinder_skew: Vec<i64>,
        pub spare_sectors_per_track: Vec<i64>,
        pub spare_sectors_per_cylinder: Vec<i64>,
        pub seek_ns: SeekColumn,
        /// None: writes seek as reads do.
        pub write_seek_ns: Option<Box<SeekColumn>>,
        pub seek_inward_ns: i64,
        pub head_switch_ns: i64,
        pub write_settle_ns: i64,
        pub zero_latency: bool,
        pub zero_latency_ppm: i64,
        pub retry_ppm: i64,
        pub retry_ns: Vec<i64>,
        pub read_overhead_ns: i64,
        pub write_overhead_ns: i64,
        pub completion_overhead_ns: i64,
        pub write_completion_overhead_ns: i64,
        pub prefill_sectors: i64,
        pub interface_bytes_per_s: i64,
        pub buffer_full_ppm: i64,
        pub cache_segments: i64,
        pub segment_sectors: i64,
        pub read_ahead_sectors: i64,
        pub read_ahead_in_track: bool,
        pub read_on_arrival: bool,
        pub read_ahead_in_own_track: bool,
        pub reads_whole_track: bool,
        pub writes_drop_all: bool,
        pub keeps_writes: bool,
        pub dirty_sectors: i64,
        /// Least room of a write in the buffer.
        pub write_room_sectors: i64,
        pub weighed_commands: usize,
        pub weighed_writes: usize,
        /// Whether the arm takes buffered writes and commands in the order in which they became ready.
        pub destages_in_order: bool,
        /// Wait after which a command is taken next (rule D12); 0: none is.
        pub overdue_ns: i64,
        /// Whether what the buffer holds survives a power cut.
        pub is_protected: bool,
        /// Whether the host has a single write pass the buffer.
        pub has_fua: bool,
        /// Of each arm.
        pub media_cache: Option<MediaCacheTables>,
    }
}

record! {
    /// A flash drive's tables.
    #[derive(Clone, Debug)]
    pub struct FlashTables {
        pub sector_bytes: i64,
        pub n_sectors: i64,
        pub channels: usize,
        pub dies_per_channel: usize,
        pub page_bytes: i64,
        pub pages_per_block: i64,
        pub mapping_bytes: i64,
        pub read_ns: i64,
        pub program_ns: i64,
        pub erase_ns: i64,
        pub channel_bytes_per_s: i64,
        pub interface_bytes_per_s: i64,
        pub read_overhead_ns: i64,
        pub write_overhead_ns: i64,
        pub read_latency_ns: i64,
        pub write_latency_ns: i64,
        pub read_delay_ns: Vec<i64>,
        pub write_delay_ns: Vec<i64>,
        pub write_buffer_bytes: i64,
        /// Time of a flush, one after the other (rule F20).
        pub flush_ns: i64,
        /// Times until a program or an erase is suspended for a read (rule F21); none: reads wait for its end.
        pub suspend_ns: Vec<i64>,
        /// How long no writes are taken when so many units were copied, but those that have room (rule F24); 0: never.
        pub batch_ns: i64,
        pub batch_units: i64,
        pub batch_room_units: i64,
        /// Writes let in ahead of the pace of cleaning (rule F25); 0: as the buffer has room.
        pub pace_units: i64,
        /// What a read takes longer while the drive is written (rule F26).
        pub read_beside_writes_ns: i64,
        /// What a program takes longer while the drive is read (rule F27).
        pub program_beside_reads_ns: i64,
        /// Whether it reports a cache that loses writes with the power (rule Y2).
        pub has_volatile_cache: bool,
        /// The small drive on which garbage collection is followed (rule F12).
        pub ftl: FtlTables,
    }
}

record! {
    /// A virtual disk's tables.
    #[derive(Clone, Debug)]
    pub struct VirtualTables {
        pub sector_bytes: i64,
        pub n_sectors: i64,
        pub read_overhead_ns: i64,
        pub write_overhead_ns: i64,
        /// 0: the host takes no time to copy data.
        pub read_copy_bytes_per_s: i64,
        pub write_copy_bytes_per_s: i64,
        pub read_latency_ns: i64,
        pub write_latency_ns: i64,
        pub wake_ns: Vec<i64>,
        pub is_batched: bool,
    }
}

/// A drive's tables, beside a `kind` that says which they are.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "remote::Any<Box<HddTables>, Box<FlashTables>>"))]
pub enum Drive {
    Hdd(Box<HddTables>),
    Flash(Box<FlashTables>),
    Remote(remote::Tables),
}

#[cfg(feature = "serde")]
impl From<remote::Any<Box<HddTables>, Box<FlashTables>>> for Drive {
    fn from(any: remote::Any<Box<HddTables>, Box<FlashTables>>) -> Self {
        any.sorted(Drive::Hdd, Drive::Flash, Drive::Remote)
    }
}

named! {
    enum Kind {
        Hdd = "hdd",
        Flash = "flash",
    }
}

enum AnyKind {
    Own(Kind),
    Remote(remote::Kind),
}

impl<C: Caller> Given<C> for AnyKind {
    fn given(value: &C::Value) -> Result<Self, C::Error> {
        let of = |name: &str| {
            let own = Kind::named(name).map(AnyKind::Own);
            own.or_else(|| remote::Kind::named(name).map(AnyKind::Remote))
        };
        C::meant(value, of, &[Kind::NAMES, remote::Kind::NAMES].concat())
    }
}

impl<C: Caller> Given<C> for Drive {
    fn given(tables: &C::Value) -> Result<Self, C::Error> {
        const TAG: &[&str] = &["kind"];
        Ok(match C::field(tables, "Drive", "kind")? {
            AnyKind::Own(Kind::Hdd) => Drive::Hdd(Box::new(HddTables::read::<C>(tables, TAG)?)),
            AnyKind::Own(Kind::Flash) => Drive::Flash(Box::new(FlashTables::read::<C>(tables, TAG)?)),
            AnyKind::Remote(kind) => Drive::Remote(remote::Tables::read::<C>(kind, tables, TAG)?),
        })
    }
}

impl Described for Drive {
    fn word(lines: &mut BTreeSet<String>) -> String {
        let mut words = vec![("flash", FlashTables::word(lines)), ("hdd", HddTables::word(lines))];
        words.extend(remote::Tables::words(lines));
        words.sort_unstable();
        lines.extend(words.iter().map(|(kind, word)| format!("{word}.kind: {kind}")));
        words.into_iter().map(|(_, word)| word).collect::<Vec<_>>().join("|")
    }
}

impl Drive {
    /// Whether a host that wants its writes safe sends flushes, and whether single writes pass the buffer (rule Y2).
    pub(super) fn flushing(&self) -> (bool, bool) {
        match self {
            Drive::Hdd(tables) => (tables.dirty_sectors > 0, tables.has_fua),
            Drive::Flash(tables) => (tables.write_buffer_bytes > 0 && tables.has_volatile_cache, false),
            Drive::Remote(tables) => (tables.has_flushes(), false),
        }
    }
}

impl HddTables {
    /// Of tables that were checked.
    pub(super) fn model(mut self, depth: usize) -> hdd::Model {
        let zones = Zones::new(
            self.heads,
            &ZoneColumns {
                first_lba: take(&mut self.zone_first_lba),
                first_cylinder: take(&mut self.zone_first_cylinder),
                sectors_per_track: take(&mut self.sectors_per_track),
                start_skew: take(&mut self.start_skew),
                track_skew: take(&mut self.track_skew),
                cylinder_skew: take(&mut self.cylinder_skew),
                spare_per_track: take(&mut self.spare_sectors_per_track),
                spare_per_cylinder: take(&mut self.spare_sectors_per_cylinder),
            },
        );
        let reads = self.seek_ns.take();
        let writes = self.write_seek_ns.take().map(|mut column| column.take());
        let seeks = reads.table(writes.as_ref());
        let chances = Chances {
            zero_latency_ppm: if self.zero_latency { self.zero_latency_ppm as u64 } else { 1_000_000 },
            retry_ppm: self.retry_ppm as u64,
            retry_ns: take(&mut self.retry_ns),
        };
        let mechanics = Mechanics::new(zones, seeks, self.head_switch_ns, self.write_settle_ns, self.zero_latency)
            .with(Turned { inward_ns: self.seek_inward_ns });
        hdd::Model {
            in_order: chances.are_mixed().then(|| Box::new(mechanics.in_order())),
            mechanics,
            has_draws: chances.has_draws(),
            chances,
            electronics: Electronics {
                bus: Bus::new(self.sector_bytes, self.interface_bytes_per_s),
                intake: Intake { depth, overhead_ns: [self.read_overhead_ns, self.write_overhead_ns] },
                tables: self,
            },
        }
    }
}

impl FlashTables {
    /// Room of the buffer for writes of before the run: the page that is being filled may hold up to all but one of its
    /// units already.
    pub(super) fn loadable_sectors(&self) -> i64 {
        if self.write_buffer_bytes == 0 {
            return 0;
        }
        let per_page = self.page_bytes / self.mapping_bytes;
        let room = (self.write_buffer_bytes / self.mapping_bytes).max(per_page);
        (room - (per_page - 1)) * (self.mapping_bytes / self.sector_bytes)
    }

    /// Of tables that were checked.
    pub(super) fn model(self, depth: usize) -> flash::Model {
        let units_per_page = self.page_bytes / self.mapping_bytes;
        flash::Model {
            intake: Intake { depth, overhead_ns: [self.read_overhead_ns, self.write_overhead_ns] },
            sectors_per_unit: self.mapping_bytes / self.sector_bytes,
            units_per_page,
            page_ns: self.page_bytes * NS_PER_S / self.channel_bytes_per_s,
            by_channel_rate: Divisor::new(self.channel_bytes_per_s),
            by_interface_rate: Divisor::new(self.interface_bytes_per_s),
            by_dies: Divisor::new((self.channels * self.dies_per_channel) as i64),
            by_channels: Divisor::new(self.channels as i64),
            is_buffered: self.write_buffer_bytes > 0,
            suspends: self.write_buffer_bytes > 0 && !self.suspend_ns.is_empty(),
            room_units: (self.write_buffer_bytes / self.mapping_bytes).max(units_per_page),
            tables: self,
        }
    }
}

impl VirtualTables {
    /// Of tables that were checked.
    pub(crate) fn model(self, depth: usize) -> virtual_disk::Model {
        let intake = Intake { depth, overhead_ns: [self.read_overhead_ns, self.write_overhead_ns] };
        virtual_disk::Model { intake, tables: self }
    }
}

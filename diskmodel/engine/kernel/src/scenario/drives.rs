//! Tables of drives as a caller hands them over, and what the simulation makes of them.

use crate::device::Intake;
use crate::divisor::Divisor;
use crate::flash::{self, FtlTables};
use crate::hdd::{self, Bus, Chances, Electronics};
use crate::mechanics::{Mechanics, SeekColumn, Varied, ZoneColumns, Zones};
use crate::media_cache::MediaCacheTables;
#[cfg(feature = "python")]
use crate::named::named;
#[cfg(feature = "python")]
use crate::python::{extract::whole_numbers, seeks::seeks, seeks::write_seeks};
use crate::virtual_disk;

const NS_PER_S: i64 = 1_000_000_000;

/// A hard disk's tables.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject), pyo3(from_item_all))]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
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
    pub spare_sectors_per_cylinder: Vec<i64>,
    #[cfg_attr(feature = "python", pyo3(from_py_with = seeks))]
    pub seek_ns: SeekColumn,
    /// None: writes seek as reads do.
    #[cfg_attr(feature = "python", pyo3(from_py_with = write_seeks))]
    pub write_seek_ns: Option<Box<SeekColumn>>,
    pub seek_inward_ns: i64,
    pub head_switch_ns: i64,
    pub write_settle_ns: i64,
    pub zero_latency: bool,
    pub zero_latency_ppm: i64,
    pub retry_ppm: i64,
    #[cfg_attr(feature = "python", pyo3(from_py_with = whole_numbers))]
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
    #[cfg_attr(feature = "serde", serde(default))]
    pub write_room_sectors: i64,
    pub weighed_commands: i64,
    pub weighed_writes: i64,
    /// Of each arm.
    #[cfg_attr(feature = "serde", serde(default))]
    pub media_cache: Option<MediaCacheTables>,
}

/// A flash drive's tables.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject), pyo3(from_item_all))]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
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
    #[cfg_attr(feature = "python", pyo3(from_py_with = whole_numbers))]
    #[cfg_attr(feature = "serde", serde(default))]
    pub read_delay_ns: Vec<i64>,
    #[cfg_attr(feature = "python", pyo3(from_py_with = whole_numbers))]
    #[cfg_attr(feature = "serde", serde(default))]
    pub write_delay_ns: Vec<i64>,
    pub write_buffer_bytes: i64,
    /// The small drive on which garbage collection is followed (rule F12).
    pub ftl: FtlTables,
}

/// A virtual disk's tables.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject), pyo3(from_item_all))]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
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
    #[cfg_attr(feature = "python", pyo3(from_py_with = whole_numbers))]
    pub wake_ns: Vec<i64>,
    pub is_batched: bool,
}

/// A drive's tables, beside a `kind` that says which they are.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(tag = "kind", rename_all = "lowercase"))]
pub enum Drive {
    Hdd(Box<HddTables>),
    Flash(FlashTables),
    Virtual(VirtualTables),
}

#[cfg(feature = "python")]
named! {
    enum Kind {
        Hdd = "hdd",
        Flash = "flash",
        Virtual = "virtual",
    }
}

#[cfg(feature = "python")]
#[derive(pyo3::FromPyObject)]
#[pyo3(from_item_all)]
struct Tag {
    kind: Kind,
}

#[cfg(feature = "python")]
impl<'a, 'py> pyo3::FromPyObject<'a, 'py> for Drive {
    type Error = pyo3::PyErr;

    fn extract(tables: pyo3::Borrowed<'a, 'py, pyo3::PyAny>) -> pyo3::PyResult<Self> {
        Ok(match tables.extract::<Tag>()?.kind {
            Kind::Hdd => Drive::Hdd(Box::new(tables.extract()?)),
            Kind::Flash => Drive::Flash(tables.extract()?),
            Kind::Virtual => Drive::Virtual(tables.extract()?),
        })
    }
}

impl HddTables {
    /// Of tables that were checked.
    pub(super) fn model(self, depth: usize) -> hdd::Model {
        let zones = Zones::new(
            self.heads,
            &ZoneColumns {
                first_lba: self.zone_first_lba,
                first_cylinder: self.zone_first_cylinder,
                sectors_per_track: self.sectors_per_track,
                start_skew: self.start_skew,
                track_skew: self.track_skew,
                cylinder_skew: self.cylinder_skew,
                spare: self.spare_sectors_per_cylinder,
            },
        );
        let seeks = self.seek_ns.0.unwrap_or_default();
        let write_ns = self.write_seek_ns.map(|column| column.0.unwrap_or_default());
        let chances = Chances {
            zero_latency_ppm: if self.zero_latency { self.zero_latency_ppm as u64 } else { 1_000_000 },
            retry_ppm: self.retry_ppm as u64,
            retry_ns: self.retry_ns,
        };
        let mechanics = Mechanics::new(zones, seeks, self.head_switch_ns, self.write_settle_ns, self.zero_latency)
            .with(Varied { write_ns, inward_ns: self.seek_inward_ns });
        hdd::Model {
            in_order: chances.are_mixed().then(|| Box::new(mechanics.in_order())),
            mechanics,
            has_draws: chances.has_draws(),
            chances,
            electronics: Electronics {
                sector_bytes: self.sector_bytes,
                n_sectors: self.n_sectors,
                n_sectors_per_actuator: self.n_sectors_per_actuator,
                actuators: self.actuators,
                completion_overhead_ns: self.completion_overhead_ns,
                write_completion_overhead_ns: self.write_completion_overhead_ns,
                prefill_sectors: self.prefill_sectors,
                buffer_full_ppm: self.buffer_full_ppm,
                bus: Bus::new(self.sector_bytes, self.interface_bytes_per_s),
                cache_segments: self.cache_segments,
                segment_sectors: self.segment_sectors,
                read_ahead_sectors: self.read_ahead_sectors,
                read_ahead_in_track: self.read_ahead_in_track,
                read_on_arrival: self.read_on_arrival,
                read_ahead_in_own_track: self.read_ahead_in_own_track,
                reads_whole_track: self.reads_whole_track,
                writes_drop_all: self.writes_drop_all,
                keeps_writes: self.keeps_writes,
                dirty_sectors: self.dirty_sectors,
                write_room_sectors: self.write_room_sectors,
                weighed_commands: self.weighed_commands as usize,
                weighed_writes: self.weighed_writes as usize,
                intake: Intake { depth, overhead_ns: [self.read_overhead_ns, self.write_overhead_ns] },
                media_cache: self.media_cache,
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
        let sectors_per_unit = self.mapping_bytes / self.sector_bytes;
        flash::Model {
            intake: Intake { depth, overhead_ns: [self.read_overhead_ns, self.write_overhead_ns] },
            sector_bytes: self.sector_bytes,
            n_sectors: self.n_sectors,
            channels: self.channels,
            dies_per_channel: self.dies_per_channel,
            sectors_per_unit,
            units_per_page,
            pages_per_block: self.pages_per_block,
            read_ns: self.read_ns,
            program_ns: self.program_ns,
            erase_ns: self.erase_ns,
            page_ns: self.page_bytes * NS_PER_S / self.channel_bytes_per_s,
            by_channel_rate: Divisor::new(self.channel_bytes_per_s),
            by_interface_rate: Divisor::new(self.interface_bytes_per_s),
            by_dies: Divisor::new((self.channels * self.dies_per_channel) as i64),
            by_channels: Divisor::new(self.channels as i64),
            read_latency_ns: self.read_latency_ns,
            write_latency_ns: self.write_latency_ns,
            read_delay_ns: self.read_delay_ns,
            write_delay_ns: self.write_delay_ns,
            is_buffered: self.write_buffer_bytes > 0,
            room_units: (self.write_buffer_bytes / self.mapping_bytes).max(units_per_page),
            ftl: self.ftl,
        }
    }
}

impl VirtualTables {
    /// Of tables that were checked.
    pub(super) fn model(self, depth: usize) -> virtual_disk::Model {
        virtual_disk::Model {
            intake: Intake { depth, overhead_ns: [self.read_overhead_ns, self.write_overhead_ns] },
            sector_bytes: self.sector_bytes,
            n_sectors: self.n_sectors,
            read_copy_bytes_per_s: self.read_copy_bytes_per_s,
            write_copy_bytes_per_s: self.write_copy_bytes_per_s,
            read_latency_ns: self.read_latency_ns,
            write_latency_ns: self.write_latency_ns,
            wake_ns: self.wake_ns,
            is_batched: self.is_batched,
        }
    }
}

//! Small drives, for the tests beside the code (`src/online/tests.rs`) and those here.

use super::{FlashTables, FtlTables, GcPolicy, HddTables, Queue, SchedulerName, VirtualTables};

pub fn queue(scheduler: &str) -> Queue {
    Queue {
        scheduler: SchedulerName::named(scheduler).unwrap(),
        age_ns: 300_000_000,
        miss_margin_ns: 1_000_000,
        miss_256ths: 0,
        age_weight_ppm: 5_000,
        committed: 2,
        read_expire_ns: 500_000_000,
        write_expire_ns: 5_000_000_000,
        fifo_batch: 16,
        writes_starved: 2,
    }
}

/// A disk of two zones and two heads, with a buffer.
pub fn hdd() -> HddTables {
    HddTables {
        sector_bytes: 512,
        n_sectors: 25_200,
        n_sectors_per_actuator: 25_200,
        actuators: 1,
        heads: 2,
        zone_first_lba: vec![0, 12_600, 25_200],
        zone_first_cylinder: vec![0, 63, 163],
        sectors_per_track: vec![100, 63],
        start_skew: vec![0, 50],
        track_skew: vec![3, 5],
        cylinder_skew: vec![7, 11],
        spare_sectors_per_track: vec![0, 0],
        spare_sectors_per_cylinder: vec![0, 0],
        seek_ns: (0..163).map(|d| if d == 0 { 0 } else { 300_000 + 20_000 * d }).collect(),
        write_seek_ns: None,
        seek_inward_ns: 0,
        head_switch_ns: 400_000,
        write_settle_ns: 200_000,
        zero_latency: true,
        zero_latency_ppm: 1_000_000,
        retry_ppm: 0,
        retry_ns: Vec::new(),
        read_overhead_ns: 50_000,
        write_overhead_ns: 70_000,
        completion_overhead_ns: 10_000,
        write_completion_overhead_ns: 30_000,
        prefill_sectors: 8,
        interface_bytes_per_s: 320_000_000,
        buffer_full_ppm: 250_000,
        cache_segments: 2,
        segment_sectors: 128,
        read_ahead_sectors: 64,
        read_ahead_in_track: false,
        read_on_arrival: true,
        read_ahead_in_own_track: false,
        reads_whole_track: false,
        writes_drop_all: false,
        keeps_writes: false,
        dirty_sectors: 256,
        write_room_sectors: 0,
        weighed_commands: 32,
        weighed_writes: 32,
        destages_in_order: false,
        overdue_ns: 0,
        has_fua: false,
        is_protected: false,
        media_cache: None,
    }
}

/// A small flash drive whose garbage collection works all the time.
pub fn flash() -> FlashTables {
    FlashTables {
        sector_bytes: 512,
        n_sectors: 25_200,
        channels: 2,
        dies_per_channel: 2,
        page_bytes: 16_384,
        pages_per_block: 16,
        mapping_bytes: 4_096,
        read_ns: 50_000,
        program_ns: 600_000,
        erase_ns: 3_000_000,
        channel_bytes_per_s: 400_000_000,
        interface_bytes_per_s: 500_000_000,
        read_overhead_ns: 3_000,
        write_overhead_ns: 4_000,
        read_latency_ns: 20_000,
        write_latency_ns: 10_000,
        read_delay_ns: vec![],
        write_delay_ns: vec![0, 0, 300_000],
        write_buffer_bytes: 131_072,
        flush_ns: 0,
        suspend_ns: Vec::new(),
        batch_ns: 0,
        batch_units: 1,
        batch_room_units: 1,
        pace_units: 0,
        read_beside_writes_ns: 0,
        program_beside_reads_ns: 0,
        has_volatile_cache: true,
        ftl: FtlTables {
            n_units: 3_150,
            physical_units: 3_456,
            extent_units: 3_150,
            n_extents: 1,
            folded_extents: 1,
            model_units: 3_150,
            model_blocks: 54,
            block_units: 64,
            units_per_page: 4,
            is_exact: true,
            is_fresh: false,
            valid: (0..54).map(|block| 58 + i64::from(block < 18)).collect(),
            stride: 1_949,
            policy: GcPolicy::Greedy,
        },
    }
}

/// A small virtual disk that answers in batches.
pub fn virtual_disk() -> VirtualTables {
    VirtualTables {
        sector_bytes: 512,
        n_sectors: 25_200,
        read_overhead_ns: 6_000,
        write_overhead_ns: 7_000,
        read_copy_bytes_per_s: 1_500_000_000,
        write_copy_bytes_per_s: 0,
        read_latency_ns: 20_000,
        write_latency_ns: 0,
        wake_ns: vec![10_000, 30_000, 90_000],
        is_batched: true,
    }
}

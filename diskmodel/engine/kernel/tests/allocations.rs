//! In the steady state no event allocates: the allocator counts.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use diskmodel_kernel::scenario::{
    Built, Drive, FlashTables, FtlTables, GcPolicy, HddTables, LayoutTables, Queue, Scenario,
};
use diskmodel_kernel::scenario::{CopyPolicy, Family, RemoteTables, Rotation, SchedulerName, Start, VirtualTables};
use diskmodel_kernel::simulation::Simulation;
use diskmodel_kernel::traffic::{Completion, Request, Rule, Taken, Traffic};

use small::queue;

mod small;

struct Counting;

static ALLOCATED: AtomicU64 = AtomicU64::new(0);

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(1, Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATED.fetch_add(1, Relaxed);
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const WARM_UP: u64 = 20_000;
const MEASURED: u64 = 20_000;
const SECTORS: i64 = 20_000;

/// Closed clients that read and write 8 sectors at random.
struct Clients {
    rules: [Rule; 1],
    n_taken: u64,
    n_done: u64,
    draw: u64,
    warm: u64,
}

impl Traffic for Clients {
    fn rules(&self) -> &[Rule] {
        &self.rules
    }

    fn take(&mut self, _stream: usize) -> Option<Taken> {
        self.n_taken += 1;
        Some(Taken { id: self.n_taken as u32, row: self.n_taken, when: 0 })
    }

    fn request(&mut self, id: u32, _now: i64) -> Request {
        self.draw = self.draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let drawn = self.draw >> 33;
        let offset = (drawn as i64 % (SECTORS / 8)) * 8 * 512;
        Request { row: u64::from(id), stream: 0, op: (drawn >> 20) as u8 & 1, offset, length: 4096, cache_draw: 0.5 }
    }

    fn done(&mut self, _completion: &Completion) {
        self.n_done += 1;
        if self.n_done == WARM_UP {
            self.warm = ALLOCATED.load(Relaxed);
        }
    }

    fn is_over(&self) -> bool {
        self.n_done == WARM_UP + MEASURED
    }
}

fn hdd(dirty_sectors: i64) -> Drive {
    Drive::Hdd(Box::new(HddTables { cache_segments: 16, dirty_sectors, ..small::hdd() }))
}

fn flash() -> Drive {
    Drive::Flash(Box::new(small::flash()))
}

fn virtual_disk() -> Drive {
    Drive::Remote(RemoteTables::Virtual(small::virtual_disk()))
}

fn scenario(drive: Drive, level: (&str, u32, i64, i64)) -> Scenario {
    let (family, n_disks, copies, n_parity) = level;
    let layout = LayoutTables {
        family: Family::named(family).unwrap(),
        n_disks,
        strip: 16,
        member: 25_200,
        capacity: SECTORS,
        copies,
        n_groups: 1,
        n_data: i64::from(n_disks) - n_parity,
        n_parity,
        rotation: Rotation::LeftSymmetric,
        read_policy: CopyPolicy::Nearest,
        rebuild_window: 128,
        rebuild_idle: 64,
        ..LayoutTables::without()
    };
    Scenario {
        drive,
        layout,
        queue: queue("fcfs"),
        drive_queue: queue("sptf"),
        merge_sectors: 0,
        write_zones: None,
        throttle_requests: 0,
        depth: 32,
        command_ns: 20_000,
        gap_ns: 0,
        hit_ns: 100_000,
        link_bytes_per_s: 230_000_000,
        hit_ratio: 0.0,
        volume_depth: 0,
        cache: None,
        host: None,
        revolution_ns: vec![4_000_000; n_disks as usize],
        phase_ns: vec![0; n_disks as usize],
        first_draw: 0,
        start: Start::default(),
        log: None,
        special: None,
        l2arc: None,
        sample_every: 0,
    }
}

/// Allocations of the measured requests, a request.
fn allocations(scenario: Scenario, n_clients: i64) -> f64 {
    let rules = [Rule { n_clients, ..Rule::default() }];
    let clients = Clients { rules, n_taken: 0, n_done: 0, draw: 1, warm: 0 };
    let warm = match scenario.build().unwrap().0 {
        Built::Hdd(parts) => {
            let mut simulation = Simulation::new(parts, clients);
            simulation.run().unwrap();
            simulation.traffic().warm
        }
        Built::Flash(parts) => {
            let mut simulation = Simulation::new(parts, clients);
            simulation.run().unwrap();
            simulation.traffic().warm
        }
        Built::Remote(parts) => {
            let mut simulation = Simulation::new(parts, clients);
            simulation.run().unwrap();
            simulation.traffic().warm
        }
    };
    (ALLOCATED.load(Relaxed) - warm) as f64 / MEASURED as f64
}

/// One test, so that nothing else allocates meanwhile.
#[test]
fn no_event_allocates() {
    let one = ("copies", 1, 1, 0);
    let raid5 = ("parity", 5, 1, 1);
    let raid10 = ("copies", 4, 2, 0);
    let quiet = [
        ("one disk", scenario(hdd(0), one), 1),
        ("one disk, SPTF", scenario(hdd(0), one), 32),
        ("RAID 5", scenario(hdd(0), raid5), 8),
        ("RAID 10", scenario(hdd(0), raid10), 32),
        ("flash", scenario(flash(), one), 32),
        ("RAID 5 of flash", scenario(flash(), raid5), 8),
        ("virtual disk", scenario(virtual_disk(), one), 32),
        ("RAID 5 of virtual disks", scenario(virtual_disk(), raid5), 8),
    ];
    for (name, scenario, n_clients) in quiet {
        // a handful: something that had never been so long
        let n = allocations(scenario, n_clients);
        assert!(n < 0.002, "{name}: {n} allocations a request");
    }
    // ordered structures take and give back nodes for several commands each
    let deep = Scenario { queue: queue("look"), depth: 4, ..scenario(hdd(0), one) };
    let merging = Scenario { merge_sectors: 64, ..scenario(hdd(0), one) };
    let ordered = [
        ("deep queue", deep, 500),
        ("merging", Scenario { depth: 4, ..merging }, 500),
        ("write-back", scenario(hdd(4_096), one), 32),
    ];
    for (name, scenario, n_clients) in ordered {
        let n = allocations(scenario, n_clients);
        assert!(n < 1.0, "{name}: {n} allocations a request");
        println!("{name}: {n} allocations a request");
    }
}

//! The array in real time gives the same completions as the same requests in columns.

use super::*;
use crate::scenario::{
    CopyPolicy, Drive, Family, FlashTables, FtlTables, GcPolicy, HddTables, LayoutTables, Queue, Rotation, SyncAction,
};
use crate::scenario::{RemoteTables, SchedulerName, VirtualTables};
use crate::traffic::{Column, Columns, Completions, PartColumns, Requests, N_PARTS};

use small::queue;

#[path = "../../tests/small/mod.rs"]
mod small;

/// Four small drives with buffers as RAID 5, one of them lost and being rebuilt, behind a link and a hit ratio.
pub(crate) fn scenario() -> Scenario {
    let layout = LayoutTables {
        family: Family::Parity,
        n_disks: 4,
        n_spares: 1,
        strip: 16,
        member: 25_200,
        capacity: 75_600,
        copies: 1,
        n_groups: 1,
        n_data: 3,
        n_parity: 1,
        rotation: Rotation::LeftSymmetric,
        read_policy: CopyPolicy::Nearest,
        failed: vec![1],
        sync_action: SyncAction::Recover,
        rebuild_disk: 1,
        rebuild_window: 128,
        rebuild_gap_ns: 30_000_000,
        rebuild_idle: 64,
        rebuild_pause_ns: 0,
        ..LayoutTables::without()
    };
    Scenario {
        drive: Drive::Hdd(Box::new(small::hdd())),
        layout,
        queue: queue("mq-deadline"),
        drive_queue: queue("sptf"),
        merge_sectors: 0,
        write_zones: None,
        throttle_requests: 0,
        depth: 4,
        command_ns: 20_000,
        gap_ns: 0,
        hit_ns: 100_000,
        link_bytes_per_s: 23_000_000,
        hit_ratio: 0.3,
        volume_depth: 0,
        cache: None,
        host: None,
        revolution_ns: vec![4_000_000; 5],
        phase_ns: vec![0, 1_000_000, 2_000_000, 3_000_000, 500_000],
        first_draw: 0,
        start: crate::scenario::Start::default(),
        log: None,
        special: None,
        l2arc: None,
        sample_every: 0,
    }
}

/// The same array of small flash drives, whose garbage collection works from the beginning.
fn on_flash() -> Scenario {
    Scenario { drive: Drive::Flash(Box::new(small::flash())), ..scenario() }
}

/// The same array of small virtual disks, which answer in batches.
fn on_virtual_disks() -> Scenario {
    Scenario { drive: Drive::Remote(RemoteTables::Virtual(small::virtual_disk())), ..scenario() }
}

/// (time, op, offset, length, draw), several at one instant now and then.
fn workload(n: usize) -> Vec<(i64, u8, i64, i64, f64)> {
    let mut dice = Array::new(scenario(), 42).unwrap();
    let mut below = |limit: i64| (dice.draw() * limit as f64) as i64;
    let mut time = 0;
    (0..n)
        .map(|_| {
            time += below(3) * below(8_000_000);
            let sectors = 1 + below(64);
            let sector = below(75_600 - sectors);
            (time, below(2) as u8, sector * 512, sectors * 512, below(1000) as f64 / 1000.0)
        })
        .collect()
}

/// (row, time of completion), in order of completion.
fn in_columns(array: Scenario, rows: &[(i64, u8, i64, i64, f64)]) -> Vec<(u64, i64)> {
    let n = rows.len();
    let requests = Requests {
        when: Column::Each(&rows.iter().map(|r| r.0).collect::<Vec<_>>()),
        op: Column::Each(&rows.iter().map(|r| r.1).collect::<Vec<_>>()),
        offset: Column::Each(&rows.iter().map(|r| r.2).collect::<Vec<_>>()),
        length: Column::Each(&rows.iter().map(|r| r.3).collect::<Vec<_>>()),
        stream: Column::All(0, n),
        cache_draw: Column::Each(&rows.iter().map(|r| r.4).collect::<Vec<_>>()),
        rules: vec![Rule::OPEN],
    };
    let (mut issue, mut done) = (vec![0; n], vec![0; n]);
    let (mut parts, mut is_hit) = (vec![0; n * N_PARTS], vec![false; n]);
    let out = Completions {
        issue: Some(&mut issue),
        done: &mut done,
        parts: PartColumns::Wide(&mut parts),
        is_hit: &mut is_hit,
    };
    let columns = Feed::Columns(Columns::new(requests, out));
    match array.build().unwrap().0 {
        Built::Hdd(parts) => Simulation::new(parts, columns).run().unwrap(),
        Built::Flash(parts) => Simulation::new(parts, columns).run().unwrap(),
        Built::Remote(parts) => Simulation::new(parts, columns).run().unwrap(),
    };
    let mut completions: Vec<_> = done.into_iter().enumerate().map(|(row, time)| (row as u64, time)).collect();
    completions.sort_by_key(|&(_, time)| time);
    completions
}

fn sorted(mut completions: Vec<(u64, i64)>) -> Vec<(u64, i64)> {
    completions.sort_by_key(|&(row, time)| (time, row));
    completions
}

#[test]
fn requests_one_by_one_complete_as_in_columns() {
    check_one_by_one(scenario);
}

#[test]
fn so_they_do_on_flash() {
    check_one_by_one(on_flash);
}

#[test]
fn so_they_do_on_virtual_disks() {
    check_one_by_one(on_virtual_disks);
}

fn check_one_by_one(scenario: fn() -> Scenario) {
    let rows = workload(2_000);
    let mut array = Array::new(scenario(), 1).unwrap();
    let mut completed = Vec::new();
    for (row, &(time, op, offset, length, draw)) in rows.iter().enumerate() {
        array.advance(time - 1, |tag, done| completed.push((tag, done)));
        array.submit_drawn(time, row as u64, op, (offset, length), draw).unwrap();
    }
    while array.outstanding() > 0 {
        let next = array.next_event_ns().unwrap();
        array.advance(next, |tag, done| {
            assert_eq!(done, next);
            completed.push((tag, done));
        });
    }
    assert_eq!(completed.len(), rows.len());
    assert!(completed.windows(2).all(|w| w[0].1 <= w[1].1), "completions are reported in order");
    assert_eq!(sorted(completed), sorted(in_columns(scenario(), &rows)));
}

/// A server that wakes late sees the same completions, only later.
#[test]
fn a_late_caller_changes_no_completion() {
    let rows = workload(500);
    let mut array = Array::new(scenario(), 1).unwrap();
    let mut completed = Vec::new();
    for (row, &(time, op, offset, length, draw)) in rows.iter().enumerate() {
        array.submit_drawn(time, row as u64, op, (offset, length), draw).unwrap();
    }
    array.advance(i64::MAX / 2, |tag, done| completed.push((tag, done)));
    assert_eq!(array.outstanding(), 0);
    assert_eq!(sorted(completed), sorted(in_columns(scenario(), &rows)));
}

/// A closed loop that runs long takes no more memory than at its beginning.
#[test]
fn nothing_grows_with_time() {
    let rows = workload(20_000);
    let mut array = Array::new(scenario(), 1).unwrap();
    let mut n_slots = Vec::new();
    for (row, &(_, op, offset, length, _)) in rows.iter().enumerate() {
        let now = array.simulation.now();
        array.submit(now, row as u64, op, offset, length).unwrap();
        while array.outstanding() >= 8 {
            let next = array.next_event_ns().unwrap();
            array.advance(next, |_, _| ());
        }
        if row % 10_000 == 9_999 {
            n_slots.push(array.simulation.n_slots());
        }
    }
    assert!(n_slots[1] <= 2 * n_slots[0] && n_slots[1] < 1_000, "{n_slots:?}");
}

#[test]
fn requests_beyond_the_end_are_refused() {
    let mut array = Array::new(scenario(), 1).unwrap();
    let end = array.capacity_bytes();
    assert!(array.submit(0, 0, 0, end - 512, 1024).is_err());
    assert!(array.submit(0, 0, 0, -1, 512).is_err());
    assert!(array.submit(0, 0, 2, 0, 512).is_err());
    assert!(array.submit(0, 0, 0, 0, 0).is_err());
    assert_eq!(array.outstanding(), 0);
}

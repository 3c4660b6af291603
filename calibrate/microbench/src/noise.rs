//! Disturbances of a measurement: other I/O on the disk, clock steps, a processor taken away.

use std::fs;

use crate::clock;
use crate::device::{self, Traffic};
use crate::document::Warning;

/// Other traffic is worth a warning above this share of our own, and above this rate.
const OTHER_SHARE: f64 = 0.02;
const OTHER_BYTES_PER_S: f64 = 256.0 * 1024.0;
/// NTP slews by up to 500 ppm; what moves faster is a step.
const SLEW: f64 = 500e-6;
const STEP_NS: f64 = 1e6;
const STOLEN_RATIO: f64 = 0.05;
/// Share of the time that the measuring thread may wait for a processor: all of it is in the latencies.
const WAITED_RATIO: f64 = 0.02;
/// Repetitions farther apart than this share of their median disagree.
pub const DISAGREE_RATIO: f64 = 0.10;
const SLOWING_RATIO: f64 = 0.8;

pub struct Watch {
    disk: Option<String>,
    traffic: Option<Traffic>,
    wall_offset_ns: i64,
    start_ns: u64,
    cpu: Option<(u64, u64)>,
    waited_ns: Option<u64>,
}

impl Watch {
    pub fn start(disk: Option<&str>) -> Self {
        Watch {
            disk: disk.map(str::to_string),
            traffic: disk.and_then(device::traffic),
            wall_offset_ns: clock::wall_offset_ns(),
            start_ns: clock::now_ns(),
            cpu: stolen_and_total(),
            waited_ns: clock::waited_for_processor_ns(),
        }
    }

    /// Warnings about the time since `start`, in which we moved `own` bytes ourselves.
    pub fn finish(&self, experiment: &str, own: (u64, u64)) -> Vec<Warning> {
        let elapsed_ns = (clock::now_ns() - self.start_ns) as f64;
        let mut found = Vec::new();
        let mut warn = |code: &str, message: String| {
            found.push(Warning { code: code.into(), experiment: Some(experiment.into()), message });
        };
        let now = self.disk.as_deref().and_then(device::traffic);
        if let (Some(before), Some(after)) = (self.traffic, now) {
            let other = other_bytes(before, after, own);
            if is_disturbing(other, own.0 + own.1, elapsed_ns) {
                warn(
                    "other_io",
                    format!(
                        "others moved {other} bytes on the disk while we moved {}; stop them and measure again",
                        own.0 + own.1
                    ),
                );
            }
        }
        let stepped = (clock::wall_offset_ns() - self.wall_offset_ns) as f64;
        if stepped.abs() > STEP_NS + SLEW * elapsed_ns {
            warn("clock_step", format!("the wall clock was stepped by {:.3} ms", stepped / 1e6));
        }
        if let (Some(before), Some(after)) = (self.cpu, stolen_and_total()) {
            let ratio = (after.0 - before.0) as f64 / (after.1 - before.1).max(1) as f64;
            if ratio > STOLEN_RATIO {
                warn(
                    "cpu_stolen",
                    format!("the hypervisor gave {:.0} % of the processor time to others", ratio * 100.0),
                );
            }
        }
        if let (Some(before), Some(after)) = (self.waited_ns, clock::waited_for_processor_ns()) {
            let ratio = (after - before) as f64 / elapsed_ns.max(1.0);
            if ratio > WAITED_RATIO {
                warn(
                    "busy_processor",
                    format!(
                        "this program waited for a processor {:.0} % of the time, which is part of the latencies; \
                         measure at a quieter time, or with real-time priority (chrt -f 5)",
                        ratio * 100.0
                    ),
                );
            }
        }
        found
    }
}

fn other_bytes(before: Traffic, after: Traffic, own: (u64, u64)) -> u64 {
    let read = (after.read_bytes - before.read_bytes).saturating_sub(own.0);
    let written = (after.written_bytes - before.written_bytes).saturating_sub(own.1);
    read + written
}

fn is_disturbing(other: u64, own: u64, elapsed_ns: f64) -> bool {
    other as f64 > OTHER_SHARE * own as f64 && other as f64 > OTHER_BYTES_PER_S * elapsed_ns / 1e9
}

fn stolen_and_total() -> Option<(u64, u64)> {
    parse_cpu(&fs::read_to_string("/proc/stat").ok()?)
}

fn parse_cpu(stat: &str) -> Option<(u64, u64)> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let fields: Vec<u64> = line.split_whitespace().map_while(|s| s.parse().ok()).collect();
    // user nice system idle iowait irq softirq steal
    Some((*fields.get(7)?, fields[..8].iter().sum()))
}

/// True when later repetitions are steadily slower than the first: a device that throttles or fills up.
pub fn is_slowing_down(rates: &[f64]) -> bool {
    rates.len() >= 3
        && rates.windows(2).all(|pair| pair[1] < pair[0])
        && rates[rates.len() - 1] < SLOWING_RATIO * rates[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_traffic_is_not_noise() {
        let before = Traffic { read_bytes: 1000, written_bytes: 50 };
        let after = Traffic { read_bytes: 10_001_000, written_bytes: 50 };
        assert_eq!(other_bytes(before, after, (10_000_000, 0)), 0);
        assert_eq!(other_bytes(before, after, (4_000_000, 0)), 6_000_000);
    }

    #[test]
    fn a_trickle_does_not_disturb_and_a_stream_does() {
        assert!(!is_disturbing(10_000, 100_000, 1e9));
        assert!(!is_disturbing(1_000_000, 1_000_000_000, 1e9));
        assert!(is_disturbing(100_000_000, 1_000_000_000, 1e9));
    }

    #[test]
    fn steal_is_the_eighth_column() {
        assert_eq!(parse_cpu("cpu  10 0 20 30 0 0 0 40 5 0\ncpu0 1"), Some((40, 100)));
    }

    #[test]
    fn slowing_down_is_steady_and_large() {
        assert!(is_slowing_down(&[100.0, 90.0, 70.0]));
        assert!(!is_slowing_down(&[100.0, 99.0, 98.0]));
        assert!(!is_slowing_down(&[100.0, 60.0, 70.0]));
    }
}

//! The experiments, one a file; each declares what it needs.

mod block_sizes;
mod cache_hit;
mod cache_segments;
mod flushes;
mod gc_onset;
mod mixed;
mod random_reads;
mod read_ahead;
mod rotation_period;
mod seek_profile;
mod track_boundaries;
mod write_cache;
mod write_settle;
mod zones;

use serde_json::Value;

use crate::document::{Findings, Nature};
use crate::fault::Outcome;
use crate::session::Session;

pub struct Experiment {
    pub name: &'static str,
    pub why: &'static str,
    /// Share of the time, relative to the others'.
    pub weight: f64,
    pub min_seconds: f64,
    pub min_span_bytes: u64,
    pub writes: bool,
    /// Meaningless on the other kind of device.
    pub only: Option<Nature>,
    pub run: fn(&mut Session<'_>) -> Outcome<Value>,
}

/// In the order in which they are done: later ones use what earlier ones found.
pub const ALL: [Experiment; 14] = [
    cache_hit::EXPERIMENT,
    rotation_period::EXPERIMENT,
    seek_profile::EXPERIMENT,
    random_reads::EXPERIMENT,
    zones::EXPERIMENT,
    block_sizes::EXPERIMENT,
    read_ahead::EXPERIMENT,
    cache_segments::EXPERIMENT,
    track_boundaries::EXPERIMENT,
    write_settle::EXPERIMENT,
    write_cache::EXPERIMENT,
    flushes::EXPERIMENT,
    mixed::EXPERIMENT,
    gc_onset::EXPERIMENT,
];

/// What is available to an experiment when its turn comes.
pub struct Offer<'a> {
    pub seconds: f64,
    pub span_bytes: u64,
    pub may_write: bool,
    pub findings: &'a Findings,
    /// Named on the command line: then only what is impossible stops it.
    pub is_asked_for: bool,
}

impl Experiment {
    /// Why it can't have what it needs, if it can't.
    pub fn obstacle(&self, offer: &Offer<'_>) -> Option<String> {
        if self.writes && !offer.may_write {
            return Some("it writes, and writing was not asked for (--write)".into());
        }
        if offer.span_bytes < self.min_span_bytes {
            return Some(format!(
                "it needs a span of {} bytes and the target has {}",
                self.min_span_bytes, offer.span_bytes
            ));
        }
        if offer.is_asked_for {
            return None;
        }
        match (self.only, offer.findings.nature) {
            (Some(Nature::Rotating), Nature::NotRotating) => {
                return Some(format!("the target doesn't rotate: {}", offer.findings.nature_evidence));
            }
            (Some(Nature::NotRotating), Nature::Rotating) => {
                return Some(format!("the target rotates: {}", offer.findings.nature_evidence));
            }
            _ => {}
        }
        if offer.seconds < self.min_seconds {
            return Some(format!(
                "it needs {} s and its share of the time is {:.1} s",
                self.min_seconds, offer.seconds
            ));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(findings: &Findings, seconds: f64, may_write: bool, is_asked_for: bool) -> Offer<'_> {
        Offer { seconds, span_bytes: 1 << 30, may_write, findings, is_asked_for }
    }

    #[test]
    fn nothing_writes_unless_writing_was_asked_for() {
        let findings = Findings::default();
        for experiment in &ALL {
            let obstacle = experiment.obstacle(&offer(&findings, 1e9, false, true));
            assert_eq!(obstacle.is_some(), experiment.writes, "{}", experiment.name);
        }
    }

    #[test]
    fn rotating_experiments_are_skipped_on_flash_unless_named() {
        let findings = Findings { nature: Nature::NotRotating, ..Findings::default() };
        let track = ALL.iter().find(|e| e.name == "track_boundaries").unwrap();
        assert!(track.obstacle(&offer(&findings, 1e9, false, false)).unwrap().contains("rotate"));
        assert_eq!(track.obstacle(&offer(&findings, 1e9, false, true)), None);
    }

    #[test]
    fn an_experiment_that_needs_more_time_is_refused() {
        let findings = Findings::default();
        let track = ALL.iter().find(|e| e.name == "track_boundaries").unwrap();
        assert!(track.obstacle(&offer(&findings, 0.5, false, false)).unwrap().contains("needs"));
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = ALL.iter().map(|e| e.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
    }
}

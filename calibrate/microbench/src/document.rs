//! The one JSON document that a measurement leaves, and how it gets to disk without ever being half written.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::clock;
use crate::fault::{Fault, Outcome};
use crate::output;
use crate::target::TargetFacts;

pub const FORMAT: &str = "diskmodel-measurement";
pub const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
pub struct Document {
    pub format: String,
    pub version: u32,
    pub program: Program,
    pub host: Host,
    pub started_unix_s: u64,
    pub elapsed_s: f64,
    /// "complete", or "partial" after an interruption.
    pub state: String,
    pub target: TargetFacts,
    pub settings: Settings,
    pub overhead: Overhead,
    pub findings: Findings,
    /// Kept as text: a finished experiment is neither parsed nor changed again.
    pub experiments: Vec<Box<RawValue>>,
    pub warnings: Vec<Warning>,
}

#[derive(Serialize, Deserialize)]
pub struct Program {
    pub name: String,
    pub version: String,
    pub is_debug_build: bool,
}

#[derive(Serialize, Deserialize)]
pub struct Host {
    pub kernel: String,
    pub architecture: String,
    pub n_cpus: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Settings {
    /// "quick", "default", "thorough" or "raw".
    pub mode: String,
    pub seconds: f64,
    pub seed: u64,
    pub is_writing: bool,
    pub max_rows: usize,
    /// Named on the command line; empty for all.
    pub experiments: Vec<String>,
}

#[derive(Serialize, Deserialize)]
pub struct Overhead {
    pub engine: String,
    pub engine_note: Option<String>,
    pub clock_read_ns: f64,
    pub noop_p50_ns: Option<u64>,
    pub noop_p99_ns: Option<u64>,
}

/// What earlier experiments found and later ones (and readers) rely on.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Findings {
    pub nature: Nature,
    pub rotational_hint: Option<bool>,
    /// How the conclusion was reached, in words.
    pub nature_evidence: String,
    pub rotation_period_ns: Option<f64>,
    pub rotation_stderr_ns: Option<f64>,
    pub rotation_coherence: Option<f64>,
    /// Median far read / median nearest read, from the seek profile.
    pub distance_ratio: Option<f64>,
    pub cache_hit_ns: Option<u64>,
    pub random_read_ns: Option<u64>,
    /// Sequential rate where it is lowest.
    pub slowest_bytes_per_s: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Nature {
    Rotating,
    NotRotating,
    #[default]
    Undecided,
}

#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Warning {
    pub code: String,
    pub experiment: Option<String>,
    pub message: String,
}

/// What --resume has to know about an experiment that is already there.
#[derive(Deserialize)]
pub struct Stub {
    pub name: String,
    #[serde(default)]
    pub is_partial: bool,
    #[serde(default)]
    pub skipped: Option<String>,
    #[serde(default)]
    pub failed: Option<String>,
    #[serde(default)]
    pub epoch: u32,
    #[serde(default)]
    pub samples: Rows,
}

/// How many rows an experiment has.
#[derive(Default, Deserialize)]
pub struct Rows {
    pub n: usize,
}

impl Stub {
    pub fn of(raw: &RawValue) -> Outcome<Stub> {
        serde_json::from_str(raw.get()).map_err(|error| {
            Fault::input(
                "resume",
                error,
                "must be a measurement written by this program",
                "measure again without --resume",
            )
        })
    }
}

impl Host {
    pub fn here() -> Self {
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Host {
            kernel: format!("Linux {}", release.trim()),
            architecture: std::env::consts::ARCH.into(),
            n_cpus: std::thread::available_parallelism().map_or(1, |n| n.get()),
        }
    }
}

impl Program {
    pub fn this() -> Self {
        Program {
            name: env!("CARGO_PKG_NAME").into(),
            version: env!("CARGO_PKG_VERSION").into(),
            is_debug_build: cfg!(debug_assertions),
        }
    }
}

pub fn load(path: &Path) -> Outcome<Document> {
    let refuse = |why: String| {
        Fault::input(
            "resume",
            path.display(),
            &why,
            "give the --out of an interrupted measurement, or leave out --resume",
        )
    };
    if !fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        return Err(refuse("is not a file".into()));
    }
    let text = fs::read_to_string(path).map_err(|error| refuse(format!("cannot be read ({error})")))?;
    let document: Document =
        serde_json::from_str(&text).map_err(|error| refuse(format!("is not a measurement ({error})")))?;
    if document.format != FORMAT || document.version != VERSION {
        return Err(refuse(format!("must be {FORMAT} version {VERSION}")));
    }
    Ok(document)
}

/// Replaces the old document by the whole new one, or writes it to standard output.
pub fn save(path: &Path, document: &Document) -> Outcome<()> {
    output::replace(path, |out| {
        serde_json::to_writer(&mut *out, document).map_err(io::Error::from)?;
        out.write_all(b"\n")
    })
}

/// After each experiment, so that even a killed program leaves what was finished. Standard output gets the end only.
pub fn save_progress(path: &Path, document: &Document) -> Outcome<()> {
    if output::is_stdout(path) {
        Ok(())
    } else {
        save(path, document)
    }
}

pub fn started() -> u64 {
    clock::wall_seconds()
}

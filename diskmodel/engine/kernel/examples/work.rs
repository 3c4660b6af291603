//! Run a scenario without Python, and print how many events it took: `work FILE.json [N]`.
//!
//! `FILE.json` has the array and its requests as tests/scenarios/*.json do; only the first N requests are run.
//! `benchmarks/bench_work.py` counts the instructions of this program, too.

use std::process::ExitCode;
use std::{env, fs};

use diskmodel_kernel::runs::{self, Recorded};
use diskmodel_kernel::scenario::Scenario;
use diskmodel_kernel::traffic::{check_columns, Columns, Completions, Feed, PartColumns, N_PARTS};
use rows::Rows;
use serde::Deserialize;

#[path = "../tests/rows/mod.rs"]
mod rows;

#[derive(Deserialize)]
struct Work {
    array: Scenario,
    requests: Rows,
}

/// Events that the first `n` requests take.
fn n_events(work: Work, n: usize) -> Result<u64, String> {
    let Work { array, requests: rows } = work;
    let (built, limits) = array.build()?;
    let n = n.min(rows.when_ns.len());
    let (mut issue, mut done) = (vec![0; n], vec![0; n]);
    let (mut parts, mut is_hit) = (vec![0; n * N_PARTS], vec![false; n]);
    let requests = rows.requests(n);
    let completions = Completions {
        issue: Some(&mut issue),
        done: &mut done,
        parts: PartColumns::Wide(&mut parts),
        is_hit: &mut is_hit,
    };
    check_columns(&requests, &completions, &limits).map_err(|error| error.to_string())?;
    let columns = Feed::Columns(Columns::new(requests, completions));
    let (ended, _) = runs::run(built, columns, &mut || false, Recorded::default());
    Ok(ended?.n_events)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().collect();
    let n = arguments.get(2).and_then(|n| n.parse().ok()).unwrap_or(usize::MAX);
    let found = arguments
        .get(1)
        .ok_or_else(|| "usage: work FILE.json [N]".to_string())
        .and_then(|path| fs::read_to_string(path).map_err(|error| format!("{path}: {error}")))
        .and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()))
        .and_then(|work| n_events(work, n));
    match found {
        Ok(n_events) => {
            println!("{n_events}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

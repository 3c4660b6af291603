//! A scenario and requests from JSON give the completions that Python got from the same: `scenarios/*.json`.
//!
//! The files are written by `python -m tests.differential.json_scenarios`; a Python test compares them with what Python
//! gives now. Run with `cargo test -p diskmodel-kernel --features serde`.
#![cfg(feature = "serde")]

use std::fs;
use std::path::Path;

use diskmodel_kernel::scenario::{Built, Scenario};
use diskmodel_kernel::simulation::Simulation;
use diskmodel_kernel::traffic::{check_columns, Columns, Completions, Feed, PartColumns, N_PARTS, PARTS};
use rows::Rows;
use serde::Deserialize;

mod rows;

#[derive(Deserialize)]
struct Kept {
    array: Scenario,
    requests: Rows,
    completions: Done,
}

#[derive(Deserialize, PartialEq, Debug)]
struct Done {
    parts: Vec<String>,
    issue_ns: Vec<i64>,
    done_ns: Vec<i64>,
    parts_ns: Vec<i64>,
    is_hit: Vec<bool>,
    end_ns: i64,
}

fn run(array: Scenario, rows: &Rows) -> Done {
    let (built, limits) = array.build().unwrap();
    let n = rows.when_ns.len();
    let (mut issue_ns, mut done_ns) = (vec![0; n], vec![0; n]);
    let (mut parts_ns, mut is_hit) = (vec![0; n * N_PARTS], vec![false; n]);
    let requests = rows.requests(n);
    let completions = Completions {
        issue: Some(&mut issue_ns),
        done: &mut done_ns,
        parts: PartColumns::Wide(&mut parts_ns),
        is_hit: &mut is_hit,
    };
    check_columns(&requests, &completions, &limits).unwrap();
    let columns = Feed::Columns(Columns::new(requests, completions));
    let (end_ns, _) = match built {
        Built::Hdd(parts) => Simulation::new(parts, columns).run().unwrap(),
        Built::Flash(parts) => Simulation::new(parts, columns).run().unwrap(),
        Built::Remote(parts) => Simulation::new(parts, columns).run().unwrap(),
    };
    let parts = PARTS.iter().map(|name| (*name).to_string()).collect();
    Done { parts, issue_ns, done_ns, parts_ns, is_hit, end_ns }
}

#[test]
fn scenarios_from_json_give_the_same_completions_as_through_python() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let mut n_files = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kept: Kept = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(run(kept.array, &kept.requests), kept.completions, "{}", path.display());
        n_files += 1;
    }
    assert!(n_files >= 7);
}

/// What a scenario of the folder is refused for, once it is changed.
fn refusal(change: impl Fn(&mut serde_json::Value)) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios/raid60-degraded.json");
    let mut kept: serde_json::Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    change(&mut kept["array"]);
    serde_json::from_value::<Scenario>(kept["array"].take()).unwrap_err().to_string()
}

#[test]
fn an_unknown_field_is_refused() {
    assert!(refusal(|array| array["drive"]["wobble_ns"] = 1.into()).contains("unknown field `wobble_ns`"));
    assert!(refusal(|array| array["slope"] = 1.into()).contains("unknown field `slope`"));
}

#[test]
fn a_missing_field_is_refused_also_where_it_may_be_null() {
    for (record, field) in [("drive", "media_cache"), ("drive", "write_seek_ns"), ("start", "aged")] {
        let said = refusal(|array| {
            array[record].as_object_mut().unwrap().remove(field);
        });
        assert!(said.contains(&format!("missing field `{field}`")), "{said}");
    }
}

#[test]
fn an_unknown_name_is_refused_with_the_names_that_there_are() {
    let message =
        serde_json::from_str::<diskmodel_kernel::scenario::SchedulerName>("\"lifo\"").unwrap_err().to_string();
    assert!(message.contains("lifo") && message.contains("sptf-aged"), "{message}");
}

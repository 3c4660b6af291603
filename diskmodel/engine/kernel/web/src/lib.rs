//! The kernel for programs that share nothing with it but memory: as WebAssembly in a browser or under Node.
//!
//! A caller reserves memory, writes a scenario as JSON into it, and keeps the scenario under a number (`keep`). Each run
//! (`run`) takes a kept scenario, the fields that differ as JSON, and columns of requests. Completions stay here until
//! the next run; `column` says where. After a refusal, `text` has the reason, after a run what else there is to know.

use std::alloc::{alloc, dealloc, Layout as Memory};
use std::cell::RefCell;
use std::mem::size_of;
use std::slice;

use serde::Deserialize;
use serde_json::{json, Value};

use diskmodel_kernel::layout::{Layout, LayoutTables};
use diskmodel_kernel::movement::{strips, Movement};
use diskmodel_kernel::runs::{self, Recorded};
use diskmodel_kernel::scenario::{CacheTables, Drive, Queue, Scenario};
use diskmodel_kernel::traffic::{
    check_columns, Column, Columns, Completions, Feed, PartColumns, Requests, Rule, N_PARTS, PARTS,
};

/// Every value of a column lies at a multiple of it.
const ALIGNMENT: usize = 8;
const REFUSED: i32 = -1;
/// Rows of strips that a page can draw.
const MAX_ROWS: i64 = 1024;

/// What a run changes of the scenario that it starts from.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Changes {
    layout: Option<LayoutTables>,
    queue: Option<Queue>,
    depth: Option<usize>,
    hit_ratio: Option<f64>,
    revolution_ns: Option<Vec<i64>>,
    phase_ns: Option<Vec<i64>>,
    /// Room of a hard disk's write-back cache, empty when the run begins; 0: it is off.
    dirty_sectors: Option<i64>,
    /// A controller's real caches, empty when the run begins.
    cache: Option<CacheTables>,
    /// How the streams of the requests come in time; one open stream unless they are given.
    streams: Option<Vec<Rule>>,
    /// Levels are recorded after every so many completions.
    sample_every: Option<u64>,
    /// Whether what the arms do is recorded, and so many rows of strips of each disk.
    record_rows: Option<i64>,
}

#[derive(Default)]
struct State {
    kept: Vec<Scenario>,
    text: Vec<u8>,
    issue_ns: Vec<i64>,
    done_ns: Vec<i64>,
    parts_ns: Vec<i64>,
    is_hit: Vec<bool>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

impl State {
    /// Keeps the outcome of a call as text: a result, or the reason of a refusal.
    fn say(&mut self, outcome: Result<(i32, String), String>) -> i32 {
        let (code, text) = outcome.unwrap_or_else(|reason| (REFUSED, reason));
        self.text = text.into_bytes();
        code
    }

    fn keep(&mut self, json: &[u8]) -> Result<(i32, String), String> {
        let scenario: Scenario = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        self.kept.push(scenario);
        Ok((self.kept.len() as i32 - 1, String::new()))
    }

    fn run(&mut self, kept: usize, json: &[u8], rows: Rows) -> Result<(i32, String), String> {
        let changes: Changes = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        let mut scenario = self.kept.get(kept).ok_or("no such scenario is kept")?.clone();
        let rules = changes.streams.unwrap_or_else(|| vec![Rule::default()]);
        scenario.layout = changes.layout.unwrap_or(scenario.layout);
        scenario.queue = changes.queue.unwrap_or(scenario.queue);
        scenario.depth = changes.depth.unwrap_or(scenario.depth);
        scenario.hit_ratio = changes.hit_ratio.unwrap_or(scenario.hit_ratio);
        scenario.revolution_ns = changes.revolution_ns.unwrap_or(scenario.revolution_ns);
        scenario.phase_ns = changes.phase_ns.unwrap_or(scenario.phase_ns);
        scenario.cache = changes.cache.or(scenario.cache);
        if let Some(room) = changes.dirty_sectors {
            match &mut scenario.drive {
                Drive::Hdd(tables) => tables.dirty_sectors = room,
                _ => return Err(format!("dirty_sectors={room}: is of hard disks")),
            }
        }
        scenario.sample_every = changes.sample_every.unwrap_or(scenario.sample_every);
        let map = changes.record_rows.map(|n_rows| (n_rows.clamp(0, MAX_ROWS), scenario.layout.clone()));
        let (built, limits) = scenario.build()?;
        let n = rows.when_ns.len();
        for (column, length) in [(&mut self.issue_ns, n), (&mut self.done_ns, n), (&mut self.parts_ns, n * N_PARTS)] {
            column.clear();
            column.resize(length, 0);
        }
        self.is_hit.clear();
        self.is_hit.resize(n, false);
        let requests = Requests {
            when: Column::Each(rows.when_ns),
            op: Column::Each(rows.op),
            offset: Column::Each(rows.offset),
            length: Column::Each(rows.length),
            stream: Column::Each(rows.stream),
            cache_draw: Column::Each(rows.cache_draw),
            rules,
        };
        let completions = Completions {
            issue: Some(&mut self.issue_ns),
            done: &mut self.done_ns,
            parts: PartColumns::Wide(&mut self.parts_ns),
            is_hit: &mut self.is_hit,
        };
        check_columns(&requests, &completions, &limits)?;
        let columns = Feed::Columns(Columns::new(requests, completions));
        let recorded = Recorded { movements: map.is_some(), ..Recorded::default() };
        let (ended, _) = runs::run(built, columns, &mut || false, recorded);
        let mut said = said_of(&ended?, recorded.movements);
        if let Some((n_rows, tables)) = map {
            said["strips"] = json!(strips(&Layout::new(tables), n_rows));
        }
        Ok((0, said.to_string()))
    }
}

/// Returns what a run leaves behind beside its columns, as JSON.
fn said_of(ended: &runs::Outcome, is_recorded: bool) -> Value {
    let busy_ns: Vec<_> = ended.counters.iter().map(|disk| disk.busy_ns).collect();
    let n_commands: Vec<_> = ended.counters.iter().map(|disk| disk.n_reads + disk.n_writes).collect();
    let mut said = json!({ "end_ns": ended.end_ns, "parts": PARTS, "busy_ns": busy_ns, "n_commands": n_commands });
    if is_recorded {
        let columns = |rows: &Vec<Movement>| json!(rows.iter().map(Movement::columns).collect::<Vec<_>>());
        said["movements"] = ended.movements.iter().map(columns).collect();
        said["rebuilt_sectors"] = json!(ended.rebuilt_sectors);
        said["cache_full_ns"] = json!(ended.cache_full_ns);
        said["levels"] = json!(ended.levels);
    }
    said
}

/// Columns of requests, one value a request.
struct Rows<'a> {
    when_ns: &'a [i64],
    offset: &'a [i64],
    length: &'a [i64],
    cache_draw: &'a [f64],
    stream: &'a [i32],
    op: &'a [u8],
}

impl Rows<'_> {
    /// Reads the columns of `n` requests, one after the other from `from` on, in the order of the fields.
    ///
    /// # Safety
    ///
    /// `from` is aligned to `ALIGNMENT`, and the columns lie in memory that the caller has reserved and filled.
    unsafe fn read<'a>(from: *const u8, n: usize) -> Rows<'a> {
        let wide = n * size_of::<i64>();
        // SAFETY: as promised by the caller; each column ends where the next begins, the widest come first.
        unsafe {
            Rows {
                when_ns: slice::from_raw_parts(from.cast(), n),
                offset: slice::from_raw_parts(from.add(wide).cast(), n),
                length: slice::from_raw_parts(from.add(2 * wide).cast(), n),
                cache_draw: slice::from_raw_parts(from.add(3 * wide).cast(), n),
                stream: slice::from_raw_parts(from.add(4 * wide).cast(), n),
                op: slice::from_raw_parts(from.add(4 * wide + n * size_of::<i32>()), n),
            }
        }
    }
}

/// Reserves memory that the caller fills; null where there is none.
#[no_mangle]
pub extern "C" fn reserve(n_bytes: usize) -> *mut u8 {
    match Memory::from_size_align(n_bytes.max(1), ALIGNMENT) {
        // SAFETY: the size is not 0.
        Ok(memory) => unsafe { alloc(memory) },
        Err(_) => std::ptr::null_mut(),
    }
}

/// Gives memory back.
///
/// # Safety
///
/// It was reserved with the same number of bytes, and is given back once.
#[no_mangle]
pub unsafe extern "C" fn release(at: *mut u8, n_bytes: usize) {
    if let Ok(memory) = Memory::from_size_align(n_bytes.max(1), ALIGNMENT) {
        // SAFETY: as promised by the caller.
        unsafe { dealloc(at, memory) }
    }
}

/// Keeps a scenario for runs; returns its number, or -1.
///
/// # Safety
///
/// `json` points to `n_bytes` bytes.
#[no_mangle]
pub unsafe extern "C" fn keep(json: *const u8, n_bytes: usize) -> i32 {
    // SAFETY: as promised by the caller.
    let json = unsafe { slice::from_raw_parts(json, n_bytes) };
    STATE.with_borrow_mut(|state| {
        let outcome = state.keep(json);
        state.say(outcome)
    })
}

/// Runs requests through a kept scenario; returns 0, or -1.
///
/// # Safety
///
/// `changes` points to `n_bytes` bytes of JSON, `columns` to the columns of `n_requests` requests (see `Rows`).
#[no_mangle]
pub unsafe extern "C" fn run(
    kept: usize,
    changes: *const u8,
    n_bytes: usize,
    columns: *const u8,
    n_requests: usize,
) -> i32 {
    // SAFETY: as promised by the caller.
    let (json, rows) = unsafe { (slice::from_raw_parts(changes, n_bytes), Rows::read(columns, n_requests)) };
    STATE.with_borrow_mut(|state| {
        let outcome = state.run(kept, json, rows);
        state.say(outcome)
    })
}

/// Where the text of the last call lies.
#[no_mangle]
pub extern "C" fn text() -> *const u8 {
    STATE.with_borrow(|state| state.text.as_ptr())
}

#[no_mangle]
pub extern "C" fn text_length() -> usize {
    STATE.with_borrow(|state| state.text.len())
}

/// Where a column of the last run lies: 0 issue and 1 done (ns, 8 bytes a request), 2 the parts of the time (8 values of
/// 8 bytes a request), 3 whether a cache answered (a byte).
#[no_mangle]
pub extern "C" fn column(number: usize) -> *const u8 {
    STATE.with_borrow(|state| match number {
        0 => state.issue_ns.as_ptr().cast(),
        1 => state.done_ns.as_ptr().cast(),
        2 => state.parts_ns.as_ptr().cast(),
        3 => state.is_hit.as_ptr().cast(),
        _ => std::ptr::null(),
    })
}

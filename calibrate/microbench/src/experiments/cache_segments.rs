//! How many places the drive's cache remembers, and how much of a stream in each.

use serde_json::{json, Value};

use super::Experiment;
use crate::document::Nature;
use crate::fault::Outcome;
use crate::request::Request;
use crate::session::Session;

pub const EXPERIMENT: Experiment = Experiment {
    name: "cache_segments",
    why: "A block is re-read after reads elsewhere, or after a stream: it is fast as long as its cache segment lives and still begins there",
    weight: 4.0,
    min_seconds: 2.0,
    min_span_bytes: 256 << 20,
    writes: false,
    only: Some(Nature::Rotating),
    run,
};

const STREAM_LENGTH: u32 = 64 << 10;
const MOST_TRIALS: usize = 8;

fn run(s: &mut Session<'_>) -> Outcome<Value> {
    let most = if s.seconds > 60.0 { 256 } else { 64 };
    let others: Vec<usize> =
        [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256].into_iter().filter(|&n| n <= most).collect();
    let streams: Vec<u64> = (0..8).map(|k| u64::from(STREAM_LENGTH) << k).collect();
    s.parameters = json!({"others": others, "stream_bytes": streams, "stream_length": STREAM_LENGTH});
    let threshold = s.hit_threshold_ns();
    let mut by_others = vec![(0, 0); others.len()];
    let mut by_stream = vec![(0, 0); streams.len()];
    for trial in 0..MOST_TRIALS {
        for (which, &n) in others.iter().enumerate() {
            if s.seconds_left() <= 0.0 || s.rows_left() < n + 2 {
                break;
            }
            let page = s.page();
            let first = s.anywhere(s.span(), page);
            let mut list = vec![Request::read(first, page)];
            for _ in 0..n {
                list.push(Request::read(s.anywhere(s.span(), page), page));
            }
            list.push(Request::read(first, page));
            let rows = s.run_list(json!({"others": n, "trial": trial}), &list)?;
            count(&mut by_others[which], s.latencies(&rows), list.len(), threshold);
        }
        for (which, &bytes) in streams.iter().enumerate() {
            if s.seconds_left() <= 0.0 || s.rows_left() < 200 {
                break;
            }
            let first = s.anywhere(s.span() - bytes, STREAM_LENGTH);
            let mut list: Vec<Request> = (0..bytes / u64::from(STREAM_LENGTH))
                .map(|k| Request::read(first + k * u64::from(STREAM_LENGTH), STREAM_LENGTH))
                .collect();
            list.push(Request::read(first, s.page()));
            let rows = s.run_list(json!({"stream_bytes": bytes, "trial": trial}), &list)?;
            count(&mut by_stream[which], s.latencies(&rows), list.len(), threshold);
        }
    }
    let survived = |table: &[(u32, u32)]| table.iter().take_while(|(hits, n)| *n > 0 && 2 * hits > *n).count();
    let (lived, held) = (survived(&by_others), survived(&by_stream));
    let ratio = |(hits, n): &(u32, u32)| f64::from(*hits) / f64::from((*n).max(1));
    Ok(json!({
        "by_others": others.iter().zip(&by_others).map(|(n, c)| json!({"others": n, "n": c.1, "hit_ratio": ratio(c)})).collect::<Vec<_>>(),
        "by_stream": streams.iter().zip(&by_stream).map(|(b, c)| json!({"stream_bytes": b, "n": c.1, "hit_ratio": ratio(c)})).collect::<Vec<_>>(),
        "hit_below_ns": threshold,
        "segments_at_least": if lived > 0 { others[lived - 1] + 1 } else { 0 },
        "segments_below": others.get(lived).map(|n| n + 1),
        "segment_at_least_bytes": if held > 0 { streams[held - 1] } else { 0 },
        "segment_below_bytes": streams.get(held),
    }))
}

/// Counts the last read of a complete list as hit or miss.
fn count(counter: &mut (u32, u32), latencies: &[u64], expected: usize, threshold: u64) {
    if let Some(&last) = latencies.last().filter(|_| latencies.len() == expected) {
        counter.0 += u32::from(last < threshold);
        counter.1 += 1;
    }
}

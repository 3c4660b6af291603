//! Ranges of sectors cut into pieces and pages.

use std::ops::Range;

/// Pieces of [first, end) of at most `longest`.
pub fn cut(first: i64, end: i64, longest: i64) -> impl Iterator<Item = (i64, i64)> {
    (0..(end - first + longest - 1) / longest).map(move |i| {
        let at = first + i * longest;
        (at, (at + longest).min(end))
    })
}

/// Pages, whole or in part, of sectors [sector, sector + n).
pub fn pages_of(sector: i64, n: i64, page: i64) -> Range<i64> {
    sector / page..(sector + n + page - 1) / page
}

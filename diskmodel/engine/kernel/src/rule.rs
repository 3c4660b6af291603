//! What a number that is handed over must keep: a refusal names the field, the value and the rule.
//!
//! The limits are so wide that no description reaches them, and so narrow that no sum of times and no product of places
//! leaves 64 bits.

use std::fmt::Display;

/// Longest time that a device or a cache takes for one thing, and that the host's processor takes for one.
pub const MAX_TIME_NS: i64 = 1 << 42;
pub const MAX_WORK_NS: i64 = 1 << 52;
/// Longest time between two things, and latest time at which something is asked for.
pub const MAX_APART_NS: i64 = 1 << 55;
/// Longest request, and longest command that is made of several.
pub const MAX_LENGTH_BYTES: i64 = 1 << 32;
/// Size of a drive, and of all drives of an array together.
pub const MAX_DRIVE_BYTES: i64 = 1 << 61;
pub const MAX_ARRAY_BYTES: i64 = 1 << 62;
pub const MAX_SECTORS: i64 = 1 << 52;
pub const MAX_SECTOR_BYTES: i64 = 1 << 16;
pub const MAX_RATE: i64 = 1_000_000_000_000_000_000;
pub const MIN_RATE: i64 = 1_000;
pub const MAX_DISKS: i64 = 1 << 20;
pub const MAX_DEPTH: i64 = 1 << 16;
/// Rebuild steps at once; each keeps a list of pieces.
pub const MAX_REBUILD_STEPS: i64 = 1 << 10;
/// Pages of a stripe cache, as Linux md allows.
pub const MAX_STRIPE_PAGES: i64 = 1 << 15;
/// Commands, blocks of a cache or pages of memory that one request may become: each takes a hundred bytes.
pub const MAX_PIECES: i64 = 1 << 21;
/// Memory for the state of all flash drives at the beginning.
pub const MAX_STATE_BYTES: i64 = 1 << 35;

/// A field's value and the rule that it breaks.
pub fn refused(field: &str, value: impl Display, rule: impl Display) -> String {
    format!("{field}={value}: {rule}")
}

/// `value` lies between two numbers, both included.
pub fn within(field: &str, value: i64, least: i64, most: i64) -> Result<(), String> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(refused(field, value, format_args!("must be {least} to {most}")))
}

/// The same for a size that has no sign.
pub fn size_within(field: &str, value: usize, least: i64, most: i64) -> Result<(), String> {
    within(field, i64::try_from(value).unwrap_or(i64::MAX), least, most)
}

/// All of these fields lie between the same two numbers.
pub fn all_within(fields: &[(&str, i64)], least: i64, most: i64) -> Result<(), String> {
    fields.iter().try_for_each(|&(field, value)| within(field, value, least, most))
}

/// Every number of a column lies between two.
pub fn each_within(field: &str, values: &[i64], least: i64, most: i64) -> Result<(), String> {
    match values.iter().position(|value| !(least..=most).contains(value)) {
        None => Ok(()),
        Some(at) => within(&format!("{field}[{at}]"), values[at], least, most),
    }
}

/// A column has so many numbers.
pub fn has_length(field: &str, length: usize, expected: usize) -> Result<(), String> {
    if length == expected {
        return Ok(());
    }
    Err(refused(field, format_args!("({length} values)"), format_args!("must have {expected} values")))
}

/// No number of a column is below the one before it.
pub fn ascending(field: &str, values: &[i64]) -> Result<(), String> {
    match values.windows(2).position(|pair| pair[1] < pair[0]) {
        None => Ok(()),
        Some(at) => Err(refused(
            &format!("{field}[{}]", at + 1),
            values[at + 1],
            format_args!("must not be below the value before it, {}", values[at]),
        )),
    }
}

/// A rule between several fields.
pub fn holds(is_kept: bool, field: &str, value: impl Display, rule: impl Display) -> Result<(), String> {
    if is_kept {
        return Ok(());
    }
    Err(refused(field, value, rule))
}

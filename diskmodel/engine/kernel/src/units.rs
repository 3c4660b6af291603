//! What the kernel counts in: nanoseconds and sectors.

pub const NS_PER_S: i64 = 1_000_000_000;

//! Numbers at random for tests, the same in every run.

/// Draws below a limit, from a linear congruential generator (Knuth's MMIX).
pub fn drawn_from(seed: u64) -> impl FnMut(i64) -> i64 {
    let mut state = seed;
    move |limit| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as i64 % limit
    }
}

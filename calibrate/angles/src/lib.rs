//! Inner loops of finding where a traced drive's blocks lie on its platter; `calibrate/trace` says what they are for, and
//! `python/angles.rs` of the kernel hands them to Python.
//!
//! Each has a plain version in `tests/calibrate/trace/plain.py`, which it is compared with.

mod fold;
mod layouts;
mod phase;

pub use fold::fold;
pub use layouts::{Judgement, Layouts};
pub use phase::Filter;

/// A phasor: real and imaginary part.
pub type Phasor = [f64; 2];

/// The nearest whole number, halves to the even one, of numbers below 2²² in size.
fn nearest(x: f32) -> f32 {
    const SHIFT: f32 = 12_582_912.0; // 1.5 · 2²³: beyond it, numbers of 24 bits are whole
    (x + SHIFT) - SHIFT
}

/// What a number is beyond the whole number below it, of numbers below 2⁵² in size.
fn fraction(x: f64) -> f64 {
    let left = x - (x as i64) as f64;
    if left < 0.0 {
        left + 1.0
    } else {
        left
    }
}

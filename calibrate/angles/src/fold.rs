//! Phasors summed by their place within a period.

use super::{fraction, Phasor};

/// Sums of phasors at places `x` by bin of a period, a row of `n_bins` for each frequency.
pub fn fold(x: &[f64], phasor: &[Phasor], frequencies: &[f64], n_bins: usize) -> Vec<Phasor> {
    let mut out = vec![[0.0; 2]; frequencies.len() * n_bins];
    for (frequency, row) in frequencies.iter().zip(out.chunks_exact_mut(n_bins)) {
        for (x, phasor) in x.iter().zip(phasor) {
            // a fraction that rounds up to the whole belongs to the last bin
            let sum = &mut row[((fraction(frequency * x) * n_bins as f64) as usize).min(n_bins - 1)];
            sum[0] += phasor[0];
            sum[1] += phasor[1];
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_one_phase_share_a_bin() {
        let phasor = [[1.0, 0.0], [0.0, 2.0], [4.0, 0.0], [8.0, 8.0]];
        let out = fold(&[0.5, 10.5, -9.5, 3.2], &phasor, &[0.1], 10);
        assert_eq!(out[0], [5.0, 2.0]);
        assert_eq!(out[3], phasor[3]);
        assert_eq!(out.concat().iter().sum::<f64>(), 23.0);
    }
}

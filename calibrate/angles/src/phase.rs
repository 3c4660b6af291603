//! A Bayesian filter on a circle of phases.

use super::Phasor;

/// How the phase moves from point to point: the chance that it leaves its bin to one side, and that it jumps anywhere.
pub struct Filter {
    pub aside: f64,
    pub jump: f64,
}

impl Filter {
    /// The mean phasor that is expected at each point from the points before it, given how likely each point's angle is
    /// at each phase: rows of `n_phases`.
    pub fn expected(&self, likely: &[f64], n_phases: usize) -> Vec<Phasor> {
        let turn = std::f64::consts::TAU / n_phases as f64;
        let waves: Vec<(f64, f64)> = (0..n_phases).map(|k| (turn * k as f64).sin_cos()).collect();
        let (stay, aside) = ((1.0 - self.jump) * (1.0 - 2.0 * self.aside), (1.0 - self.jump) * self.aside);
        let anywhere = self.jump / n_phases as f64;
        // the circle, with its last bin before the first and its first behind the last
        let mut now = vec![1.0 / n_phases as f64; n_phases + 2];
        let mut next = now.clone();
        let mut out = Vec::with_capacity(likely.len() / n_phases);
        for row in likely.chunks_exact(n_phases) {
            let (mut re, mut im, mut total) = (0.0, 0.0, 0.0);
            for ((p, (sin, cos)), likely) in now[1..=n_phases].iter_mut().zip(&waves).zip(row) {
                re += *p * cos;
                im += *p * sin;
                *p *= likely;
                total += *p;
            }
            out.push([re, im]);
            now[0] = now[n_phases];
            now[n_phases + 1] = now[1];
            for (next, near) in next[1..=n_phases].iter_mut().zip(now.windows(3)) {
                *next = (stay * near[1] + aside * (near[0] + near[2])) / total + anywhere;
            }
            std::mem::swap(&mut now, &mut next);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_point_is_unknown_and_the_next_is_where_the_first_was() {
        let likely: Vec<f64> = [1.0, 9.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0].repeat(2);
        let out = Filter { aside: 0.0, jump: 0.0 }.expected(&likely, 8);
        assert!(out[0][0].hypot(out[0][1]) < 1e-12);
        assert!((out[1][1].atan2(out[1][0]) - std::f64::consts::FRAC_PI_4).abs() < 1e-12);
    }
}

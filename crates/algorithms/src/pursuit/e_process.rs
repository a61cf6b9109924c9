//! The e-process of each attribute: evidence against its having nothing to do with the label, which may be
//! looked at at any time. The page of [Pursuit](super) has its theorem.

use super::{NAME, Pursuit, TIGHTEST_AT};
use crate::state;
use lao_kernels::panel_steps;
use lao_observation::stored::Damaged;
use serde::{Deserialize, Serialize};

/// The e-processes of all attributes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EProcesses {
    /// `Q_j`.
    sum: Vec<f64>,
    /// `V_j`.
    variance: Vec<f64>,
    /// `rho_j`; 0 as long as no block had a step.
    scale: Vec<f64>,
    #[serde(skip)]
    block: Steps,
}

/// What a block has in common for all attributes.
#[derive(Clone, Debug, Default)]
struct Steps {
    /// `r_i - mean_(>i) r`, and one over the number of rows from i on.
    steps: Vec<[f64; 2]>,
    /// `a`.
    precision: f64,
    /// `var r`.
    variance: f64,
    /// One over 1, 2, and so on.
    shares: Vec<f64>,
}

impl Steps {
    /// Prepares a block with these errors; `noise` is the mean squared error before. Returns whether the
    /// block has a step.
    fn prepare(&mut self, errors: impl DoubleEndedIterator<Item = f64>, noise: f64) -> bool {
        let (mut mean, mut square, mut rows) = (0.0, 0.0, 0);
        self.steps.clear();
        for r in errors.rev() {
            rows += 1;
            if self.shares.len() < rows {
                self.shares.push(1.0 / rows as f64);
            }
            let share = self.shares[rows - 1];
            let step = if rows > 1 { r - mean } else { 0.0 };
            mean = if rows > 1 { mean + step * share } else { r };
            square += step * step * (1.0 - share);
            self.steps.push([step, share]);
        }
        self.steps.reverse();
        self.variance = square / (rows as f64 - 1.0);
        self.precision = if noise > 0.0 { 1.0 / noise } else { 1.0 / self.variance };
        self.variance > 0.0 && self.precision.is_finite()
    }
}

impl EProcesses {
    pub fn new(dim: usize) -> Self {
        let zeros = || vec![0.0; dim];
        EProcesses { sum: zeros(), variance: zeros(), scale: zeros(), block: Steps::default() }
    }

    /// Makes room for attributes that join, up to `dim` of them.
    pub fn join(&mut self, dim: usize) {
        for list in [&mut self.sum, &mut self.variance, &mut self.scale] {
            list.resize(dim, 0.0);
        }
    }

    /// Takes the steps of a block. Its columns are those of a [`Panel`](super::moments::Panel); the first
    /// ones, as many as the support has attributes, take none.
    pub fn absorb(
        &mut self,
        attributes: &[u32],
        of_support: usize,
        values: &[[f64; 4]],
        errors: impl DoubleEndedIterator<Item = f64> + ExactSizeIterator,
        noise: f64,
    ) {
        let rows = errors.len();
        if !self.block.prepare(errors, noise) {
            return;
        }
        let first = of_support / 4;
        for (at, group) in attributes.chunks(4).enumerate().skip(first) {
            let sums = panel_steps(&values[at * rows..][..rows], &self.block.steps);
            for (lane, &j) in group.iter().enumerate().filter(|(lane, _)| 4 * at + lane >= of_support) {
                self.add(j, sums.map(|sums| sums[lane]));
            }
        }
    }

    /// Adds what [`panel_steps`] returns for attribute `j`.
    fn add(&mut self, j: u32, [steps, squares, deviations]: [f64; 3]) {
        let (j, a) = (j as usize, self.block.precision);
        let rest = (self.block.steps.len() as f64 - 1.0).max(1.0);
        let look = a * a * (deviations / rest) * self.block.variance;
        let more = a * a * squares / 3.0;
        if !(look > 0.0 && look.is_finite() && more.is_finite()) {
            return;
        }
        if self.scale[j] == 0.0 {
            self.scale[j] = TIGHTEST_AT * look;
        }
        self.sum[j] += a * steps;
        self.variance[j] += more;
    }

    /// Returns `log M_j`, as it is, or as it is expected to be after `growth` times as many looks.
    pub fn log(&self, j: u32, growth: f64) -> f64 {
        let j = j as usize;
        let (sum, variance, scale) = (growth * self.sum[j], growth * self.variance[j], self.scale[j]);
        if scale == 0.0 {
            return 0.0;
        }
        (sum * (sum / (scale + variance)) - libm::log1p(variance / scale)) / 2.0
    }

    pub fn validate(&self, dim: usize) -> Result<(), Damaged> {
        for list in [&self.sum, &self.variance, &self.scale] {
            state::length(NAME, "a list of e-processes", list.len(), dim)?;
        }
        let squares = self.variance.iter().chain(&self.scale).all(|v| *v >= 0.0);
        Damaged::unless(squares, NAME, || "an e-process has a negative variance")
    }
}

impl Pursuit {
    /// Returns whether an addition asks for the e-process of the attribute as well. Sums that are forgotten
    /// are none; and where values of watched attributes are missing, rows with a complete support are too
    /// few.
    pub(super) fn asks_e_processes(&self) -> bool {
        self.params.half_life.is_none() && self.moments.gaps == 0
    }

    /// Takes the steps of a block with gaps or late examples, attribute by attribute: each rests on the rows
    /// in which the attribute and the support were observed. Where an attribute of the support is missing,
    /// its part is in the error, and may hide the effect of another one.
    pub(super) fn take_steps_one_by_one(&mut self) {
        // The block is filled with means later.
        for gap in &self.gaps {
            let column = gap.column as usize;
            self.values[column / 4 * self.labels.len() + gap.row as usize][column % 4] = f64::NAN;
        }
        let errors = self.errors_of_predictions();
        let late = self.late.iter().flat_map(|late| &late.attributes);
        let mut attributes: Vec<u32> = self.asked.iter().chain(late).copied().collect();
        attributes.sort_unstable();
        attributes.dedup();
        attributes.retain(|j| self.support.binary_search(j).is_err());
        let noise = self.errors.mean();
        let (mut values, mut of_values) = (Vec::new(), Vec::new());
        for j in attributes {
            values.clear();
            of_values.clear();
            for (x, r) in self.column(j).zip(&errors).filter(|(x, r)| !x.is_nan() && !r.is_nan()) {
                values.push([x, 0.0, 0.0, 0.0]);
                of_values.push(*r);
            }
            self.e_processes.absorb(&[j], 0, &values, of_values.iter().copied(), noise);
        }
    }

    /// Returns the errors of the predictions for the rows of the block and the late examples, each times its
    /// weight; NaN where a value is missing.
    fn errors_of_predictions(&self) -> Vec<f64> {
        let labels = self.labels[..self.filled].iter().copied().chain(self.late.iter().map(|l| l.label));
        let mut errors: Vec<f64> = labels.map(|y| y - self.intercept).collect();
        for (j, b) in self.theta.view().iter() {
            errors.iter_mut().zip(self.column(j)).for_each(|(r, x)| *r -= b * x);
        }
        errors.iter_mut().zip(&self.weights).for_each(|(r, weight)| *r *= weight);
        errors
    }

    /// Returns the values of attribute `j`, clipped, in the rows of the block and in the late examples; NaN
    /// where it was not observed.
    fn column(&self, j: u32) -> impl Iterator<Item = f64> {
        let (low, high) = self.moments.range(j);
        let place = self.scratch.columns.iter().position(|k| *k == j).filter(|_| self.filled > 0);
        let of_block = (0..self.filled)
            .map(move |row| place.map_or(f64::NAN, |c| self.values[c / 4 * self.labels.len() + row][c % 4]));
        let of_late = self
            .late
            .iter()
            .map(move |late| late.attributes.binary_search(&j).map_or(f64::NAN, |at| late.values[at]));
        of_block.chain(of_late).map(move |x| x.clamp(low, high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pursuit::PursuitParams;
    use lao_observation::{Ask, BlockBuf, Learner as _, Request, Seed, Told};
    use rand::RngExt as _;

    /// Returns a learner after some blocks, in which the label is attribute 1 and noise. `gap` is a row in
    /// which attribute 0 is missing, if it was asked for.
    fn after_blocks(gap: Option<usize>) -> Pursuit {
        let mut learner = PursuitParams::within(6, 6).build().unwrap();
        let mut draws = Seed::root(1).rng();
        let (mut ask, mut block) = (Ask::new(6), BlockBuf::new());
        for number in 0..40 {
            let mut rng = Seed::root(2).child(&format!("block {number}")).rng();
            learner.ask(&mut draws, &mut ask);
            let Request::Values { attributes, examples } = ask.request() else { panic!() };
            let rows: Vec<[f64; 7]> =
                (0..examples).map(|_| std::array::from_fn(|_| rng.random_range(-1.0..1.0))).collect();
            block.reset(attributes.len(), rows.len());
            block.set_rows(rows.len());
            for (c, &j) in attributes.iter().enumerate() {
                block.column_mut(c).iter_mut().zip(&rows).for_each(|(x, row)| *x = row[j as usize]);
                if let (0, Some(row)) = (j, gap) {
                    block.column_mut(c)[row] = f64::NAN;
                }
            }
            block.labels_mut().iter_mut().zip(&rows).for_each(|(y, row)| *y = row[1] + row[6]);
            learner.tell(Told::Values(block.view(attributes))).unwrap();
        }
        learner
    }

    #[test]
    fn an_attribute_with_an_effect_has_evidence_and_one_without_has_none() {
        let learner = after_blocks(None);
        assert_eq!(learner.support(), [1]);
        assert!(learner.e_processes.log(1, 1.0) > (6.0f64 / 0.05).ln());
        assert!((2..6).all(|j| learner.e_processes.log(j, 1.0) < 1.0));
    }

    #[test]
    fn what_is_missing_of_an_attribute_changes_its_own_evidence_alone() {
        let (full, gaps) = (after_blocks(None), after_blocks(Some(3)));
        assert!(gaps.moments.gaps == 0 && gaps.moments.tried[0] > gaps.moments.seen[0]);
        for j in 2..6 {
            let [a, b] = [&full, &gaps].map(|learner| learner.e_processes.log(j, 1.0));
            assert!((a - b).abs() < 1e-6 * (1.0 + a.abs()), "attribute {j}: {a} for {b}");
        }
        assert_ne!(full.e_processes.log(0, 1.0), gaps.e_processes.log(0, 1.0));
    }
}

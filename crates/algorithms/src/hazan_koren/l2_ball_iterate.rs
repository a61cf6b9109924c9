//! A predictor under gradient steps and projections on the l2 ball, with its average, at a cost per step that
//! does not depend on `d`.
//!
//! Three things would each cost O(d) a step: to scale `w`, to add it to the sum that becomes the average, and
//! to draw from the law `w_j^2`. Instead
//!
//! - `w = s u`, so that scaling changes one number;
//! - with `P = s_1 + .. + s_t`, the sum of the iterates is `P u + a`, where a change of `u_j` to `u_j'` adds
//!   `P (u_j - u_j')` to `a_j` and so leaves the sum unchanged;
//! - the squares `u_j^2` are added up in a [`SumTree`], which also knows the norm.
//!
//! When `P/s` has grown so large that `P u + a` would cancel, or `s` so small that `u` might overflow, all
//! coordinates are put right at once: O(d), at times that get rarer as steps shrink. The same is done before
//! and after a step that leads far beyond the ball, since `P u + a` would consist of its rounding errors.

use super::two_sample::Iterate;
use lao_kernels::{SparseVector, dot_column};
use lao_observation::sample::{BLOCK, SumTree, block};
use lao_observation::stored::Damaged;
use lao_observation::{LearnError, Rng};
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// How far `P/s` may exceed the number of steps that it covers: so many bits of the average may be lost to
/// cancellation.
const SLACK: f64 = (1 << 16) as f64;

/// A step counts as far beyond the ball when its squared length exceeds this many squared radii.
const FAR: f64 = (1_u64 << 60) as f64;

/// A block is added up anew in every so many steps.
const REFRESH: u64 = 4;

/// Stored sums may differ from recomputed ones by this much, relative to the largest possible `|u|_2^2`; the
/// reason is at [`check`](L2BallIterate::check).
const DRIFT: f64 = 1.0 / 1024.0;

/// Up to so many entries lie in the nearest cache.
const NEAR: usize = 4096;

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Entry {
    /// `u_j`.
    value: f64,
    /// `a_j`.
    past: f64,
}

fn squares(entries: &[Entry], block: usize) -> f64 {
    let first = block * BLOCK;
    entries[first..(first + BLOCK).min(entries.len())].iter().map(|entry| entry.value * entry.value).sum()
}

/// `w`, `|w|_2` and the sum of all iterates so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct L2BallIterate {
    radius: f64,
    /// `s`.
    scale: f64,
    /// `P`, and the number of steps it covers.
    prefix: f64,
    covered: f64,
    entries: Vec<Entry>,
    squares: SumTree<f64>,
    /// `|u|_2^2`.
    norm_squared: f64,
    /// The block to be added up anew next.
    stale: usize,
    /// `u_j - u_j'` of the step under way, draw by draw.
    #[serde(skip)]
    change: Vec<f64>,
}

impl L2BallIterate {
    pub(crate) fn new(start: &SparseVector, radius: f64) -> Self {
        let dim = start.dim();
        let mut iterate = L2BallIterate {
            radius,
            scale: 1.0,
            prefix: 0.0,
            covered: 0.0,
            entries: vec![Entry::default(); dim],
            squares: SumTree::new(dim),
            norm_squared: 0.0,
            stale: 0,
            change: Vec::new(),
        };
        for (j, value) in start.view().iter() {
            iterate.entries[j as usize].value = value;
        }
        iterate.add_up();
        iterate
    }

    /// `|w|_2^2`.
    pub(crate) fn norm_squared(&self) -> f64 {
        self.scale * self.scale * self.norm_squared
    }

    /// Counts the present `w` into the average, then `w <- P_B(w - change)`, where `change` is a sum over
    /// `draws`, in which an attribute may come again.
    pub(crate) fn step(
        &mut self,
        draws: &[u32],
        change: impl Iterator<Item = f64>,
        update: u64,
    ) -> Result<(), LearnError> {
        let unit = 1.0 / self.scale;
        self.change.clear();
        self.change.extend(change.map(|change| unit * change));
        // Far enough from overflow for any order of adding, even if all draws are of one attribute.
        let most = draws.len() as f64 * dot_column(&self.change, &self.change);
        let fits = self.norm_squared + most < f64::MAX / 16.0;
        if !fits {
            return Err(self.diverged(draws, update));
        }

        self.prefix += self.scale;
        self.covered += 1.0;
        let far = most > FAR * (self.radius * unit).powi(2);
        if far {
            let scale = self.scale;
            self.settle();
            self.change.iter_mut().for_each(|change| *change *= scale);
        }
        if self.entries.len() > NEAR {
            // All looks at far memory come first, since they need not wait for each other.
            let values = draws.iter().map(|&j| self.entries[j as usize].value);
            std::hint::black_box(values.sum::<f64>());
        }
        let L2BallIterate { entries, prefix, change, squares, .. } = self;
        let (entries, prefix) = (&mut entries[..], *prefix);
        let mut grown = [0.0; 2];
        for (&j, change) in draws.iter().zip(&mut *change) {
            let Entry { value, past } = entries[j as usize];
            let lost = *change;
            entries[j as usize] = Entry { value: value - lost, past: past + prefix * lost };
            // (u - c)^2 - u^2
            let growth = lost * (lost - 2.0 * value);
            *change = growth;
            grown = [grown[1], grown[0] + growth];
        }
        squares.add_all(draws, change);
        self.count_growth(grown[0] + grown[1], draws);

        let norm = self.norm_squared().sqrt();
        if norm > self.radius {
            self.scale *= self.radius / norm;
        }
        if far || self.prefix > SLACK * self.covered * self.scale {
            self.settle();
        }
        Ok(())
    }

    fn diverged(&self, attributes: &[u32], update: u64) -> LearnError {
        // The first change beyond all bounds, or else the largest.
        let size = |place: usize| self.change[place].abs();
        let larger = |a: usize, b: usize| if size(b) > size(a) || size(b).is_nan() { b } else { a };
        let all = 0..attributes.len();
        let place = all.clone().find(|&place| !size(place).is_finite()).or_else(|| all.reduce(larger));
        let (attribute, value) = place.map_or((0, f64::INFINITY), |place| {
            let j = attributes[place] as usize;
            (j, self.scale * (self.entries[j].value - self.change[place]))
        });
        LearnError::Diverged { update, attribute, value }
    }

    /// Takes `|u|_2^2` along, and every few steps puts one block right; all that were touched, if what is
    /// left of the sum is little enough to show their rounding.
    fn count_growth(&mut self, grown: f64, draws: &[u32]) {
        let before = self.norm_squared;
        self.norm_squared += grown;
        if self.norm_squared < 0.5 * before {
            draws.iter().for_each(|&j| self.add_up_block(j as usize / BLOCK));
        } else if (self.covered as u64).is_multiple_of(REFRESH) {
            self.add_up_block(self.stale);
            self.stale = if self.stale + 1 < self.squares.blocks() { self.stale + 1 } else { 0 };
        }
    }

    fn add_up_block(&mut self, block: usize) {
        self.squares.set_block(block, squares(&self.entries, block));
        self.norm_squared = self.squares.total();
    }

    fn add_up(&mut self) {
        self.squares.set_all(|block| squares(&self.entries, block));
        self.norm_squared = self.squares.total();
    }

    /// `s = 1` and `P = 0`, at a cost of O(d).
    fn settle(&mut self) {
        for entry in &mut self.entries {
            entry.past += self.prefix * entry.value;
            entry.value *= self.scale;
        }
        (self.prefix, self.covered, self.scale) = (0.0, 0.0, 1.0);
        self.add_up();
    }
}

impl Iterate for L2BallIterate {
    fn dim(&self) -> usize {
        self.entries.len()
    }

    fn radius(&self) -> f64 {
        self.radius
    }

    fn get(&self, j: u32) -> f64 {
        self.entries.get(j as usize).map_or(0.0, |entry| self.scale * entry.value)
    }

    /// `j` with probability `w_j^2 / |w|_2^2`; none when `w = 0`.
    fn draw(&mut self, rng: &mut Rng) -> Option<u32> {
        while self.norm_squared > 0.0 {
            let target = rng.random::<f64>() * self.norm_squared;
            let squares = |at| block(&self.entries, at, |entry| entry.value * entry.value);
            match self.squares.locate(target, |&sum| sum, squares) {
                Ok(j) => return Some(j as u32),
                Err(block) => self.add_up_block(block),
            }
        }
        None
    }

    fn to_dense(&self) -> Vec<f64> {
        self.entries.iter().map(|entry| self.scale * entry.value).collect()
    }

    fn average(&self, count: u64) -> SparseVector {
        if count == 0 {
            return SparseVector::from_dense(&self.to_dense());
        }
        let sums = self.entries.iter().map(|entry| self.prefix * entry.value + entry.past);
        SparseVector::from_dense(&sums.map(|sum| sum / count as f64).collect::<Vec<_>>())
    }

    /// Refuses a state that no sequence of `done` steps leads to. The caller checks the radius.
    ///
    /// 1. *Scales* obey exact rules. Since [`settle`](Self::settle) was called last, `P` has added up
    ///    `covered` scales, of which the first is 1 and none is larger, and `P <= SLACK covered s` holds
    ///    after every step.
    /// 2. *Sums of squares* drift by rounding. A sum is recomputed after at most `REFRESH d k/BLOCK`
    ///    additions. Each adds an error of a few times 2^-53 of the largest `|u|_2^2` since the last
    ///    [`settle`](Self::settle), and this largest value is at most `(B/s)^2` with the present `s`, because
    ///    `w` stays in the ball and `s` only falls in between. So the drift stays below `DRIFT (B/s)^2` for
    ///    `d k` up to 2^40, even if all errors have the same sign.
    /// 3. *The sum of the iterates* gains an error of 2^-53 times `P` times the change of `u` in each step.
    ///    The change is at most 2^30 `B/s`, and if it exceeds `SLACK B/s`, [`settle`](Self::settle) follows.
    ///    So the errors are a small part of `B` per step, which the factor 2 covers.
    fn check(&self, what: &'static str, done: u64) -> Result<(), Damaged> {
        let L2BallIterate { radius, scale, prefix, covered, entries, norm_squared, stale, .. } = self;
        let damaged = |ok: bool, reason: &str| Damaged::unless(ok, what, || reason);
        let counts = covered.fract() == 0.0 && (0.0..=done as f64).contains(covered);
        let begun = match *covered > 0.0 {
            true => (1.0..=*covered).contains(prefix) && *prefix <= SLACK * covered * scale,
            false => (*prefix, *scale) == (0.0, 1.0),
        };
        damaged(counts && begun && *scale > 0.0 && *scale <= 1.0, "the scales do not add up")?;
        let most = (radius / scale).powi(2).min(f64::MAX / 8.0);
        let near = |sum: &f64, exact: &f64| (sum - exact).abs() <= DRIFT * most;
        let exact = entries.iter().map(|entry| entry.value * entry.value).sum::<f64>();
        damaged(exact <= (1.0 + 4.0 * DRIFT) * most, "the predictor leaves the ball")?;
        let agrees = self.squares.agrees(entries.len(), |block| squares(entries, block), near);
        damaged(agrees && near(norm_squared, &exact), "the sums of squares are not those of the predictor")?;
        damaged(*stale < self.squares.blocks(), "the block to be added up next does not exist")?;
        let most = 2.0 * radius * done as f64;
        let fits = |entry: &Entry| (prefix * entry.value + entry.past).abs() <= most;
        damaged(entries.iter().all(fits), "the average leaves the ball")
    }
}

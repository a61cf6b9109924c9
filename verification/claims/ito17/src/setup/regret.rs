//! Regret of learners that play the online protocol on the same examples.

use anyhow::{Context as _, ensure};
use lao_datasets::memory::Rows;
use lao_kernels::SparseView;
use lao_observation::session::mean_squared_error;
use lao_observation::{
    BlockBuf, Budget, LearnError, Learner, Row, Seed, Session, SessionError, SessionLimit, Source, Told,
};
use lao_verification_engine::context::{Context, Trial, View};
use lao_verification_engine::judge::slope::{self, Exponent, SlopeJudge};
use lao_verification_engine::mutants::Cripple;
use std::any::Any;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Examples, drawn once and kept, with the loss of a fixed predictor at some marks: the regret of any learner
/// on them is its own squared loss less that.
pub(crate) struct Race {
    source: Rows<f64>,
    /// Numbers of rounds, ascending.
    marks: Vec<u64>,
    /// Squared loss of the comparator up to each mark.
    comparator: Vec<f64>,
}

impl Race {
    /// The race against `comparator` on the next examples of `source`, looked at after `marks` rounds.
    pub fn new(
        source: &mut impl Source,
        comparator: SparseView<'_>,
        marks: Vec<u64>,
    ) -> anyhow::Result<Self> {
        let source = drawn(source, marks.last().copied().unwrap_or(0) as usize)?;
        let comparator = losses(comparator, &mut source.clone(), &marks)?;
        Ok(Race { source, marks, comparator })
    }

    /// Regret of `learner` at every mark, within a budget per example; infinite once it has diverged.
    pub fn regret<L: Learner + ?Sized>(
        &self,
        learner: &mut L,
        budget: usize,
        seed: &Seed,
    ) -> anyhow::Result<Vec<f64>> {
        self.regret_watched(learner, budget, seed, |_| {})
    }

    /// As [`regret_watched`](Self::regret_watched), of a learner that begins at zero, in each of these views
    /// of its predictions: one run has them all.
    pub fn regrets<L: Learner + ?Sized>(
        &self,
        learner: &mut L,
        budget: usize,
        seed: &Seed,
        views: &[View],
        mut look: impl FnMut(&L),
    ) -> anyhow::Result<Vec<Vec<f64>>> {
        if views == [None] {
            return Ok(vec![self.regret_watched(learner, budget, seed, look)?]);
        }
        let mut shown = Shown { inner: learner, views, said: Cell::new(0.0), losses: vec![0.0; views.len()] };
        let (mut at_marks, mut marks) = (Vec::with_capacity(self.marks.len()), 0..);
        let played = self.regret_watched(&mut shown, budget, seed, |shown| {
            let mark = marks.next().unwrap_or(0);
            at_marks.push(shown.losses.iter().map(|loss| loss - self.comparator[mark]).collect::<Vec<f64>>());
            look(&*shown.inner);
        })?;
        let curve = |view: usize| {
            let mut curve: Vec<f64> = at_marks.iter().map(|losses| losses[view]).collect();
            // A run that has diverged has no regret at the marks to come.
            curve.resize(played.len(), f64::INFINITY);
            curve
        };
        Ok((0..views.len()).map(curve).collect())
    }

    /// As [`regret`](Self::regret), with a look at the learner at every mark.
    pub fn regret_watched<L: Learner + ?Sized>(
        &self,
        learner: &mut L,
        budget: usize,
        seed: &Seed,
        mut look: impl FnMut(&L),
    ) -> anyhow::Result<Vec<f64>> {
        let session = Session::new(self.source.clone(), Budget::PerExample(budget), seed);
        let (mut session, mut curve) = (session.online(), Vec::with_capacity(self.marks.len()));
        for (&mark, comparator) in self.marks.iter().zip(&self.comparator) {
            match session.run(learner, SessionLimit::after_examples(mark), |_, _| {}) {
                Err(SessionError::Learn(LearnError::Diverged { .. })) => {
                    curve.resize(self.marks.len(), f64::INFINITY);
                    return Ok(curve);
                }
                end => end?,
            };
            let ledger = session.ledger();
            ensure!(ledger.predictions == mark, "{} predictions in {mark} rounds", ledger.predictions);
            curve.push(ledger.squared_loss - comparator);
            look(learner);
        }
        Ok(curve)
    }

    /// Squared loss of the comparator up to the last mark.
    pub fn comparator(&self) -> f64 {
        self.comparator.last().copied().unwrap_or(0.0)
    }

    /// Squared loss, up to the last mark, of the best predictor in hindsight with `sparsity` non-zeros
    /// (without a bound on its norm, so that the regret against it is an upper bound of the regret against a
    /// ball). Meant for few subsets.
    pub fn best_sparse(&self, sparsity: usize) -> anyhow::Result<f64> {
        let dim = self.source.dim();
        let mut moments = Moments::new(dim);
        let (mut stream, mut block) = (self.source.clone(), BlockBuf::new());
        let all: Vec<u32> = (0..dim as u32).collect();
        let mut left = self.marks.last().copied().unwrap_or(0) as usize;
        while left > 0 {
            block.reset(dim, left.min(BlockBuf::preferred_rows(dim)));
            let rows = stream.observe(&all, &mut block)?;
            ensure!(rows > 0, "the source is dry before the last mark");
            let view = block.view(&all);
            let columns: Vec<&[f64]> = (0..dim).map(|c| view.column(c)).collect();
            moments.add(&columns, view.labels());
            left -= rows;
        }
        Ok(moments.best_sparse(sparsity))
    }
}

/// A learner whose predictions are judged in several views; all of them begin at zero.
struct Shown<'a, L: ?Sized> {
    inner: &'a mut L,
    views: &'a [View],
    /// What it said of the example that it is told next.
    said: Cell<f64>,
    /// Squared losses in each view.
    losses: Vec<f64>,
}

impl<L: Learner + ?Sized> Learner for Shown<'_, L> {
    lao_verification_engine::hand_on!(inner: dim ask coefficients updates examples_to_next_update);

    fn predict(&self, seen: Row<'_>) -> f64 {
        self.said.set(self.inner.predict(seen));
        self.said.get()
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        if let Told::Values(block) = &told
            && let Some(example) = block.single()
        {
            for (view, loss) in self.views.iter().zip(&mut self.losses) {
                let said = view.map_or(self.said.get(), |cripple| cripple.value(0.0, self.said.get()));
                *loss += (said - example.label).powi(2);
            }
        }
        self.inner.tell(told)
    }
}

/// The views of a learner that begins at zero: sound, a hundredth of the way, and at its start.
pub(crate) const VIEWS: [View; 3] = [None, Some(Cripple::GoesOneHundredth), Some(Cripple::PredictsZero)];

/// The place in [`VIEWS`] of what an arm shows.
pub(crate) fn view(cripple: Option<Cripple>) -> usize {
    cripple.map_or(0, |cripple| if cripple.stands_still() { 2 } else { 1 })
}

/// Runs trials of learners that begin at zero, once for the honest arm and those of all crippled learners:
/// `trial` returns one result for each of the views. An arm with a fault makes runs of its own.
pub(crate) fn shown<R: Any + Clone + Send + Sync>(
    cx: &Context<'_>,
    cell: &str,
    n: u64,
    trial: impl Fn(&Trial, &[View]) -> anyhow::Result<Vec<R>> + Sync,
) -> anyhow::Result<Vec<R>> {
    let cripple = cx.cripple();
    let one = |all: Vec<Vec<R>>, at: usize| -> Vec<R> {
        all.into_iter().filter_map(|mut views| (at < views.len()).then(|| views.swap_remove(at))).collect()
    };
    if !cx.honest() && cripple.is_none() {
        return Ok(one(cx.all_trials(cell, n, |one| trial(one, &VIEWS[..1]))?, 0));
    }
    let all = cx.shared(&format!("runs of {cell}"), || cx.all_trials(cell, n, |one| trial(one, &VIEWS)))?;
    Ok(one(all.to_vec(), view(cripple)))
}

/// The results of single trials, which arms share that make the same trial.
pub(crate) struct Trials<T> {
    known: Mutex<BTreeMap<(String, u64), T>>,
}

impl<T: Any + Clone + Send + Sync> Trials<T> {
    /// Those of the claim, by name.
    pub fn of(cx: &Context<'_>, name: &str) -> anyhow::Result<Arc<Self>> {
        cx.shared(name, || Ok(Trials { known: Mutex::default() }))
    }

    /// The result of a trial. `what` names all that it depends on, but for its number.
    pub fn get(
        &self,
        what: &str,
        number: u64,
        compute: impl FnOnce() -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (what.to_owned(), number);
        if let Some(known) = lock().get(&key) {
            return Ok(known.clone());
        }
        let result = compute()?;
        lock().insert(key, result.clone());
        Ok(result)
    }
}

/// Squared loss of a fixed predictor up to each mark.
fn losses(w: SparseView<'_>, stream: &mut Rows<f64>, marks: &[u64]) -> anyhow::Result<Vec<f64>> {
    let (mut loss, mut from, mut losses) = (0.0, 0, Vec::with_capacity(marks.len()));
    for &mark in marks {
        let rounds = mark - from;
        let mean = mean_squared_error(w, stream, Budget::Unlimited, rounds)?;
        loss += rounds as f64 * mean.context("the source is dry before the last mark")?;
        losses.push(loss);
        from = mark;
    }
    Ok(losses)
}

/// The next `rows` examples, in memory.
pub(crate) fn drawn(source: &mut impl Source, rows: usize) -> anyhow::Result<Rows<f64>> {
    let dim = source.dim();
    let (mut values, mut labels) = (vec![0.0; rows * dim], Vec::with_capacity(rows));
    let (all, mut block): (Vec<u32>, _) = ((0..dim as u32).collect(), BlockBuf::new());
    while labels.len() < rows {
        block.reset(dim, BlockBuf::preferred_rows(dim).min(rows - labels.len()));
        ensure!(source.observe(&all, &mut block)? > 0, "the source is dry before the last mark");
        let view = block.view(&all);
        let table = &mut values[labels.len() * dim..];
        for c in 0..dim {
            table.iter_mut().skip(c).step_by(dim).zip(view.column(c)).for_each(|(to, x)| *to = *x);
        }
        labels.extend_from_slice(view.labels());
    }
    Ok(Rows::new(dim, values, labels)?)
}

/// Second moments of examples: `sum x x'`, `sum y x`, `sum y^2`.
struct Moments {
    gram: Vec<Vec<f64>>,
    cross: Vec<f64>,
    labels: f64,
}

impl Moments {
    fn new(dim: usize) -> Self {
        Moments { gram: vec![vec![0.0; dim]; dim], cross: vec![0.0; dim], labels: 0.0 }
    }

    fn add(&mut self, columns: &[&[f64]], labels: &[f64]) {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        for (i, x) in columns.iter().enumerate() {
            for (j, z) in columns.iter().enumerate() {
                self.gram[i][j] += dot(x, z);
            }
            self.cross[i] += dot(x, labels);
        }
        self.labels += dot(labels, labels);
    }

    /// Least squared loss over all supports of `sparsity` attributes.
    fn best_sparse(&self, sparsity: usize) -> f64 {
        let dim = self.cross.len();
        let (mut best, mut support) = (self.labels, Vec::new());
        self.extend(0, sparsity.min(dim), &mut support, &mut best);
        best
    }

    fn extend(&self, from: usize, left: usize, support: &mut Vec<usize>, best: &mut f64) {
        if left == 0 {
            *best = best.min(self.least(support));
            return;
        }
        for j in from..=self.cross.len() - left {
            support.push(j);
            self.extend(j + 1, left - 1, support, best);
            support.pop();
        }
    }

    /// Least squared loss on a support: what Gaussian elimination of the normal equations leaves of
    /// `sum y^2`. A column that depends on those before it brings nothing.
    fn least(&self, support: &[usize]) -> f64 {
        let n = support.len();
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(n + 1);
        for &i in support {
            rows.push(support.iter().map(|&j| self.gram[i][j]).chain([self.cross[i]]).collect());
        }
        rows.push(support.iter().map(|&j| self.cross[j]).chain([self.labels]).collect());
        for pivot in 0..n {
            let head = rows[pivot].clone();
            if head[pivot] <= 1e-12 * self.gram[support[pivot]][support[pivot]] {
                continue;
            }
            for row in &mut rows[pivot + 1..] {
                let factor = row[pivot] / head[pivot];
                row.iter_mut().zip(&head).skip(pivot).for_each(|(x, h)| *x -= factor * h);
            }
        }
        rows[n][n]
    }
}

/// `n` marks on the logarithmic scale from `first` to `last`.
pub(crate) fn marks(first: u64, last: u64, n: usize) -> Vec<u64> {
    let step = (last as f64 / first as f64).ln() / (n.max(2) - 1) as f64;
    let mut marks: Vec<u64> =
        (0..n).map(|k| (first as f64 * (step * k as f64).exp()).round() as u64).collect();
    marks.dedup();
    marks
}

/// Judges that the means of `curves` over blocks of five runs have exponents of at most `most` in the marks
/// of `grid`, the curves' last ones, with a margin. The exponents of the blocks, if they are to be reported.
pub(crate) fn judge_exponent(
    cx: &mut Context<'_>,
    cell: &str,
    (most, margin): (f64, f64),
    grid: &[f64],
    curves: &[Vec<f64>],
) -> Option<Vec<f64>> {
    let late = |block: Vec<f64>| block[block.len() - grid.len()..].to_vec();
    let blocks: Vec<Vec<f64>> = slope::block_means(curves, 5).into_iter().map(late).collect();
    let finding = SlopeJudge::new(Exponent::AtMost(most), margin).judge(grid, &blocks, cx.alpha());
    cx.judge(cell, finding);
    let fits = slope::fit(grid, &blocks, None).ok().filter(|_| cx.honest())?;
    Some(fits.iter().map(|fit| fit.slope).collect())
}

/// The mean of one column: `rows[r][at]` over r.
pub(crate) fn mean_at(rows: &[Vec<f64>], at: usize) -> f64 {
    rows.iter().map(|row| row[at]).sum::<f64>() / rows.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_pair_is_found_and_leaves_the_rest_of_the_labels() {
        // y = 2 a - c + (0, 0, 0, 1) with the residual orthogonal to all three columns.
        let (a, b, c) = ([1.0, 1.0, 0.0, 0.0], [1.0, -1.0, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0]);
        let y: Vec<f64> = (0..4).map(|i| 2.0 * a[i] - c[i] + f64::from(u8::from(i == 3))).collect();
        let mut moments = Moments::new(3);
        moments.add(&[&a, &b, &c], &y);
        assert!((moments.best_sparse(2) - 1.0).abs() < 1e-12);
        assert!(moments.best_sparse(1) > 1.0);
    }

    #[test]
    fn a_repeated_column_brings_nothing() {
        let (a, y) = ([1.0, 2.0], [1.0, 1.0]);
        let mut moments = Moments::new(2);
        moments.add(&[&a, &a], &y);
        assert!((moments.best_sparse(2) - moments.best_sparse(1)).abs() < 1e-12);
    }

    #[test]
    fn marks_reach_from_the_first_to_the_last() {
        assert_eq!(marks(512, 4096, 4), [512, 1024, 2048, 4096]);
    }
}

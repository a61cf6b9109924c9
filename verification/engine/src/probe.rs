//! Probes that look inside production learners through their public interfaces.

use crate::vectors::dot;
use lao_algorithms::BatchSizes;
use lao_algorithms::murata_suzuki::{ExplorationParams, Hybrid};
use lao_kernels::{HardThreshold, NotFinite, SparseVector, SparseView, Threshold};
use lao_observation::{
    Ask, BlockBuf, Budget, GradientSum, LearnError, Learner, Ledger, Request, Rng, Seed, Session, SessionEnd,
    SessionError, SessionLimit, Source, Told,
};
use std::sync::{Arc, Mutex, PoisonError};

/// A hard threshold that stores the dense vector that it was last given.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    threshold: HardThreshold,
    seen: Arc<Mutex<Vec<f64>>>,
}

impl Capture {
    /// Returns the dense vector of the last update, `theta - eta g`.
    pub fn seen(&self) -> Vec<f64> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Threshold for Capture {
    fn keep(&mut self, dense: &[f64], sparsity: usize, kept: &mut SparseVector) -> Result<(), NotFinite> {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = dense.to_vec();
        self.threshold.keep(dense, sparsity, kept)
    }
}

/// Returns the gradient estimate `g_t` that the production
/// [`Exploration`](lao_algorithms::murata_suzuki::Exploration) forms at `theta` from the next `d' batch`
/// examples of `source`, all d coordinates. `theta` may have at most `sparsity` non-zeros.
///
/// # Errors
/// When the parameters are refused, the session fails, or the source is dry.
pub fn exploration_gradient<S: Source>(
    mut source: S,
    theta: SparseView<'_>,
    sparsity: usize,
    budget: usize,
    batch: u64,
) -> anyhow::Result<Vec<f64>> {
    gradient_from(&mut source, theta, sparsity, budget, batch)
}

/// Computes [`exploration_gradient`] with the source behind a pointer, so that session and learner are
/// compiled once and not per source.
fn gradient_from(
    source: &mut dyn Source,
    theta: SparseView<'_>,
    sparsity: usize,
    budget: usize,
    batch: u64,
) -> anyhow::Result<Vec<f64>> {
    let capture = Capture::default();
    let params = ExplorationParams {
        dim: theta.dim(),
        sparsity,
        budget,
        step_size: 1.0,
        batch: BatchSizes::Constant(batch),
        updates: Some(1),
        start: Some(theta.to_owned_vector()),
        money: None,
    };
    let mut learner = params.build_with(capture.clone())?;
    let mut session = Session::new(source, Budget::PerExample(budget), &Seed::root(0));
    session.run(&mut learner, SessionLimit::never(), |_, _| {})?;
    anyhow::ensure!(learner.updates() == 1, "the source ran dry before one update was complete");
    let mut gradient = capture.seen();
    gradient.iter_mut().for_each(|z| *z = -*z);
    for (j, value) in theta.iter() {
        gradient[j as usize] += value;
    }
    Ok(gradient)
}

/// Returns the update that the production [`Exploration`](lao_algorithms::murata_suzuki::Exploration) makes
/// at `theta` when it is told the gradient estimate `g`, block after block: `H_s(theta - step_size g)`.
///
/// The budget leaves half of the `d - s` other attributes to a block. The dimensions then decide whether
/// there is a ragged last block.
///
/// # Errors
/// When the parameters are refused or the step diverges.
pub fn exploration_step<T: Threshold>(
    theta: SparseVector,
    g: &[f64],
    sparsity: usize,
    step_size: f64,
    threshold: T,
) -> anyhow::Result<SparseVector> {
    let dim = theta.dim();
    let params = ExplorationParams {
        dim,
        sparsity,
        budget: sparsity + (dim - sparsity.min(dim)).div_ceil(2),
        step_size,
        batch: BatchSizes::Constant(1),
        updates: Some(1),
        start: Some(theta),
        money: None,
    };
    let mut learner = params.build_with(threshold)?;
    let (mut ask, mut rng, mut sum) = (Ask::new(dim), Seed::root(0).rng(), Vec::new());
    loop {
        learner.ask(&mut rng, &mut ask);
        let Request::Gradient { attributes, examples, .. } = ask.request() else { break };
        sum.clear();
        sum.extend(attributes.iter().map(|&j| examples as f64 * g[j as usize]));
        learner.tell(Told::Gradient(GradientSum { attributes, sum: &sum, examples }))?;
    }
    Ok(learner.coefficients().to_owned_vector())
}

/// Runs a learner over a source within `budget` until the learner is finished, the source is dry or `stop` is
/// reached, and calls `after` with the estimate after every update. A learner that keeps a lazy average pays
/// O(d) for each such estimate.
///
/// A learner that diverges gives `Ok(None)`. This is a result and not an error: a claim about gaps counts the
/// gap as infinite.
///
/// # Errors
/// When the session fails for any other reason.
pub fn run<S: Source, L: Learner + ?Sized>(
    mut source: S,
    learner: &mut L,
    budget: Budget,
    seed: &Seed,
    stop: SessionLimit,
    mut after: impl FnMut(&Ledger, SparseView<'_>),
) -> anyhow::Result<Option<Finished<S>>> {
    let finished = run_over(&mut source, learner, budget, seed, stop, &mut after)?;
    Ok(finished.map(|(outcome, ledger)| Finished { outcome, ledger, source }))
}

/// Computes [`run`] with source and `after` behind pointers, so that a session is compiled once per learner
/// and not once per claim.
fn run_over<L: Learner + ?Sized>(
    source: &mut dyn Source,
    learner: &mut L,
    budget: Budget,
    seed: &Seed,
    stop: SessionLimit,
    after: &mut dyn FnMut(&Ledger, SparseView<'_>),
) -> anyhow::Result<Option<(SessionEnd, Ledger)>> {
    let mut session = Session::new(source, budget, seed);
    match session.run(learner, stop, |ledger, learner| after(ledger, learner.coefficients())) {
        Ok(outcome) => Ok(Some((outcome, *session.ledger()))),
        Err(SessionError::Learn(LearnError::Diverged { .. })) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// A Hybrid learner, sound or faulty, that says in which stage it is. Claims about stages ask the learner
/// where a stage ends instead of counting updates, so that a Hybrid that makes fewer updates is judged like
/// any other.
pub trait Staged: Learner {
    /// Returns the current stage, counted from 1; when the learner is finished, the number is above that of
    /// the last stage.
    fn stage(&self) -> u64;
    /// Returns whether the next update is one of Exploitation.
    fn is_exploiting(&self) -> bool;
}

impl Staged for Hybrid {
    fn stage(&self) -> u64 {
        Hybrid::stage(self)
    }

    fn is_exploiting(&self) -> bool {
        Hybrid::is_exploiting(self)
    }
}

/// Runs a [`Staged`] learner over a source until the learner is finished, and calls `after` with the learner
/// after every update. A learner that diverges ends the run, which is a result and not an error.
///
/// # Errors
/// When the session fails for any other reason.
pub fn run_staged<S: Source>(
    mut source: S,
    learner: &mut dyn Staged,
    budget: Budget,
    seed: &Seed,
    mut after: impl FnMut(&dyn Staged),
) -> anyhow::Result<()> {
    let source: &mut dyn Source = &mut source;
    match Session::new(source, budget, seed).run(learner, SessionLimit::never(), |_, learner| after(learner))
    {
        Ok(_) | Err(SessionError::Learn(LearnError::Diverged { .. })) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The end of a run that did not diverge.
#[derive(Debug)]
pub struct Finished<S> {
    /// The way in which the session ended.
    pub outcome: SessionEnd,
    /// The observations that the session counted.
    pub ledger: Ledger,
    /// The source, from which a claim takes the exact gap.
    pub source: S,
}

/// Serves a learner by hand, without a session: one example at a time, of which the learner sees the
/// attributes that it asks for.
#[derive(Debug)]
pub struct ManualSession {
    ask: Ask,
    rng: Rng,
    block: BlockBuf,
}

impl ManualSession {
    /// Returns a server of learners of `dim` attributes whose draws come from `seed`.
    pub fn new(dim: usize, seed: &Seed) -> Self {
        ManualSession { ask: Ask::new(dim), rng: seed.rng(), block: BlockBuf::new() }
    }

    /// Takes the learner's ask and answers it from the example `(x, y)`.
    ///
    /// # Errors
    /// When the learner asks for anything but attribute values, or diverges.
    pub fn serve<L: Learner + ?Sized>(&mut self, learner: &mut L, x: &[f64], y: f64) -> anyhow::Result<()> {
        learner.ask(&mut self.rng, &mut self.ask);
        self.tell(learner, x, y)
    }

    /// Serves a learner like [`serve`](Self::serve), with an ask that `ask` fills in, so that the caller
    /// chooses the draws.
    ///
    /// # Errors
    /// As [`serve`](Self::serve).
    pub fn serve_for<L: Learner + ?Sized>(
        &mut self,
        learner: &mut L,
        ask: impl FnOnce(&mut L, &mut Ask),
        x: &[f64],
        y: f64,
    ) -> anyhow::Result<()> {
        ask(learner, &mut self.ask);
        self.tell(learner, x, y)
    }

    fn tell<L: Learner + ?Sized>(&mut self, learner: &mut L, x: &[f64], y: f64) -> anyhow::Result<()> {
        let Request::Values { attributes, .. } = self.ask.request() else {
            anyhow::bail!("the learner does not ask for attribute values")
        };
        self.block.reset(attributes.len(), 1);
        for (c, &j) in attributes.iter().enumerate() {
            self.block.column_mut(c)[0] = x[j as usize];
        }
        self.block.labels_mut()[0] = y;
        self.block.set_rows(1);
        Ok(learner.tell(Told::Values(self.block.view(attributes)))?)
    }

    /// Serves the gradient `g` to a learner that sees every attribute, with loss `(w'x - y)^2` and iterate
    /// `w`: the gradient on the example `x = g`, `y = w'g - 1/2` is exactly `g`.
    ///
    /// # Errors
    /// As [`serve`](Self::serve).
    pub fn serve_gradient<L: Learner + ?Sized>(
        &mut self,
        learner: &mut L,
        w: &[f64],
        g: &[f64],
    ) -> anyhow::Result<()> {
        self.serve(learner, g, dot(w, g) - 0.5)
    }
}

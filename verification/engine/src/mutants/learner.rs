//! Learners that refine the wrong support.

use crate::probe::Staged;
use lao_algorithms::murata_suzuki::{
    Exploitation, ExploitationParams, Exploration, ExplorationParams, HybridParams,
};
use lao_algorithms::{BatchSizes, ParamError};
use lao_kernels::{SparseVector, SparseView};
use lao_observation::sample::SubsetSampler;
use lao_observation::{Ask, LearnError, Learner, Rng, Told};

/// The support on which a faulty Hybrid exploits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misdirection {
    /// A random support of the same size; coefficients outside it are dropped.
    RandomSupport,
    /// Attributes that Exploration has just rejected, as many as it kept (or all if there are fewer); the
    /// others are dropped.
    Complement,
    /// No support: each stage's Exploration is skipped, so no support is ever found.
    SkipsExploration,
}

/// Hybrid (stages of Exploration, then Exploitation) that exploits the wrong support.
#[derive(Clone, Debug)]
pub struct Misdirected {
    params: HybridParams,
    fault: Misdirection,
    stage: u64,
    before: u64,
    explore: Exploration,
    exploit: Option<Exploitation>,
    sampler: SubsetSampler,
    drawn: Vec<u32>,
}

impl Misdirected {
    /// Returns the faulty learner for these parameters.
    ///
    /// # Errors
    /// As [`HybridParams::build`].
    pub fn new(params: HybridParams, fault: Misdirection) -> Result<Self, ParamError> {
        params.clone().build()?;
        let explore = Self::exploration(&params, 1, fault, params.start.clone())?;
        let sampler = SubsetSampler::new(params.dim);
        Ok(Misdirected {
            params,
            fault,
            stage: 1,
            before: 0,
            explore,
            exploit: None,
            sampler,
            drawn: Vec::new(),
        })
    }

    fn exploration(
        params: &HybridParams,
        stage: u64,
        fault: Misdirection,
        start: Option<SparseVector>,
    ) -> Result<Exploration, ParamError> {
        let over = params.stages.is_some_and(|stages| stage > stages);
        let skip = fault == Misdirection::SkipsExploration;
        ExplorationParams {
            dim: params.dim,
            sparsity: params.sparsity,
            budget: params.budget,
            step_size: params.step_size,
            batch: BatchSizes::Constant(params.explore_batch.size(stage)),
            updates: Some(if over || skip { 0 } else { params.explore_updates }),
            start,
            money: None,
        }
        .build()
    }

    fn explored(&self) -> bool {
        let skip = self.fault == Misdirection::SkipsExploration;
        self.explore.updates() >= if skip { 0 } else { self.params.explore_updates }
    }

    fn over(&self) -> bool {
        self.params.stages.is_some_and(|stages| self.stage > stages)
    }
}

impl Staged for Misdirected {
    fn stage(&self) -> u64 {
        self.stage
    }

    fn is_exploiting(&self) -> bool {
        !self.over() && (self.exploit.is_some() || self.explored())
    }
}

impl Learner for Misdirected {
    fn dim(&self) -> usize {
        self.params.dim
    }

    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        if self.over() {
            return ask.nothing();
        }
        if self.exploit.is_none() && self.explored() {
            let theta = self.explore.coefficients();
            let mut start = SparseVector::zeros(self.params.dim);
            match self.fault {
                Misdirection::RandomSupport => {
                    self.drawn.clear();
                    self.sampler.draw(self.params.sparsity, rng, &mut self.drawn);
                    self.drawn.iter().for_each(|&j| start.push(j, theta.get(j)));
                }
                Misdirection::Complement => {
                    let rejected =
                        (0..self.params.dim as u32).filter(|j| theta.indices().binary_search(j).is_err());
                    rejected.take(self.params.sparsity).for_each(|j| start.push(j, 0.0));
                }
                Misdirection::SkipsExploration => start.copy_from(theta),
            }
            let params = ExploitationParams {
                start,
                budget: self.params.budget,
                step_size: self.params.step_size,
                batch: BatchSizes::Constant(self.params.exploit_batch.size(self.stage)),
                updates: Some(self.params.exploit_updates.max(1)),
            };
            self.exploit = params.build().ok();
        }
        match &mut self.exploit {
            Some(exploit) => exploit.ask(rng, ask),
            None => self.explore.ask(rng, ask),
        }
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        let Some(exploit) = &mut self.exploit else { return self.explore.tell(told) };
        exploit.tell(told)?;
        if exploit.updates() >= self.params.exploit_updates.max(1) {
            self.before += exploit.updates() + self.explore.updates();
            self.stage += 1;
            let start = Some(exploit.coefficients().to_owned_vector());
            if let Ok(explore) = Self::exploration(&self.params, self.stage, self.fault, start) {
                self.explore = explore;
            }
            self.exploit = None;
        }
        Ok(())
    }

    fn coefficients(&self) -> SparseView<'_> {
        self.exploit.as_ref().map_or_else(|| self.explore.coefficients(), |exploit| exploit.coefficients())
    }

    fn updates(&self) -> u64 {
        self.before + self.explore.updates() + self.exploit.as_ref().map_or(0, |exploit| exploit.updates())
    }
}

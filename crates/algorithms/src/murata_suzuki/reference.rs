//! References of Exploration, Exploitation, Hybrid and Naive.

use super::{ExploitationParams, ExplorationParams, HybridParams, NaiveParams};
use crate::money::Money;
use crate::params::ParamError;
use crate::reference::{Mismatch, Reference, Seen, dot, hard_threshold, support};
use crate::schedule::BatchSizes;
use lao_kernels::SparseVector;
use std::collections::{BTreeSet, VecDeque};

fn dense(start: &Option<SparseVector>, dim: usize) -> Vec<f64> {
    start.as_ref().map_or_else(|| vec![0.0; dim], |start| start.view().to_dense())
}

fn not_finished(seen: &Seen<'_>, finished: bool) -> Result<(), Mismatch> {
    seen.require(!finished, "is finished and asks for nothing")
}

/// The reference of [`Exploration`](super::Exploration).
#[derive(Clone, Debug)]
pub struct ExplorationReference {
    params: ExplorationParams,
    theta: Vec<f64>,
    /// `theta - eta g`, as far as `g` is summed up.
    z: Vec<f64>,
    /// The blocks of this update that are not over, and the number of examples of the first of them.
    blocks: VecDeque<Vec<usize>>,
    seen: u64,
    updates: u64,
}

impl ExplorationReference {
    /// Returns the reference at its start.
    ///
    /// # Errors
    /// As [`ExplorationParams::build`].
    pub fn new(params: &ExplorationParams) -> Result<Self, ParamError> {
        params.clone().build()?;
        let start = dense(&params.start, params.dim);
        Ok(Self::at(params.clone(), &start))
    }

    fn at(params: ExplorationParams, start: &[f64]) -> Self {
        let theta = hard_threshold(start, params.sparsity);
        let blocks = blocks(&params, &theta);
        ExplorationReference { params, z: theta.clone(), theta, blocks, seen: 0, updates: 0 }
    }

    fn is_finished(&self) -> bool {
        self.params.updates.is_some_and(|updates| self.updates >= updates)
    }
}

/// Returns the blocks of an update: `s' - s` attributes each, fewer where the money pays no more.
fn blocks(params: &ExplorationParams, theta: &[f64]) -> VecDeque<Vec<usize>> {
    let width = params.budget - params.sparsity;
    let mut left: VecDeque<usize> = (0..params.dim).collect();
    let Some(Money { tariff, per_example, .. }) = &params.money else {
        return left.make_contiguous().chunks(width).map(<[usize]>::to_vec).collect();
    };
    // Panel by panel, the highest price first; the sort is stable.
    let first = |j: usize| tariff.panel(j as u32).and_then(|panel| tariff.members(panel).first());
    left.make_contiguous().sort_by_key(|&j| first(j));
    left.make_contiguous().sort_by(|&a, &b| tariff.price(b as u32).total_cmp(&tariff.price(a as u32)));
    let beside = support(theta);
    let pays = |block: &[usize], j: usize| {
        let all = block.iter().copied().chain([j]).map(|j| j as u32).chain(beside.iter().copied());
        let panels: BTreeSet<u32> = all.filter_map(|j| tariff.panel(j)).collect();
        let cost: f64 = panels.iter().map(|&panel| tariff.prices()[panel as usize]).sum();
        cost <= per_example * (1.0 + 5e-10)
    };
    let mut blocks = VecDeque::new();
    while let Some(expensive) = left.pop_front() {
        let mut block = vec![expensive];
        while let Some(&j) = left.front().filter(|&&j| block.len() < width && pays(&block, j)) {
            block.push(j);
            left.pop_front();
        }
        while let Some(&j) = left.back().filter(|&&j| block.len() < width && pays(&block, j)) {
            block.push(j);
            left.pop_back();
        }
        block.sort_unstable();
        blocks.push_back(block);
    }
    blocks
}

impl Reference for ExplorationReference {
    fn see(&mut self, seen: &Seen<'_>) -> Result<(), Mismatch> {
        let ExplorationParams { dim, sparsity, step_size, .. } = self.params;
        seen.fits(dim)?;
        not_finished(seen, self.is_finished())?;
        let block = self.blocks.front().map_or(&[][..], |block| block);
        let is_block = seen.asked.iter().map(|&j| j as usize).eq(block.iter().copied());
        seen.require(is_block, format_args!("is at the block {block:?}"))?;

        let batch = self.params.batch.size(self.updates + 1);
        let residual = dot(&self.theta, seen.x) - seen.label;
        for &j in block {
            self.z[j] -= step_size * 2.0 * residual * seen.x[j] / batch as f64;
        }
        self.seen += 1;
        if self.seen == batch {
            self.seen = 0;
            self.blocks.pop_front();
        }
        if self.blocks.is_empty() {
            self.theta = hard_threshold(&self.z, sparsity);
            self.z.copy_from_slice(&self.theta);
            self.updates += 1;
            self.blocks = blocks(&self.params, &self.theta);
        }
        Ok(())
    }

    fn coefficients(&self) -> Vec<f64> {
        self.theta.clone()
    }
}

/// The reference of [`Exploitation`](super::Exploitation).
#[derive(Clone, Debug)]
pub struct ExploitationReference {
    step_size: f64,
    batch: BatchSizes,
    limit: Option<u64>,
    /// `S_0`.
    support: Vec<u32>,
    theta: Vec<f64>,
    /// `theta - eta g`, as far as `g` is summed up.
    z: Vec<f64>,
    seen: u64,
    updates: u64,
}

impl ExploitationReference {
    /// Returns the reference at its start.
    ///
    /// # Errors
    /// As [`ExploitationParams::build`].
    pub fn new(params: &ExploitationParams) -> Result<Self, ParamError> {
        params.clone().build()?;
        let ExploitationParams { start, step_size, batch, updates, .. } = params;
        let (theta, support) = (start.view().to_dense(), start.indices().to_vec());
        Ok(Self::at(theta, support, *step_size, batch.clone(), *updates))
    }

    fn at(theta: Vec<f64>, support: Vec<u32>, step_size: f64, batch: BatchSizes, limit: Option<u64>) -> Self {
        let z = theta.clone();
        ExploitationReference { step_size, batch, limit, support, theta, z, seen: 0, updates: 0 }
    }

    fn is_finished(&self) -> bool {
        self.limit.is_some_and(|limit| self.updates >= limit)
    }
}

impl Reference for ExploitationReference {
    fn see(&mut self, seen: &Seen<'_>) -> Result<(), Mismatch> {
        seen.fits(self.theta.len())?;
        not_finished(seen, self.is_finished())?;
        seen.require(seen.asked == self.support, format_args!("exploits {:?}", self.support))?;

        let batch = self.batch.size(self.updates + 1);
        let residual = dot(&self.theta, seen.x) - seen.label;
        for &j in &self.support {
            self.z[j as usize] -= self.step_size * 2.0 * residual * seen.x[j as usize] / batch as f64;
        }
        self.seen += 1;
        if self.seen == batch {
            self.theta.copy_from_slice(&self.z);
            (self.seen, self.updates) = (0, self.updates + 1);
        }
        Ok(())
    }

    fn coefficients(&self) -> Vec<f64> {
        self.theta.clone()
    }
}

/// The reference of [`Hybrid`](super::Hybrid).
#[derive(Clone, Debug)]
pub struct HybridReference {
    params: HybridParams,
    /// `k`, counted from 1.
    stage: u64,
    half: Half,
}

#[derive(Clone, Debug)]
enum Half {
    Explore(Box<ExplorationReference>),
    Exploit(ExploitationReference),
}

impl HybridReference {
    /// Returns the reference at its start.
    ///
    /// # Errors
    /// As [`HybridParams::build`].
    pub fn new(params: &HybridParams) -> Result<Self, ParamError> {
        params.clone().build()?;
        let half = Half::Explore(exploration(params, 1, &dense(&params.start, params.dim)));
        Ok(HybridReference { params: params.clone(), stage: 1, half })
    }
}

/// Returns `Exploration(start, T_k^- updates)`.
fn exploration(params: &HybridParams, stage: u64, start: &[f64]) -> Box<ExplorationReference> {
    let HybridParams { dim, sparsity, budget, step_size, .. } = *params;
    let batch = BatchSizes::Constant(params.explore_batch.size(stage));
    let updates = Some(params.explore_updates);
    let money = params.money.clone();
    let params = ExplorationParams { dim, sparsity, budget, step_size, batch, updates, start: None, money };
    Box::new(ExplorationReference::at(params, start))
}

/// Returns `Exploitation(start, T_k updates)`.
fn exploitation(params: &HybridParams, stage: u64, start: Vec<f64>) -> ExploitationReference {
    let batch = BatchSizes::Constant(params.exploit_batch.size(stage));
    let kept = support(&start);
    ExploitationReference::at(start, kept, params.step_size, batch, Some(params.exploit_updates))
}

impl Reference for HybridReference {
    fn see(&mut self, seen: &Seen<'_>) -> Result<(), Mismatch> {
        seen.fits(self.params.dim)?;
        not_finished(seen, self.params.stages.is_some_and(|stages| self.stage > stages))?;
        let found = match &mut self.half {
            Half::Explore(explore) => {
                explore.see(seen)?;
                explore.is_finished().then(|| exploitation(&self.params, self.stage, explore.coefficients()))
            }
            Half::Exploit(exploit) => {
                exploit.see(seen)?;
                exploit.is_finished().then(|| exploit.clone())
            }
        };
        // If T_k is 0, Exploitation is finished as soon as it begins.
        self.half = match found {
            Some(exploit) if exploit.is_finished() => {
                self.stage += 1;
                Half::Explore(exploration(&self.params, self.stage, &exploit.coefficients()))
            }
            Some(exploit) => Half::Exploit(exploit),
            None => return Ok(()),
        };
        Ok(())
    }

    fn coefficients(&self) -> Vec<f64> {
        match &self.half {
            Half::Explore(explore) => explore.coefficients(),
            Half::Exploit(exploit) => exploit.coefficients(),
        }
    }
}

/// The reference of [`Naive`](super::Naive).
#[derive(Clone, Debug)]
pub struct NaiveReference {
    params: NaiveParams,
    theta: Vec<f64>,
    updates: u64,
}

impl NaiveReference {
    /// Returns the reference at its start.
    ///
    /// # Errors
    /// As [`NaiveParams::build`].
    pub fn new(params: &NaiveParams) -> Result<Self, ParamError> {
        params.clone().build()?;
        let theta = hard_threshold(&dense(&params.start, params.dim), params.sparsity);
        Ok(NaiveReference { params: params.clone(), theta, updates: 0 })
    }
}

impl Reference for NaiveReference {
    fn see(&mut self, seen: &Seen<'_>) -> Result<(), Mismatch> {
        let NaiveParams { dim, sparsity, budget, .. } = self.params;
        seen.fits(dim)?;
        let drawn = seen.set_beside(&support(&self.theta), budget - sparsity)?;

        self.updates += 1;
        let eta = self.params.step_size.size(self.updates);
        let residual = dot(&self.theta, seen.x) - seen.label;
        let mut z = self.theta.clone();
        for &j in drawn {
            let weight = dim as f64 / (budget - sparsity) as f64;
            z[j as usize] -= eta * 2.0 * residual * weight * seen.x[j as usize];
        }
        self.theta = hard_threshold(&z, sparsity);
        Ok(())
    }

    fn coefficients(&self) -> Vec<f64> {
        self.theta.clone()
    }
}

//! Every method, one row each.

use crate::baselines::{Aer, AerParams, Dantzig, DantzigParams, Fkk, FkkParams, Online, OnlineParams};
use crate::hazan_koren::{Aelr, AelrParams, Aerr, AerrParams, Aesvr, AesvrParams};
use crate::ito::{
    Greedy, GreedyParams, Rda1, Rda1Params, Rda2, Rda2Params, Rda3, Rda3Params, Uniform, UniformParams,
};
use crate::murata_suzuki::{
    Exploitation, ExploitationParams, Exploration, ExplorationParams, Hybrid, HybridParams, Naive,
    NaiveParams,
};
use crate::params::ParamError;
use crate::task::Task;
use lao_kernels::SparseView;
use lao_observation::{Ask, Budget, LearnError, Learner, Rng, Row, Told};
use serde::{Deserialize, Serialize};

/// Any method's parameters, in a form that can be read from a file: `method = "hybrid"` and the method's own fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "kebab-case")]
pub enum AnyParams {
    /// Murata & Suzuki, Algorithm 1.
    Exploration(ExplorationParams),
    /// Murata & Suzuki, Algorithm 2.
    Exploitation(ExploitationParams),
    /// Murata & Suzuki, Algorithm 3.
    Hybrid(HybridParams),
    /// Murata & Suzuki, Section 3.1.
    Naive(NaiveParams),
    /// Hazan & Koren, Algorithm 1.
    Aerr(AerrParams),
    /// Hazan & Koren, Algorithm 2.
    Aelr(AelrParams),
    /// Hazan & Koren, Algorithm 4.
    Aesvr(AesvrParams),
    /// Cesa-Bianchi et al.
    Aer(AerParams),
    /// Ito et al., Algorithm 1.
    Rda1(Rda1Params),
    /// Ito et al., Algorithm 2, as reconstructed.
    Rda2(Rda2Params),
    /// Ito et al., Algorithm 3, as reconstructed.
    Rda3(Rda3Params),
    /// Ito et al., Section 6, baseline (i).
    Greedy(GreedyParams),
    /// Ito et al., Section 6, baseline (ii).
    Uniform(UniformParams),
    /// Kale et al.
    Dantzig(DantzigParams),
    /// Foster et al.
    Fkk(FkkParams),
    /// Ridge or Lasso with full information.
    Online(OnlineParams),
}

impl AnyParams {
    /// The learner.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(self) -> Result<AnyLearner, ParamError> {
        Ok(match self {
            AnyParams::Exploration(params) => AnyLearner::Exploration(params.build()?),
            AnyParams::Exploitation(params) => AnyLearner::Exploitation(params.build()?),
            AnyParams::Hybrid(params) => AnyLearner::Hybrid(params.build()?),
            AnyParams::Naive(params) => AnyLearner::Naive(params.build()?),
            AnyParams::Aerr(params) => AnyLearner::Aerr(params.build()?),
            AnyParams::Aelr(params) => AnyLearner::Aelr(params.build()?),
            AnyParams::Aesvr(params) => AnyLearner::Aesvr(params.build()?),
            AnyParams::Aer(params) => AnyLearner::Aer(params.build()?),
            AnyParams::Rda1(params) => AnyLearner::Rda1(params.build()?),
            AnyParams::Rda2(params) => AnyLearner::Rda2(params.build()?),
            AnyParams::Rda3(params) => AnyLearner::Rda3(params.build()?),
            AnyParams::Greedy(params) => AnyLearner::Greedy(params.build()?),
            AnyParams::Uniform(params) => AnyLearner::Uniform(params.build()?),
            AnyParams::Dantzig(params) => AnyLearner::Dantzig(params.build()?),
            AnyParams::Fkk(params) => AnyLearner::Fkk(params.build()?),
            AnyParams::Online(params) => AnyLearner::Online(params.build()?),
        })
    }
}

/// One row of the registry.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// Short unique name, as used on the command line and in records.
    pub name: &'static str,
    /// Paper and algorithm number.
    pub source: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// What the method needs to look at, at most, for a task.
    pub budget: fn(&Task) -> Budget,
    /// How many attributes the estimate uses, and so whether a prediction from `coefficients()` keeps to the budget.
    pub model: Model,
    /// What an example costs in time, and what that grows with; memory is O(d) unless it says otherwise.
    pub cost: &'static str,
    /// The learner with its practical parameters.
    pub build: fn(&Task) -> Result<AnyLearner, ParamError>,
}

/// How many attributes a method's estimate, [`Learner::coefficients`], uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// At most s, the sparsity: predictions keep to the budget.
    Sparsity,
    /// At most s', the attributes that may be observed of an example: predictions keep to the budget.
    Budget,
    /// Up to d: a prediction from `coefficients()` reads all of them. What keeps to the budget is [`Learner::predict`],
    /// from the attributes that the method has just drawn for an example, with the noise of that draw.
    Dense,
}

impl Model {
    /// The number of attributes that a prediction reads at most, for a task.
    pub fn most(self, task: &Task) -> usize {
        match self {
            Model::Sparsity => task.sparsity.min(task.dim),
            Model::Budget => task.budget.min(task.dim),
            Model::Dense => task.dim,
        }
    }

    /// The number's symbol: s, s' or d.
    pub fn symbol(self) -> &'static str {
        match self {
            Model::Sparsity => "s",
            Model::Budget => "s'",
            Model::Dense => "d",
        }
    }
}

fn per_example(task: &Task) -> Budget {
    Budget::PerExample(task.budget)
}

/// All methods.
pub const METHODS: &[Method] = &[
    Method {
        name: "exploration",
        source: "Murata & Suzuki 2018, Algorithm 1",
        summary: "Mini-batch gradient over all coordinates, block by block, thresholded to s after each update.",
        budget: per_example,
        model: Model::Sparsity,
        cost: "O(s'), and O(d) per update",
        build: |task| Ok(AnyLearner::Exploration(ExplorationParams::practical(task)?.build()?)),
    },
    Method {
        name: "exploitation",
        source: "Murata & Suzuki 2018, Algorithm 2",
        summary: "Mini-batch gradient on the support of the start; without a start, on the first s attributes.",
        budget: per_example,
        model: Model::Sparsity,
        cost: "O(s)",
        build: |task| Ok(AnyLearner::Exploitation(ExploitationParams::practical(task)?.build()?)),
    },
    Method {
        name: "hybrid",
        source: "Murata & Suzuki 2018, Algorithm 3",
        summary: "Alternates one Exploration update with three Exploitation updates on the support found.",
        budget: per_example,
        model: Model::Sparsity,
        cost: "O(s'), and O(d) per exploring update",
        build: |task| Ok(AnyLearner::Hybrid(HybridParams::practical(task)?.build()?)),
    },
    Method {
        name: "naive",
        source: "Murata & Suzuki 2018, Section 3.1",
        summary: "One example per update and a random block: the strawman whose support can lock.",
        budget: per_example,
        model: Model::Sparsity,
        cost: "O(s' log s')",
        build: |task| Ok(AnyLearner::Naive(NaiveParams::practical(task)?.build()?)),
    },
    Method {
        name: "aerr",
        source: "Hazan & Koren 2012, Algorithm 1",
        summary: "Gradient steps on the l2 ball from k uniform attributes and one drawn by the square of its weight.",
        budget: per_example,
        model: Model::Dense,
        cost: "O(s' log d)",
        build: |task| Ok(AnyLearner::Aerr(AerrParams::practical(task)?.build()?)),
    },
    Method {
        name: "aelr",
        source: "Hazan & Koren 2012, Algorithm 2",
        summary: "Multiplicative steps on the l1 ball from k uniform attributes and one drawn by weight.",
        budget: per_example,
        model: Model::Dense,
        cost: "O(s' log d)",
        build: |task| Ok(AnyLearner::Aelr(AelrParams::practical(task)?.build()?)),
    },
    Method {
        name: "aesvr",
        source: "Hazan & Koren 2012, Algorithm 4",
        summary: "As aerr for support vector regression; how much it reads of an example is random.",
        budget: |task| {
            AesvrParams::practical(task).map_or(Budget::PerExample(task.budget), |params| params.budget())
        },
        model: Model::Dense,
        cost: "O(s' log d)",
        build: |task| Ok(AnyLearner::Aesvr(AesvrParams::practical(task)?.build()?)),
    },
    Method {
        name: "aer",
        source: "Cesa-Bianchi et al. 2010",
        summary: "Gradient steps on the l1 ball, half of the attributes uniform, half drawn by weight.",
        budget: per_example,
        model: Model::Dense,
        cost: "O(s' log d)",
        build: |task| Ok(AnyLearner::Aer(AerParams::practical(task)?.build()?)),
    },
    Method {
        name: "rda1",
        source: "Ito et al. 2017, Algorithm 1",
        summary: "Dual averaging on the k_1 largest weights and a random set, with an unbiased gradient.",
        budget: per_example,
        model: Model::Dense,
        cost: "O(s' log d)",
        build: |task| Ok(AnyLearner::Rda1(Rda1Params::practical(task)?.build()?)),
    },
    Method {
        name: "rda2",
        source: "Ito et al. 2017, Algorithm 2 (reconstruction)",
        summary: "Explores in rounds 1, 4, 9, ... and learns on the k' attributes found in between.",
        budget: per_example,
        model: Model::Budget,
        cost: "O(s'), and O(d) in rounds 1, 4, 9, ...",
        build: |task| Ok(AnyLearner::Rda2(Rda2Params::practical(task)?.build()?)),
    },
    Method {
        name: "rda3",
        source: "Ito et al. 2017, Algorithm 3 (reconstruction)",
        summary: "As rda2, with an l1 term in the exploration for attributes that depend on one another.",
        budget: per_example,
        model: Model::Budget,
        cost: "O(s'), and O(d) in rounds 1, 4, 9, ...",
        build: |task| Ok(AnyLearner::Rda3(Rda3Params::practical(task)?.build()?)),
    },
    Method {
        name: "greedy",
        source: "Ito et al. 2017, Section 6",
        summary: "Dual averaging on the k' largest weights alone: never leaves the first k' attributes.",
        budget: per_example,
        model: Model::Budget,
        cost: "O(s' log d)",
        build: |task| Ok(AnyLearner::Greedy(GreedyParams::practical(task)?.build()?)),
    },
    Method {
        name: "uniform",
        source: "Ito et al. 2017, Section 6",
        summary: "Dual averaging on a random set: learns the weights, predicts from what it happens to see.",
        budget: per_example,
        model: Model::Dense,
        cost: "O(s')",
        build: |task| Ok(AnyLearner::Uniform(UniformParams::practical(task)?.build()?)),
    },
    Method {
        name: "dantzig",
        source: "Kale et al. 2017",
        summary: "Moments from random attributes; a Dantzig selector, solved at doubling times, keeps s of them.",
        budget: per_example,
        model: Model::Sparsity,
        cost: "O(s'^2), and a linear program at examples 1, 2, 4, ..., about O(d^3): 0.02 s at d = 100, 1.5 s at 384, 6 s at 600, d at most 2000; O(d^2) memory",
        build: |task| Ok(AnyLearner::Dantzig(DantzigParams::practical(task)?.build()?)),
    },
    Method {
        name: "fkk",
        source: "Foster et al. 2016",
        summary: "Hedges over all supports of size s, each with its own gradient steps; exponential in s.",
        budget: per_example,
        model: Model::Sparsity,
        cost: "O(s C), C = d!/(s! (d-s)!) supports: about 15 ns for each, 3 ms an example at 200,000, the most it takes",
        build: |task| Ok(AnyLearner::Fkk(FkkParams::practical(task)?.build()?)),
    },
    Method {
        name: "online-ridge",
        source: "Zinkevich 2003, as a reference in Hazan & Koren 2012",
        summary: "Gradient steps on the l2 ball with full information.",
        budget: |_| Budget::Unlimited,
        model: Model::Dense,
        cost: "O(d)",
        build: |task| Ok(AnyLearner::Online(OnlineParams::ridge(task)?.build()?)),
    },
    Method {
        name: "online-lasso",
        source: "Kivinen & Warmuth 1997, as a reference in Hazan & Koren 2012",
        summary: "Multiplicative steps on the l1 ball with full information.",
        budget: |_| Budget::Unlimited,
        model: Model::Dense,
        cost: "O(d)",
        build: |task| Ok(AnyLearner::Online(OnlineParams::lasso(task)?.build()?)),
    },
];

/// Finds a method by name.
pub fn method(name: &str) -> Option<&'static Method> {
    METHODS.iter().find(|method| method.name == name)
}

/// Any method's learner, in a form that can be stored and taken up again.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "kebab-case")]
pub enum AnyLearner {
    /// Murata & Suzuki, Algorithm 1.
    Exploration(Exploration),
    /// Murata & Suzuki, Algorithm 2.
    Exploitation(Exploitation),
    /// Murata & Suzuki, Algorithm 3.
    Hybrid(Hybrid),
    /// Murata & Suzuki, Section 3.1.
    Naive(Naive),
    /// Hazan & Koren, Algorithm 1.
    Aerr(Aerr),
    /// Hazan & Koren, Algorithm 2.
    Aelr(Aelr),
    /// Hazan & Koren, Algorithm 4.
    Aesvr(Aesvr),
    /// Cesa-Bianchi et al.
    Aer(Aer),
    /// Ito et al., Algorithm 1.
    Rda1(Rda1),
    /// Ito et al., Algorithm 2, as reconstructed.
    Rda2(Rda2),
    /// Ito et al., Algorithm 3, as reconstructed.
    Rda3(Rda3),
    /// Ito et al., Section 6, baseline (i).
    Greedy(Greedy),
    /// Ito et al., Section 6, baseline (ii).
    Uniform(Uniform),
    /// Kale et al.
    Dantzig(Dantzig),
    /// Foster et al.
    Fkk(Fkk),
    /// Ridge or Lasso with full information.
    Online(Online),
}

impl AnyLearner {
    fn inner(&self) -> &dyn Learner {
        match self {
            AnyLearner::Exploration(learner) => learner,
            AnyLearner::Exploitation(learner) => learner,
            AnyLearner::Hybrid(learner) => learner,
            AnyLearner::Naive(learner) => learner,
            AnyLearner::Aerr(learner) => learner,
            AnyLearner::Aelr(learner) => learner,
            AnyLearner::Aesvr(learner) => learner,
            AnyLearner::Aer(learner) => learner,
            AnyLearner::Rda1(learner) => learner,
            AnyLearner::Rda2(learner) => learner,
            AnyLearner::Rda3(learner) => learner,
            AnyLearner::Greedy(learner) => learner,
            AnyLearner::Uniform(learner) => learner,
            AnyLearner::Dantzig(learner) => learner,
            AnyLearner::Fkk(learner) => learner,
            AnyLearner::Online(learner) => learner,
        }
    }

    fn inner_mut(&mut self) -> &mut dyn Learner {
        match self {
            AnyLearner::Exploration(learner) => learner,
            AnyLearner::Exploitation(learner) => learner,
            AnyLearner::Hybrid(learner) => learner,
            AnyLearner::Naive(learner) => learner,
            AnyLearner::Aerr(learner) => learner,
            AnyLearner::Aelr(learner) => learner,
            AnyLearner::Aesvr(learner) => learner,
            AnyLearner::Aer(learner) => learner,
            AnyLearner::Rda1(learner) => learner,
            AnyLearner::Rda2(learner) => learner,
            AnyLearner::Rda3(learner) => learner,
            AnyLearner::Greedy(learner) => learner,
            AnyLearner::Uniform(learner) => learner,
            AnyLearner::Dantzig(learner) => learner,
            AnyLearner::Fkk(learner) => learner,
            AnyLearner::Online(learner) => learner,
        }
    }
}

impl Learner for AnyLearner {
    fn dim(&self) -> usize {
        self.inner().dim()
    }
    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        self.inner_mut().ask(rng, ask);
    }
    fn predict(&self, seen: Row<'_>) -> f64 {
        self.inner().predict(seen)
    }
    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        self.inner_mut().tell(told)
    }
    fn coefficients(&self) -> SparseView<'_> {
        self.inner().coefficients()
    }
    fn updates(&self) -> u64 {
        self.inner().updates()
    }
    fn examples_to_next_update(&self) -> Option<u64> {
        self.inner().examples_to_next_update()
    }
}

//! The registry: one row for every method, with what users and tests can rely on.

use crate::hazan_koren::AesvrParams;
use crate::money::Money;
use crate::murata_suzuki::ExplorationParams;
use crate::params::ParamError;
use crate::reference::Drawn;
use crate::tables::{self, TableLearner, TableTask};
use crate::task::Task;
use lao_kernels::SparseView;
use lao_observation::{Ask, Budget, Foreseen, LearnError, Learner, Rng, Row, Told};
use serde::{Deserialize, Serialize};

/// A row of the registry: a method's name, and what a user can rely on. The tests check every row.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// The short unique name, as used on the command line and in records.
    pub name: &'static str,
    /// The paper, and the number of the algorithm in it.
    pub source: &'static str,
    /// What the method does, in one sentence.
    pub summary: &'static str,
    /// The time that an example costs, and what it grows with. Memory is O(d) unless the text says otherwise.
    pub cost: &'static str,
    /// Returns the budget of attributes that the method needs, at most, for a task.
    pub budget: fn(&Task) -> Budget,
    /// The number of attributes that the estimate uses, which decides whether a prediction from
    /// `coefficients()` keeps to the budget.
    pub model: ModelSize,
    /// How the time and memory of a run grow with the task.
    pub growth: Growth,
    /// Whether the method observes attributes beyond those that it starts with. If not, it may spend the
    /// whole budget on these.
    pub explores: bool,
    /// Whether the method asks for gradient sums over mini-batches. A source may then serve the batch in
    /// pieces, and the learner says how many examples its next update needs.
    pub batches: bool,
    /// Whether the method learns from finite labels of any size without an error, because every step is
    /// clipped or projected on a ball.
    pub bears_all_labels: bool,
    /// Whether the method learns location and scale of attributes and labels by itself. Others need
    /// standardized columns, or [`safeguarded`](Method::safeguarded).
    pub learns_scales: bool,
    /// Whether the method takes a budget in [`Money`]. Others count attributes, as those that draw them
    /// uniformly must, so they keep to prices only where all are equal.
    pub prices: bool,
    /// The error of the estimate on a small problem without noise.
    pub accuracy: Accuracy,
    /// Returns the method's practical parameters for a task.
    pub params: fn(&Task) -> Result<AnyParams, ParamError>,
    /// Returns the method's learner for a table, and its parameters: [`for_table`](Method::for_table).
    pub table: ForTable,
}

/// Builds the learner of a method for a table, and returns its parameters.
pub type ForTable = fn(&Method, &TableTask) -> Result<(TableLearner, AnyParams), ParamError>;

impl Method {
    /// Builds the learner with its practical parameters for a task.
    ///
    /// # Errors
    /// [`ParamError`] naming the field, its value and the allowed range.
    pub fn build(&self, task: &Task) -> Result<AnyLearner, ParamError> {
        (self.params)(task)?.build()
    }
}

/// How many attributes a method's estimate, [`Learner::coefficients`], uses.
///
/// ```
/// use lao_algorithms::{ModelSize, Task, registry::method};
///
/// let task = Task { dim: 500, sparsity: 4, budget: 20, ..Task::default() };
/// assert_eq!(method("hybrid").map(|row| row.model.most(&task)), Some(4));
/// assert_eq!(ModelSize::Dense.most(&task), 500);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelSize {
    /// At most s, the sparsity: predictions keep to the budget.
    Sparsity,
    /// At most s', the attributes that may be observed of an example: predictions keep to the budget.
    Budget,
    /// Up to d: a prediction from `coefficients()` reads all attributes. [`Learner::predict`] keeps to the
    /// budget: it predicts from the attributes that the method has just drawn for an example, with the noise
    /// of that draw.
    Dense,
}

impl ModelSize {
    /// Returns the largest number of attributes that a prediction reads, for a task.
    pub fn most(self, task: &Task) -> usize {
        match self {
            ModelSize::Sparsity => task.sparsity.min(task.dim),
            ModelSize::Budget => task.budget.min(task.dim),
            ModelSize::Dense => task.dim,
        }
    }

    /// Returns the symbol of this number: s, s' or d.
    pub fn symbol(self) -> &'static str {
        match self {
            ModelSize::Sparsity => "s",
            ModelSize::Budget => "s'",
            ModelSize::Dense => "d",
        }
    }
}

/// How the time and memory of a run grow with the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// At most linearly in d and s': thousands of attributes are cheap.
    Linear,
    /// Like a higher power of d: hundreds of attributes are the limit.
    Polynomial,
    /// Exponentially in s: a sparsity of 2 or 3 is the limit.
    Exponential,
}

/// The error of an estimate on a small problem: each coefficient is within
/// `error` of its target after `examples` examples, with a budget of at least `budget`.
///
/// The examples have eight independent attributes of variance 1/3 and labels `x_1 - 2 x_6` without noise. The
/// task has sparsity 2, radius 3, speed 0.8 and the start 0.3 on attributes 1 and 6.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accuracy {
    /// The number of attributes seen per example.
    pub budget: usize,
    /// The number of examples seen.
    pub examples: u64,
    /// The largest error of a coefficient.
    pub error: f64,
}

/// The accuracy of methods that observe every attribute that the residual needs.
const OF_EXACT_RESIDUALS: Accuracy = Accuracy { budget: 5, examples: 60_000, error: 0.02 };

/// The accuracy of methods that estimate the residual, or moments in its place.
const OF_ESTIMATED_RESIDUALS: Accuracy = Accuracy { error: 0.2, ..OF_EXACT_RESIDUALS };

/// The defaults of a row whose method has a sparse estimate.
const SPARSE: Method = Method {
    name: "",
    source: "",
    summary: "",
    cost: "",
    budget: |task| Budget::PerExample(task.budget),
    model: ModelSize::Sparsity,
    growth: Growth::Linear,
    explores: true,
    batches: false,
    bears_all_labels: false,
    learns_scales: false,
    prices: false,
    accuracy: OF_EXACT_RESIDUALS,
    params: |task| ExplorationParams::practical(task).map(AnyParams::Exploration),
    table: tables::safeguarded,
};

/// The defaults of a row whose method has an estimate on s' attributes.
const BUDGETED: Method = Method { model: ModelSize::Budget, ..DENSE };

/// The defaults of a row whose method has an estimate on all attributes.
const DENSE: Method = Method { model: ModelSize::Dense, accuracy: OF_ESTIMATED_RESIDUALS, ..SPARSE };

/// What an example may cost, for parameters of any type. [`methods!`] implements it for each.
trait Priced {
    /// Whether the parameters have a field for money.
    const PRICES: bool = false;

    fn money(&self) -> Option<&Money> {
        None
    }
}

/// The draws that a reference must be told, for learners of any type. [`methods!`] implements it for each.
trait Draws {
    fn draws(&self) -> Drawn<'_> {
        Drawn::Listed
    }
}

/// Makes [`AnyParams`], [`AnyLearner`] and [`METHODS`] from the table. An entry has a learner's module, its
/// type and the type of its parameters and, in braces, one row for each constructor of parameters from a
/// task. A row is a [`Method`] that begins with name, source, summary and cost. An entry without a row is no
/// method for a limited budget; it begins with its docs.
///
/// Before the braces, `takes FIELD` names the field of parameters that take [`Money`], and
/// `draws KIND(GETTER, ..)` the variant of [`Drawn`] of a learner whose draws the list of attributes does not
/// show, with the learner's functions that return its parts.
macro_rules! methods {
    ($($(#[doc = $doc:literal])* $module:ident: $learner:ident($params:ident)
       $(takes $money:ident)? $(draws $kind:ident($($part:ident),+))? { $($constructor:ident => {
        name: $name:literal,
        source: $source:literal,
        summary: $summary:literal,
        cost: $cost:literal,
        $($rest:tt)*
    })* })+) => {
        /// The parameters of any method, in a form that can be read from a file: `method = "hybrid"` and the
        /// method's own fields.
        ///
        /// ```
        /// use lao_algorithms::AnyParams;
        ///
        /// let params: AnyParams = toml::from_str(
        ///     "method = 'uniform'
        ///     dim = 100
        ///     budget = 10
        ///     radius = 1.0
        ///     regularization = { scale = 4.0, power = 0.5 }",
        /// )?;
        /// assert!(params.build().is_ok());
        /// # Ok::<(), toml::de::Error>(())
        /// ```
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "method", rename_all = "kebab-case")]
        pub enum AnyParams {
            $($(#[doc = $doc])* $(#[doc = $source] #[doc = ""])* $learner(crate::$module::$params),)+
        }

        /// The learner of any method, in a form that can be stored and resumed.
        ///
        /// ```
        /// use lao_algorithms::{AnyLearner, Task, registry::method};
        /// use lao_observation::Learner;
        ///
        /// let task = Task { dim: 100, sparsity: 4, budget: 10, ..Task::default() };
        /// let learner = method("rda1").unwrap().build(&task)?;
        /// let stored = serde_json::to_string(&learner)?;
        /// let resumed: AnyLearner = serde_json::from_str(&stored)?;
        /// assert_eq!((resumed.dim(), resumed.updates()), (100, 0));
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[serde(tag = "method", rename_all = "kebab-case")]
        #[expect(clippy::large_enum_variant, reason = "a program has few learners, and moves them rarely")]
        pub enum AnyLearner {
            $($(#[doc = $doc])* $(#[doc = $source] #[doc = ""])* $learner(crate::$module::$learner),)+
        }

        impl AnyParams {
            /// Builds the learner.
            ///
            /// # Errors
            /// [`ParamError`] naming the field, its value and the allowed range.
            pub fn build(self) -> Result<AnyLearner, ParamError> {
                match self {
                    $(AnyParams::$learner(params) => params.build().map(AnyLearner::$learner),)+
                }
            }

            /// Returns what an example may cost, if the parameters have prices.
            pub fn money(&self) -> Option<&Money> {
                match self {
                    $(AnyParams::$learner(params) => Priced::money(params),)+
                }
            }
        }

        $(
            impl Priced for crate::$module::$params {
                $(
                    const PRICES: bool = true;

                    fn money(&self) -> Option<&Money> {
                        self.$money.as_ref()
                    }
                )?
            }

            impl Draws for crate::$module::$learner {
                $(
                    fn draws(&self) -> Drawn<'_> {
                        Drawn::$kind($(self.$part()),+)
                    }
                )?
            }
        )+

        impl<'a> From<&'a AnyLearner> for Drawn<'a> {
            /// Returns the draws of the learner for the example that it asked for last.
            fn from(learner: &'a AnyLearner) -> Self {
                match learner {
                    $(AnyLearner::$learner(learner) => learner.draws(),)+
                }
            }
        }

        impl AnyLearner {
            fn inner(&self) -> &dyn Learner {
                match self {
                    $(AnyLearner::$learner(learner) => learner,)+
                }
            }

            fn inner_mut(&mut self) -> &mut dyn Learner {
                match self {
                    $(AnyLearner::$learner(learner) => learner,)+
                }
            }
        }

        /// All methods, one row for each.
        ///
        /// ```
        /// use lao_algorithms::{METHODS, Task};
        ///
        /// let task = Task { dim: 8, sparsity: 2, budget: 5, ..Task::default() };
        /// for method in METHODS {
        ///     let learner = method.build(&task)?;
        ///     assert!(method.model.most(&task) <= task.dim, "{}", method.name);
        /// }
        /// # Ok::<(), lao_algorithms::ParamError>(())
        /// ```
        ///
        /// | method | source | what it does | time per example |
        /// |---|---|---|---|
        $($(#[doc = concat!("| `", $name, "` | ", $source, " | ", $summary, " | ", $cost, " |")])*)+
        pub const METHODS: &[Method] = &[$($(Method {
            name: $name,
            source: $source,
            summary: $summary,
            cost: $cost,
            prices: <crate::$module::$params as Priced>::PRICES,
            params: |task| crate::$module::$params::$constructor(task).map(AnyParams::$learner),
            $($rest)*
        },)*)+];
    };
}

methods! {
    /// All attributes of every example, for tables alone.
    full_information: FullInformation(FullInformationParams) takes money {}
    pursuit: Pursuit(PursuitParams) takes money {
        practical => {
            name: "pursuit",
            source: "this project",
            summary: "Fits least squares to the attributes that prove significant, and spends the rest of \
                      the budget on the most promising others.",
            cost: "O(s'^2), and O(d s^2) per update, of which there are O(log n); O(d s') memory",
            learns_scales: true,
            table: tables::pursuit,
            ..SPARSE
        }
    }
    murata_suzuki: Exploration(ExplorationParams) takes money {
        practical => {
            name: "exploration",
            source: "Murata & Suzuki 2018, Algorithm 1",
            summary: "Mini-batch gradient over all coordinates, block by block, thresholded to s after each \
                      update.",
            cost: "O(s'), and O(d) per update",
            batches: true,
            ..SPARSE
        }
    }
    murata_suzuki: Exploitation(ExploitationParams) {
        practical => {
            name: "exploitation",
            source: "Murata & Suzuki 2018, Algorithm 2",
            summary: "Mini-batch gradient on the support of the start; without a start, on the first s \
                      attributes.",
            cost: "O(s)",
            batches: true,
            explores: false,
            ..SPARSE
        }
    }
    murata_suzuki: Hybrid(HybridParams) takes money {
        practical => {
            name: "hybrid",
            source: "Murata & Suzuki 2018, Algorithm 3",
            summary: "Alternates one Exploration update with three Exploitation updates on the support \
                      found.",
            cost: "O(s'), and O(d) per exploring update",
            batches: true,
            ..SPARSE
        }
    }
    murata_suzuki: Naive(NaiveParams) draws Set(drawn) {
        practical => {
            name: "naive",
            source: "Murata & Suzuki 2018, Section 3.1",
            summary: "One example per update and a random block: a naive baseline whose support can get \
                      stuck.",
            cost: "O(s' log s')",
            ..SPARSE
        }
    }
    hazan_koren: Aerr(AerrParams) {
        practical => {
            name: "aerr",
            source: "Hazan & Koren 2012, Algorithm 1",
            summary: "Gradient steps on the l2 ball from k uniform attributes and one drawn by the square of \
                      its weight.",
            cost: "O(s' log d)",
            ..DENSE
        }
    }
    hazan_koren: Aelr(AelrParams) {
        practical => {
            name: "aelr",
            source: "Hazan & Koren 2012, Algorithm 2",
            summary: "Multiplicative steps on the l1 ball from k uniform attributes and one drawn by weight.",
            cost: "O(s' log d)",
            bears_all_labels: true,
            ..DENSE
        }
    }
    hazan_koren: Aesvr(AesvrParams) draws Estimates(estimates) {
        practical => {
            name: "aesvr",
            source: "Hazan & Koren 2012, Algorithm 4",
            summary: "As aerr for support vector regression; how much it reads of an example is random.",
            cost: "O(s' log d)",
            budget: |task| {
                let params = AesvrParams::practical(task);
                params.map_or(Budget::PerExample(task.budget), |params| params.budget())
            },
            accuracy: Accuracy { examples: 480_000, error: 0.3, ..OF_ESTIMATED_RESIDUALS },
            ..DENSE
        }
    }
    baselines: Aer(AerParams) {
        practical => {
            name: "aer",
            source: "Cesa-Bianchi et al. 2010",
            summary: "Gradient steps on the l1 ball, half of the attributes uniform, half drawn by weight.",
            cost: "O(s' log d)",
            ..DENSE
        }
    }
    ito: Rda1(Rda1Params) {
        practical => {
            name: "rda1",
            source: "Ito et al. 2017, Algorithm 1",
            summary: "Dual averaging on the k_1 largest weights and a random set, with an unbiased gradient.",
            cost: "O(s' log d)",
            ..DENSE
        }
    }
    ito: Rda2(Rda2Params) {
        practical => {
            name: "rda2",
            source: "Ito et al. 2017, Algorithm 2 (reconstruction)",
            summary: "Explores in rounds 1, 4, 9, ... and learns on the k' attributes found in between.",
            cost: "O(s'), and O(d) in rounds 1, 4, 9, ...",
            ..BUDGETED
        }
    }
    ito: Rda3(Rda3Params) {
        practical => {
            name: "rda3",
            source: "Ito et al. 2017, Algorithm 3 (reconstruction)",
            summary: "As rda2, with an l1 term in the exploration for attributes that depend on one another.",
            cost: "O(s'), and O(d) in rounds 1, 4, 9, ...",
            ..BUDGETED
        }
    }
    ito: Greedy(GreedyParams) {
        practical => {
            name: "greedy",
            source: "Ito et al. 2017, Section 6",
            summary: "Dual averaging on the k' largest weights alone: never leaves the first k' attributes.",
            cost: "O(s' log d)",
            explores: false,
            accuracy: Accuracy { budget: 8, ..OF_ESTIMATED_RESIDUALS },
            ..BUDGETED
        }
    }
    ito: Uniform(UniformParams) {
        practical => {
            name: "uniform",
            source: "Ito et al. 2017, Section 6",
            summary: "Dual averaging on a random set: learns the weights, predicts from what it happens to \
                      see.",
            cost: "O(s')",
            accuracy: Accuracy { budget: 6, ..OF_ESTIMATED_RESIDUALS },
            ..DENSE
        }
    }
    baselines: Dantzig(DantzigParams) draws Set(drawn) {
        practical => {
            name: "dantzig",
            source: "Kale et al. 2017",
            summary: "Moments from random attributes; a Dantzig selector, solved at doubling times, keeps s \
                      of them.",
            cost: "O(s'^2), and a linear program at examples 1, 2, 4, ..., about O(d^3): 0.02 s at d = \
                100, 1.5 s at 384, 6 s at 600, d at most 2000; O(d^2) memory",
            growth: Growth::Polynomial,
            accuracy: OF_ESTIMATED_RESIDUALS,
            ..SPARSE
        }
    }
    baselines: Omp(OmpParams) draws Set(drawn) {
        practical => {
            name: "omp",
            source: "Chen & Caramanis 2013",
            summary: "Moments from random attributes; orthogonal matching pursuit, at doubling times, keeps \
                      s of them.",
            cost: "O(s'^2), and O(d s^2) at examples 1, 2, 4, ..., d at most 2000; O(d^2) memory",
            growth: Growth::Polynomial,
            accuracy: OF_ESTIMATED_RESIDUALS,
            ..SPARSE
        }
    }
    baselines: Fkk(FkkParams) draws SetAndSupport(drawn, chosen) {
        practical => {
            name: "fkk",
            source: "Foster et al. 2016",
            summary: "Hedges over all supports of size s, each with its own gradient steps; exponential in \
                      s.",
            cost: "O(s C), C = d!/(s! (d-s)!) supports: about 15 ns for each, 3 ms an example at \
                200,000, the most it takes",
            growth: Growth::Exponential,
            accuracy: OF_ESTIMATED_RESIDUALS,
            ..SPARSE
        }
    }
    baselines: Online(OnlineParams) {
        ridge => {
            name: "online-ridge",
            source: "Zinkevich 2003, as a reference in Hazan & Koren 2012",
            summary: "Gradient steps on the l2 ball with full information.",
            cost: "O(d)",
            budget: |_| Budget::Unlimited,
            bears_all_labels: true,
            ..DENSE
        }
        lasso => {
            name: "online-lasso",
            source: "Kivinen & Warmuth 1997, as a reference in Hazan & Koren 2012",
            summary: "Multiplicative steps on the l1 ball with full information.",
            cost: "O(d)",
            budget: |_| Budget::Unlimited,
            ..DENSE
        }
    }
}

/// Returns the method of this name, if there is one.
///
/// ```
/// use lao_algorithms::registry::method;
///
/// assert!(method("hybrid").is_some_and(|row| row.batches));
/// assert!(method("simplex").is_none());
/// ```
pub fn method(name: &str) -> Option<&'static Method> {
    METHODS.iter().find(|method| method.name == name)
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
    fn intercept(&self) -> f64 {
        self.inner().intercept()
    }
    fn apply(&self, seen: Row<'_>) -> f64 {
        self.inner().apply(seen)
    }
    fn updates(&self) -> u64 {
        self.inner().updates()
    }
    fn takes_gaps(&self) -> bool {
        self.inner().takes_gaps()
    }
    fn takes_weights(&self) -> bool {
        self.inner().takes_weights()
    }

    fn examples_to_next_update(&self) -> Option<u64> {
        self.inner().examples_to_next_update()
    }

    fn foresee(&self, count: usize) -> Vec<Foreseen> {
        self.inner().foresee(count)
    }
}

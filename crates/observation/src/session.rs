//! The loop between a source and a learner: check the ask, fetch, predict, tell, keep the ledger.

use crate::ask::{Ask, Request};
use crate::block::{Block, BlockBuf, Example, Row};
use crate::budget::Budget;
use crate::distinct::Distinct;
use crate::learner::{Foreseen, GradientSum, LearnError, Learner, Told};
use crate::ledger::Ledger;
use crate::seed::{Rng, Seed};
use crate::source::{GradientAsk, Scratch, Source, SourceError, check_answer, observe_checked};
use crate::stored::{Damaged, Validate};
use crate::tariff::{Basket, Tariff, pays};
use lao_kernels::{SparseView, merge_into};
use rand::Rng as _;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A session serves a learner's asks from a source, within a budget.
///
/// It checks every ask *before* anything is fetched, so that no learner can observe more than the budget
/// allows. It owns the buffers and the generator, and allocates nothing after warm-up.
///
/// ```
/// use lao_datasets::memory::Columns;
/// use lao_observation::{Budget, Learner, Seed, Session, SessionLimit};
/// # use lao_kernels::{SparseVector, SparseView};
/// # use lao_observation::{Ask, Example, LearnError, Rng, Told};
/// # struct First(SparseVector);
/// # impl Learner for First {
/// #     fn dim(&self) -> usize { self.0.dim() }
/// #     fn ask(&mut self, _: &mut Rng, ask: &mut Ask) { ask.values(1).push(0); }
/// #     fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
/// #         let Example { seen, label } = told.example()?;
/// #         let x = seen.values[0];
/// #         self.0.change_values(|_, w| w + 0.2 * (label - w * x) * x);
/// #         Ok(())
/// #     }
/// #     fn coefficients(&self) -> SparseView<'_> { self.0.view() }
/// #     fn updates(&self) -> u64 { 0 }
/// # }
///
/// // Four examples of two attributes, one column after the other; the label is three times the first.
/// let columns = vec![1.0, 2.0, -1.0, 1.0, 5.0, 6.0, 7.0, 8.0];
/// let source = Columns::new(2, columns, vec![3.0, 6.0, -3.0, 3.0])?.with_passes(50);
/// // The learner of the documentation of `Learner`, which observes the first attribute alone.
/// let mut learner = First(SparseVector::new(2, vec![0], vec![0.0])?);
/// let mut session = Session::new(source, Budget::PerExample(1), &Seed::root(1));
/// session.run(&mut learner, SessionLimit::never(), |_, _| {})?;
///
/// assert!((learner.coefficients().get(0) - 3.0).abs() < 1e-9);
/// assert_eq!((session.ledger().examples, session.ledger().most_attributes), (200, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Session<S> {
    source: S,
    budget: Budget,
    rng: Rng,
    ledger: Ledger,
    online: bool,
    account: Option<Account>,
    ask: Ask,
    /// The attributes of a gradient ask and of its theta.
    observed: Vec<u32>,
    distinct: Distinct,
    block: BlockBuf,
    sum: Vec<f64>,
    scratch: Scratch,
}

/// The prices, and what was bought by them.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Account {
    tariff: Tariff,
    /// The number of examples of which each panel was bought.
    bought: Vec<u64>,
    /// The panels of the current ask.
    #[serde(skip)]
    basket: Basket,
}

impl PartialEq for Account {
    fn eq(&self, other: &Account) -> bool {
        (&self.tariff, &self.bought) == (&other.tariff, &other.bought)
    }
}

/// The outcome of one ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The ask was served completely.
    Served,
    /// The limit on examples was reached before; the learner was told what there was.
    Limit,
    /// The source ran dry before; the learner was told what there was.
    Dry,
    /// The learner asked for nothing, since it is finished.
    Finished,
}

/// The limits of a run, which ends earlier if the learner is finished or the source runs dry.
///
/// ```
/// use lao_observation::SessionLimit;
///
/// assert_eq!(SessionLimit::after_examples(1000).examples, Some(1000));
/// // The limit that is reached first ends the run.
/// let limit = SessionLimit { examples: Some(1000), updates: Some(20) };
/// assert_eq!(limit.updates, Some(20));
/// assert_eq!((SessionLimit::never().examples, SessionLimit::never().updates), (None, None));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionLimit {
    /// The largest number of examples in total (the ledger's count).
    pub examples: Option<u64>,
    /// The largest number of completed updates in total.
    pub updates: Option<u64>,
}

impl SessionLimit {
    /// Returns the limit of a run until the learner is finished or the source is dry.
    pub fn never() -> Self {
        SessionLimit::default()
    }
    /// Returns the limit of `examples` examples.
    pub fn after_examples(examples: u64) -> Self {
        SessionLimit { examples: Some(examples), updates: None }
    }
    /// Returns the limit of `updates` completed updates.
    pub fn after_updates(updates: u64) -> Self {
        SessionLimit { examples: None, updates: Some(updates) }
    }
}

/// The reason why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionEnd {
    /// The learner was finished.
    Finished,
    /// A limit of [`SessionLimit`] was reached.
    Limit,
    /// The source ran dry; the estimate is that of the last completed update.
    Dry,
}

/// All that a session needs, beside source and learner, to continue with the same bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Checkpoint {
    budget: Budget,
    rng: Rng,
    ledger: Ledger,
    online: bool,
    position: u64,
    #[serde(default)]
    account: Option<Account>,
}

crate::stored!(Checkpoint);

impl Validate for Checkpoint {
    fn validate(&self) -> Result<(), Damaged> {
        // A generator whose state is zero returns zeros for ever; no seed leads to this state.
        let mut rng = self.rng.clone();
        let draws = (0..8).any(|_| rng.next_u64() != 0);
        Damaged::unless(draws, "checkpoint", || "its generator has the state 0")?;
        let paid = self.account.as_ref().is_none_or(|account| {
            account.bought.len() == account.tariff.prices().len()
                && account.bought.iter().all(|&examples| examples <= self.ledger.examples)
        });
        Damaged::unless(paid, "checkpoint", || "the purchases do not fit the prices and the examples")
    }
}

impl<S: Source> Session<S> {
    /// Returns a session over `source` within `budget`; the learner's draws descend from `seed`.
    pub fn new(source: S, budget: Budget, seed: &Seed) -> Self {
        let rng = seed.child("learner").rng();
        Self::assemble(
            source,
            Checkpoint { budget, rng, ledger: Ledger::default(), online: false, position: 0, account: None },
        )
    }

    /// Returns the same session with prices: the ledger adds up the money, and with
    /// [`Budget::Priced`] an ask that costs more than the budget is refused.
    ///
    /// ```
    /// # use lao_kernels::{SparseVector, SparseView};
    /// # use lao_observation::{Ask, LearnError, Learner, Rng, Told};
    /// use lao_datasets::memory::Columns;
    /// use lao_observation::{Budget, Seed, Session, Tariff};
    /// # struct Both(SparseVector);
    /// # impl Learner for Both {
    /// #     fn dim(&self) -> usize { 2 }
    /// #     fn ask(&mut self, _: &mut Rng, ask: &mut Ask) { ask.values(1).extend([0, 1]); }
    /// #     fn tell(&mut self, _: Told<'_>) -> Result<(), LearnError> { Ok(()) }
    /// #     fn coefficients(&self) -> SparseView<'_> { self.0.view() }
    /// #     fn updates(&self) -> u64 { 0 }
    /// # }
    /// # let mut learner = Both(SparseVector::zeros(2));
    ///
    /// // The learner asks for both attributes, which cost 3 and 4.
    /// let source = Columns::new(2, vec![1.0, 2.0, 8.0, 9.0], vec![0.0, 1.0])?;
    /// let tariff = Tariff::new(vec![3.0, 4.0])?;
    /// let enough = Budget::Priced { per_example: 7.0 };
    /// let mut session = Session::new(source.clone(), enough, &Seed::root(1)).priced(tariff.clone())?;
    /// session.step(&mut learner, u64::MAX)?;
    /// assert_eq!(session.ledger().cost, 7.0);
    ///
    /// let less = Budget::Priced { per_example: 6.5 };
    /// let mut session = Session::new(source, less, &Seed::root(1)).priced(tariff)?;
    /// let refused = session.step(&mut learner, u64::MAX).unwrap_err();
    /// assert_eq!(refused.to_string(), "the ask costs 7 per example, but the budget is 6.5");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Fails when the tariff has another number of attributes than the source.
    pub fn priced(mut self, tariff: Tariff) -> Result<Self, SessionError> {
        check_tariff(&tariff, self.source.dim())?;
        let bought = vec![0; tariff.prices().len()];
        self.account = Some(Account { tariff, bought, basket: Basket::default() });
        Ok(self)
    }

    /// Resumes a stored run, with the same source.
    ///
    /// # Errors
    /// Fails when the source cannot go to the stored position.
    pub fn resume(mut source: S, checkpoint: Checkpoint) -> Result<Self, SessionError> {
        if let Some(account) = &checkpoint.account {
            check_tariff(&account.tariff, source.dim())?;
        }
        source.seek(checkpoint.position)?;
        Ok(Self::assemble(source, checkpoint))
    }

    fn assemble(source: S, from: Checkpoint) -> Self {
        let Checkpoint { budget, rng, ledger, online, account, .. } = from;
        let ask = Ask::new(source.dim());
        Session {
            source,
            budget,
            rng,
            ledger,
            online,
            account,
            ask,
            observed: Vec::new(),
            distinct: Distinct::default(),
            block: BlockBuf::new(),
            sum: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    /// Returns the same session in the online protocol: if an ask is for the values of one example, the
    /// learner predicts before it is told the label, and the ledger adds up the squared errors.
    pub fn online(mut self) -> Self {
        self.online = true;
        self
    }

    /// Returns what to store, beside the learner, to resume the run later.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            budget: self.budget,
            rng: self.rng.clone(),
            ledger: self.ledger,
            online: self.online,
            position: self.source.position(),
            account: self.account.clone(),
        }
    }

    /// Returns the number of examples of which each panel of the tariff was bought; `None` without a tariff.
    pub fn bought(&self) -> Option<&[u64]> {
        self.account.as_ref().map(|account| &account.bought[..])
    }

    /// Returns the counts of what was observed so far.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Returns the source.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// Ends the session and returns the source.
    pub fn into_source(self) -> S {
        self.source
    }

    /// Serves asks until the learner is finished, a limit is reached, or the source is dry. After each
    /// completed update the session calls `after` with the ledger and the learner. To read the estimate there
    /// costs O(d) for a learner whose estimate is a lazily kept average.
    ///
    /// # Errors
    /// Fails when an ask breaks the contract or the budget, the source fails, or the learner diverges.
    pub fn run<L: Learner + ?Sized>(
        &mut self,
        learner: &mut L,
        stop: SessionLimit,
        mut after: impl FnMut(&Ledger, &L),
    ) -> Result<SessionEnd, SessionError> {
        let mut updates = learner.updates();
        loop {
            if stop.updates.is_some_and(|limit| updates >= limit)
                || stop.examples.is_some_and(|limit| self.ledger.examples >= limit)
            {
                return Ok(SessionEnd::Limit);
            }
            let left = stop.examples.map_or(u64::MAX, |limit| limit - self.ledger.examples);
            let step = self.step(learner, left)?;
            if learner.updates() != updates {
                updates = learner.updates();
                after(&self.ledger, learner);
            }
            match step {
                Step::Served => {}
                Step::Limit => return Ok(SessionEnd::Limit),
                Step::Dry => return Ok(SessionEnd::Dry),
                Step::Finished => return Ok(SessionEnd::Finished),
            }
        }
    }

    /// Serves one ask, with at most `limit` examples.
    ///
    /// # Errors
    /// Fails in the cases of [`run`](Session::run).
    pub fn step<L: Learner + ?Sized>(&mut self, learner: &mut L, limit: u64) -> Result<Step, SessionError> {
        learner.ask(&mut self.rng, &mut self.ask);
        let dim = self.source.dim();
        if learner.dim() != dim {
            return Err(SessionError::Dimension { asked: learner.dim(), source_dim: dim });
        }
        if self.source.has_weights() && !learner.takes_weights() {
            return Err(SessionError::Weights);
        }
        let Session { ask, budget, account, distinct, observed, .. } = self;
        let Some(Asked { values, attributes, sorted, examples }) =
            check(ask, dim, *budget, account, distinct, observed)?
        else {
            return Ok(Step::Finished);
        };
        self.ledger.asks = self.ledger.asks.saturating_add(1);
        let wanted = examples.min(limit);
        let mut served = 0;
        while served < wanted {
            if values && self.source.asks_ahead() > 0 {
                self.look_ahead(learner, wanted - served);
            }
            let rows = if values {
                self.serve_values(learner, wanted - served, attributes, sorted)?
            } else {
                self.serve_gradient(learner, wanted - served)?
            };
            if rows == 0 {
                return Ok(Step::Dry);
            }
            served += rows;
        }
        Ok(if wanted < examples { Step::Limit } else { Step::Served })
    }

    /// Tells the source what is asked for now, and what is likely to be asked for next.
    fn look_ahead<L: Learner + ?Sized>(&mut self, learner: &L, wanted: u64) {
        let Request::Values { attributes, .. } = self.ask.request() else { return };
        let mut asks = vec![Foreseen { attributes: attributes.to_vec(), examples: wanted }];
        asks.extend(learner.foresee(self.source.asks_ahead()));
        self.source.expect(&asks);
    }

    fn serve_values<L: Learner + ?Sized>(
        &mut self,
        learner: &mut L,
        wanted: u64,
        distinct: usize,
        sorted: bool,
    ) -> Result<u64, SessionError> {
        let Request::Values { attributes, .. } = self.ask.request() else { return Ok(0) };
        let columns = attributes.len();
        let capacity = wanted.min(BlockBuf::preferred_rows(columns) as u64) as usize;
        self.block.reset(columns, capacity);
        let returned = if sorted {
            self.source.observe(attributes, &mut self.block)?
        } else {
            self.source.observe_draws(attributes, &mut self.block, &mut self.scratch)?
        };
        let position = || self.source.position();
        let gaps = learner.takes_gaps() && self.source.has_gaps();
        let rows = check_answer(attributes, &self.block, returned, gaps, &position)?;
        if rows == 0 {
            return Ok(0);
        }
        let (block, rows) = (self.block.view(attributes), rows as u64);
        count(&mut self.ledger, &mut self.account, rows, distinct, self.source.value_bytes());
        if self.online
            && let Some(Example { seen, label }) = block.single()
        {
            let error = learner.predict(seen) - label;
            self.ledger.predictions = self.ledger.predictions.saturating_add(1);
            // The sum stays a finite number, so that a checkpoint can hold it.
            self.ledger.squared_loss = (self.ledger.squared_loss + error * error).min(f64::MAX);
        }
        learner.tell(Told::Values(block))?;
        Ok(rows)
    }

    fn serve_gradient<L: Learner + ?Sized>(
        &mut self,
        learner: &mut L,
        wanted: u64,
    ) -> Result<u64, SessionError> {
        let Request::Gradient { theta, attributes, .. } = self.ask.request() else { return Ok(0) };
        self.sum.clear();
        self.sum.resize(attributes.len(), 0.0);
        let ask = GradientAsk { theta, attributes, observed: &self.observed, examples: wanted };
        let rows = self.source.gradient(ask, &mut self.sum, &mut self.scratch)?;
        if rows > wanted {
            return Err(SourceError::Examples { served: rows, asked: wanted }.into());
        }
        if rows > 0 {
            let (asked, bytes) = (self.observed.len(), self.source.value_bytes());
            count(&mut self.ledger, &mut self.account, rows, asked, bytes);
            learner.tell(Told::Gradient(GradientSum { attributes, sum: &self.sum, examples: rows }))?;
        }
        Ok(rows)
    }
}

/// What an ask that keeps to the contract and the budget wants.
struct Asked {
    /// Whether it is for values; otherwise for a gradient.
    values: bool,
    /// The number of distinct attributes.
    attributes: usize,
    /// Whether the attributes of an ask for values ascend strictly.
    sorted: bool,
    examples: u64,
}

/// Checks an ask; `None` if it is for nothing. It is compiled once, and not for every source and learner.
fn check(
    ask: &Ask,
    dim: usize,
    budget: Budget,
    account: &mut Option<Account>,
    distinct: &mut Distinct,
    observed: &mut Vec<u32>,
) -> Result<Option<Asked>, SessionError> {
    let (theta, attributes, examples) = match ask.request() {
        Request::Nothing => return Ok(None),
        Request::Values { attributes, examples } => (None, attributes, examples),
        Request::Gradient { theta, attributes, examples } => (Some(theta), attributes, examples),
    };
    let sorted = attributes.is_sorted_by(|a, b| a < b);
    let asked = match theta {
        Some(theta) if theta.dim() != dim => {
            return Err(SessionError::Dimension { asked: theta.dim(), source_dim: dim });
        }
        Some(theta) => {
            check_attributes(attributes, dim)?;
            observed.clear();
            merge_into(theta.indices(), attributes, observed);
            observed.len()
        }
        None if sorted => {
            check_attributes(&attributes[attributes.len().saturating_sub(1)..], dim)?;
            attributes.len()
        }
        None => {
            let beyond = |attribute| SessionError::OutOfRange { attribute, dim };
            distinct.count(attributes, dim).map_err(beyond)?
        }
    };
    let mut cap = budget.cap(dim);
    if let Some(Account { tariff, basket, .. }) = account {
        let cost = tariff.cost(if theta.is_some() { observed } else { attributes }, basket);
        if let Budget::Priced { per_example } = budget {
            if !pays(per_example, cost) {
                return Err(SessionError::OverPrice { cost, budget: per_example });
            }
            cap = dim; // the money decides, not a number
        }
    }
    if asked > cap {
        return Err(SessionError::OverBudget { asked, budget: cap });
    }
    if examples == 0 {
        return Err(SessionError::NoExamples);
    }
    Ok(Some(Asked { values: theta.is_none(), attributes: asked, sorted, examples }))
}

/// Counts examples of which the attributes of the current ask were observed.
fn count(ledger: &mut Ledger, account: &mut Option<Account>, examples: u64, attributes: usize, bytes: u64) {
    ledger.count(examples, attributes, bytes);
    if let Some(Account { bought, basket, .. }) = account {
        ledger.pay(examples, basket.cost());
        for &panel in basket.panels() {
            let total = &mut bought[panel as usize];
            *total = total.saturating_add(examples);
        }
    }
}

fn check_tariff(tariff: &Tariff, dim: usize) -> Result<(), SessionError> {
    if tariff.dim() == dim {
        return Ok(());
    }
    Err(SessionError::Tariff { priced: tariff.dim(), source_dim: dim })
}

/// Returns the mean squared error of `theta` on up to `examples` next examples of `source`, of which only
/// `supp(theta)` is observed; `None` if the source is dry.
///
/// # Errors
/// Fails when the support does not fit the budget or the source fails.
pub fn mean_squared_error<S: Source>(
    theta: SparseView<'_>,
    source: &mut S,
    budget: Budget,
    examples: u64,
) -> Result<Option<f64>, SessionError> {
    let mut tile = Vec::new();
    mean_squared(theta, source, budget, examples, |view| {
        tile.resize(view.rows(), 0.0);
        let columns = theta.values().iter().enumerate().map(|(c, &weight)| (view.column(c), weight));
        lao_kernels::residual(columns, view.labels(), &mut tile);
        tile.iter().map(|r| r * r).sum()
    })
}

/// Returns the mean squared error of a learner's estimate on up to `examples` next examples of `source`, of
/// which only the attributes of the estimate are observed; `None` if the source is dry.
///
/// # Errors
/// Fails when the support does not fit the budget or the source fails.
pub fn mean_squared_error_of<L: Learner + ?Sized, S: Source>(
    learner: &L,
    source: &mut S,
    budget: Budget,
    examples: u64,
) -> Result<Option<f64>, SessionError> {
    let (theta, mut values) = (learner.coefficients(), Vec::new());
    mean_squared(theta, source, budget, examples, |view| {
        let attributes = theta.indices();
        let squared = |(r, label): (usize, &f64)| {
            values.clear();
            values.extend((0..attributes.len()).map(|c| view.column(c)[r]));
            let error = learner.apply(Row { attributes, values: &values }) - label;
            error * error
        };
        view.labels().iter().enumerate().map(squared).sum()
    })
}

/// Returns the mean of squared errors over up to `examples` next examples of `source`, of which the support
/// of `theta` is observed. `squares` sums the squared errors of a block.
fn mean_squared<S: Source>(
    theta: SparseView<'_>,
    source: &mut S,
    budget: Budget,
    examples: u64,
    mut squares: impl FnMut(Block<'_>) -> f64,
) -> Result<Option<f64>, SessionError> {
    if theta.dim() != source.dim() {
        return Err(SessionError::Dimension { asked: theta.dim(), source_dim: source.dim() });
    }
    let attributes = theta.indices();
    let cap = budget.cap(source.dim());
    if attributes.len() > cap {
        return Err(SessionError::OverBudget { asked: attributes.len(), budget: cap });
    }
    let mut block = BlockBuf::new();
    let (mut seen, mut total) = (0u64, 0.0);
    while seen < examples {
        let capacity = (examples - seen).min(BlockBuf::preferred_rows(attributes.len()) as u64) as usize;
        block.reset(attributes.len(), capacity);
        let rows = observe_checked(source, attributes, &mut block)?;
        if rows == 0 {
            break;
        }
        total += squares(block.view(attributes));
        seen += rows as u64;
    }
    Ok((seen > 0).then(|| total / seen as f64))
}

fn check_attributes(attributes: &[u32], dim: usize) -> Result<(), SessionError> {
    if let Some(at) = attributes.windows(2).position(|pair| pair[0] >= pair[1]) {
        return Err(SessionError::Order { place: at + 1, attribute: attributes[at + 1] });
    }
    match attributes.last() {
        Some(&last) if last as usize >= dim => Err(SessionError::OutOfRange { attribute: last, dim }),
        _ => Ok(()),
    }
}

/// The reason why a session cannot continue.
#[derive(Debug, Error)]
pub enum SessionError {
    /// The ask would observe more attributes of one example than the budget allows.
    #[error("the ask observes {asked} attributes of one example, but the budget is {budget}")]
    OverBudget {
        /// Distinct attributes that the ask would observe.
        asked: usize,
        /// The budget's cap.
        budget: usize,
    },
    /// The ask would spend more money on one example than the budget allows.
    #[error("the ask costs {cost} per example, but the budget is {budget}")]
    OverPrice {
        /// The price of the panels that the ask would buy.
        cost: f64,
        /// The budget.
        budget: f64,
    },
    /// The tariff has another number of attributes than the source.
    #[error(
        "the tariff has prices of {priced} attributes, but the source has {source_dim}: give a price of each"
    )]
    Tariff {
        /// Attributes of the tariff.
        priced: usize,
        /// Dimension of the source.
        source_dim: usize,
    },
    /// The source has weights, and the learner takes none.
    #[error(
        "the examples have weights, and the method takes none; leave them out, or choose a method that takes \
         them, such as pursuit"
    )]
    Weights,
    /// An attribute does not exist.
    #[error("the ask names attribute {attribute}, but examples have attributes 0..{dim}")]
    OutOfRange {
        /// The attribute.
        attribute: u32,
        /// The dimension.
        dim: usize,
    },
    /// Attributes of a gradient ask are not strictly ascending.
    #[error("the attributes of a gradient ask must ascend strictly, but place {place} holds {attribute}")]
    Order {
        /// Place in the list, from 0.
        place: usize,
        /// The attribute there.
        attribute: u32,
    },
    /// The learner, or a vector that it asks with, has another dimension than the source.
    #[error(
        "the learner is made for examples of {asked} attributes, but those of the source have {source_dim}: \
         build the learner with dim = {source_dim}, or read the data with dim = {asked}"
    )]
    Dimension {
        /// Dimension of the learner.
        asked: usize,
        /// Dimension of the source.
        source_dim: usize,
    },
    /// The ask is for zero examples.
    #[error("the ask wants 0 examples; a learner that is finished asks for nothing instead")]
    NoExamples,
    /// The source failed.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The learner cannot continue.
    #[error(transparent)]
    Learn(#[from] LearnError),
}

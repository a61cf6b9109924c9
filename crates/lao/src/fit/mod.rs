//! From examples to a model, with nothing to choose but the budget.

mod choose;
mod notes;
mod suspend;

use crate::choices::{Budget, Choices};
use crate::error::{Error, nearest};
use crate::examples::{Examples, Stream, TrainTest};
use crate::model::{About, Holdout, Model, Origin, Reached, Spent, SpentMoney};
use crate::prices::{PricedColumns, Prices};
use crate::table::Traffic;
use lao_algorithms::phases::Shape;
use lao_algorithms::pursuit::Evidence;
use lao_algorithms::{AnyParams, Money, TableLearner, TableMethod, TableTask};
use lao_observation::{Budget as Limit, NoUpdate, Seed, Session, SessionLimit};
use notes::{alike, by_name, decided, missing, of_gaps, out_of_bytes, shut_out, sorted_by_class, too_dear};
use serde::{Deserialize, Serialize};
pub use suspend::Suspended;
use suspend::{Keep, part};

/// How to learn a model: the budget, and what differs from the defaults.
///
/// ```
/// # let mut rows = String::from("age,weight,pulse,pressure\n");
/// # for i in 0..600u32 {
/// #     let (a, w, p) = (20 + i * 7 % 60, 50 + i * 11 % 50, 50 + i * 13 % 40);
/// #     rows += &format!("{a},{w},{p},{}\n", 80.0 + 0.5 * f64::from(a) + f64::from(i * 17 % 7));
/// # }
/// # let frame = lao::Frame::parse(rows.as_bytes(), "patients.csv", &Default::default())?;
/// // let frame = lao::read("patients.csv")?;
/// let fitted = lao::Fit::within(2).run(&frame.clone().target("pressure")?)?;
/// println!("{}", fitted.model); // names, units, standard errors, what was bought
/// let predicted = fitted.model.predict(&frame, lao::Missing::Mean)?;
/// assert_eq!(fitted.model.columns(), ["age"]);
/// assert_eq!(predicted.values.len(), frame.rows());
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Fit {
    budget: Budget,
    choices: Choices,
}

/// What a run says after an update.
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// // let table = "diabetes.csv.gz";
/// let examples = lao::read(table)?.target("progression")?;
/// let mut seen = Vec::new();
/// lao::Fit::within(5).run_with(&examples, |progress| seen.push(progress.examples))?;
/// assert_eq!(seen, [16, 32, 64, 128, 256, 398]);
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Examples so far.
    pub examples: u64,
    /// Examples of the whole run.
    pub of: u64,
    /// Values bought so far.
    pub attributes: u64,
    /// Money spent so far, if attributes have prices.
    pub money: Option<f64>,
    /// The number of attributes of the predictor.
    pub support: usize,
    /// The error on the examples held out, if there are any.
    pub holdout: Option<&'a Holdout>,
}

/// The most examples that are held out.
const MOST_HELD_OUT: f64 = 1_048_576.0;

/// The result of a run.
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// // let table = "diabetes.csv.gz";
/// let fitted = lao::Fit::within(5).run(&lao::read(table)?.target("progression")?)?;
/// assert!(fitted.found && fitted.notes.is_empty());
/// assert_eq!(fitted.model.columns(), ["bmi", "ltg"]);
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The model.
    pub model: Model,
    /// Whether anything was found. If not, the model predicts the mean of the labels.
    pub found: bool,
    /// What was left out or chosen, in sentences.
    pub notes: Vec<String>,
    /// What decided the shape of the predictor, in words, unless it is the line on what is significant.
    pub decided: Option<String>,
    /// The learner, which [`Fit::resume`] lets learn from more examples.
    pub learned: Learned,
}

/// A learner that has learned, in a form that can be stored.
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// use lao::{Fit, TrainTest};
/// use lao::observation::Seed;
///
/// // let table = "diabetes.csv.gz";
/// let examples = lao::read(table)?.target("progression")?;
/// let TrainTest { train: first, test: later } = examples.split(0.5, &Seed::root(1))?;
/// let fit = Fit::within(5);
/// let learned = fit.run(&first)?.learned;
/// let stored = serde_json::to_string(&learned).unwrap();
///
/// let learned = serde_json::from_str(&stored).unwrap();
/// let fitted = fit.resume(learned, &later, |_| {})?;
/// assert_eq!(fitted.model.spent.examples, 398);
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Learned {
    learner: TableLearner,
    parameters: AnyParams,
    /// What earlier runs have spent.
    before: Spent,
}

impl Fit {
    /// Learns within a budget, with these choices.
    pub fn new(budget: Budget, mut choices: Choices) -> Self {
        choices.in_order |= choices.half_life.is_some();
        Fit { budget, choices }
    }

    /// Learns with at most `budget` [attributes](Budget::Attributes) of an example.
    pub fn within(budget: usize) -> Self {
        Self::new(Budget::Attributes(budget), Choices::default())
    }

    /// Learns with at most `money` for an example, by these prices.
    ///
    /// ```
    /// # let mut rows = String::from("age,weight,pulse,pressure\n");
    /// # for i in 0..900u32 {
    /// #     let (a, w, p) = (20 + i * 7 % 60, 50 + i * 11 % 50, 50 + i * 13 % 40);
    /// #     rows += &format!("{a},{w},{p},{}\n", 80.0 + 0.5 * f64::from(a) + f64::from(i * 17 % 7));
    /// # }
    /// # let frame = lao::Frame::parse(rows.as_bytes(), "patients.csv", &Default::default())?;
    /// // let prices = lao::Prices::read("prices.csv")?;
    /// let prices = lao::Prices::parse("age,0\nweight,2\npulse,3\n", "prices.csv")?;
    /// let model = lao::Fit::within_money(3.0, prices).run(&frame.target("pressure")?)?.model;
    /// let spent = model.spent.money.as_ref().expect("there are prices");
    /// assert!(spent.most <= 3.0);
    /// assert_eq!((model.columns(), model.cost()), (vec!["age"], Some(0.0)));
    /// # Ok::<(), lao::Error>(())
    /// ```
    pub fn within_money(money: f64, prices: Prices) -> Self {
        Self::new(Budget::Money { per_example: money, prices }, Choices::default())
    }

    /// Learns as a model was learned: by the same method, within the same budget, by the same prices, with
    /// all that was chosen. From the same table the same model comes, bit for bit.
    ///
    /// ```
    /// # let mut rows = String::from("age,weight,pulse,pressure\n");
    /// # for i in 0..600u32 {
    /// #     let (a, w, p) = (20 + i * 7 % 60, 50 + i * 11 % 50, 50 + i * 13 % 40);
    /// #     rows += &format!("{a},{w},{p},{}\n", 80.0 + 0.5 * f64::from(a) + f64::from(i * 17 % 7));
    /// # }
    /// # let frame = lao::Frame::parse(rows.as_bytes(), "patients.csv", &Default::default())?;
    /// let examples = frame.target("pressure")?;
    /// let model = lao::Fit::within(2).most_attributes(1).seed(7).run(&examples)?.model;
    /// let again = lao::Fit::again(&model)?.run(&examples)?.model;
    /// assert_eq!(again, model);
    /// # Ok::<(), lao::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the model does not say what its budget was.
    pub fn again(model: &Model) -> Result<Self, Error> {
        let budget = match (&model.spent.money, model.origin.budget) {
            (Some(money), _) => Budget::Money { per_example: money.budget, prices: money.prices()? },
            (None, Some(budget)) => Budget::Attributes(budget),
            (None, None) => {
                let (value, allowed) = ("unknown".into(), "the model does not say it; give it anew".into());
                return Err(Error::Choice { what: "budget", value, allowed });
            }
        };
        Ok(Self::new(budget, model.origin.choices.clone()))
    }

    /// Returns what may be bought of an example.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Learns a model.
    ///
    /// # Errors
    /// When the method is unknown or refuses its parameters, there are too few examples, or learning fails.
    pub fn run(&self, examples: &Examples) -> Result<Fitted, Error> {
        self.run_with(examples, |_| {})
    }

    /// Learns a model, and says how far it is each time the examples have doubled.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_with(&self, examples: &Examples, say: impl FnMut(Progress<'_>)) -> Result<Fitted, Error> {
        self.learn(examples, Begun::Anew, None, say)
    }

    /// Lets a learner learn from more examples, which must be new ones: those of earlier runs would count
    /// twice. Budget, method and longest predictor are those with which the learner began.
    ///
    /// # Errors
    /// As [`run`](Self::run), and when the examples have another number of attributes.
    pub fn resume(
        &self,
        learned: Learned,
        examples: &Examples,
        say: impl FnMut(Progress<'_>),
    ) -> Result<Fitted, Error> {
        self.learn(examples, Begun::With(Box::new(learned)), None, say)
    }

    fn learn(
        &self,
        examples: &Examples,
        begun: Begun,
        mut keep: Option<Keep<'_>>,
        mut say: impl FnMut(Progress<'_>),
    ) -> Result<Fitted, Error> {
        let &Choices { holdout, passes, in_order, seed, .. } = &self.choices;
        let seed = Seed::root(seed);
        self.choices.check(&self.budget)?;
        // More would say no more of the error, and would not be learned from.
        let holdout = holdout.min(MOST_HELD_OUT / examples.len() as f64);
        let (training, held_out) = if holdout > 0.0 && examples.len() >= 20 {
            let TrainTest { train, test } = if in_order {
                examples.split_in_order(holdout)?
            } else {
                examples.split(holdout, &seed.child("holdout"))?
            };
            (train, Some(test))
        } else {
            (examples.clone(), None)
        };
        let priced = examples.priced(match &self.budget {
            Budget::Money { prices, .. } => Some(prices),
            Budget::Attributes(_) => None,
        })?;
        let (mut learned, suspended) = match begun {
            Begun::Anew => (self.learner(&training, priced.as_ref())?, None),
            Begun::With(learned) => (*learned, None),
            Begun::Suspended(state) => {
                state.check(self, examples, &self.learner(&training, priced.as_ref())?)?;
                (state.learned.clone(), Some(state))
            }
        };
        let whole = (training.len() as u64).saturating_mul(passes);
        let mean = training.mean_label()?;
        // A random order, so that a sorted table does no harm, unless the user says that its order is right.
        let ordered = if in_order { training.clone() } else { training.shuffled(&seed.child("order")) };
        let (limit, tariff) = match (learned.parameters.money(), &priced, &self.budget) {
            (Some(money), ..) => {
                (Limit::Priced { per_example: money.per_example }, Some(money.tariff.clone()))
            }
            (_, Some(priced), &Budget::Money { per_example, .. }) => {
                (Limit::Priced { per_example }, Some(priced.tariff.clone()))
            }
            _ => (Limit::PerExample(self.most_attributes_bought()), None),
        };
        let gaps = learned.learner.learner().takes_gaps();
        let mut stream = ordered.stream(passes, gaps);
        let mut history = Vec::new();
        // No page is begun and left for the examples that are held out.
        let page = training.page();
        let mut until = 16 * page.unwrap_or(1);
        let mut session = match suspended {
            Some(state) => {
                (until, history) = (state.until, state.history);
                stream.has_counted(state.passed_over, state.lacking);
                Session::resume(stream, state.checkpoint)?
            }
            None => {
                let session = Session::new(stream, limit, &seed.child("session"));
                match tariff {
                    Some(tariff) => session.priced(tariff)?,
                    None => session,
                }
            }
        };
        let part = part(whole, page);
        loop {
            let next = match &keep {
                Some(_) => until.min(session.ledger().examples.saturating_add(part)),
                None => until,
            };
            let run = session.run(learned.learner.learner(), SessionLimit::after_examples(next), |_, _| {});
            run.map_err(|error| by_name(error, &training, &learned))?;
            if let (Some(keep), true) = (&mut keep, next < until && session.ledger().examples == next) {
                keep(&|| Suspended::of(self, examples, (&learned, &session), (until, &history)))?;
                continue;
            }
            let ledger = *session.ledger();
            let (attributes, _) = self.bought(&session);
            let mut model = self.model(examples, &learned, priced.as_ref(), &session);
            if learned.learner.inspect().updates() == 0 {
                model.intercept = mean;
            }
            model.mean_label = Some(mean);
            let holdout = held_out.as_ref().map(|rows| model.score(rows)).transpose()?.flatten();
            let money = model.spent.money.as_ref().map(|money| money.total);
            if let Some(holdout) = &holdout {
                history.push(Reached {
                    examples: ledger.examples,
                    attributes,
                    money,
                    mean_squared_error: holdout.mean_squared_error,
                    standard_error: Some(holdout.standard_error),
                });
            }
            let done = ledger.examples < until;
            let (examples_seen, support) = (ledger.examples, model.coefficients.len());
            say(Progress {
                examples: examples_seen,
                of: whole,
                attributes,
                money,
                support,
                holdout: holdout.as_ref(),
            });
            if done {
                let mut notes = examples.notes().to_vec();
                notes.extend(NoUpdate::of(learned.learner.inspect()).map(|none| none.to_string()));
                if in_order {
                    notes.extend(sorted_by_class(&training)?);
                }
                notes.extend(alike(examples)?);
                notes.extend(of_gaps(&session, gaps));
                notes.extend(out_of_bytes(examples, ledger.examples));
                notes.extend(priced.as_ref().and_then(|priced| too_dear(priced, &learned.parameters)));
                notes.extend(shut_out(&model));
                let decided = model.decision.and_then(|decision| decided(&model, decision));
                let notes = notes.into_iter().map(crate::escape::line).collect();
                let found = learned.learner.inspect().found();
                // The examples held out were read, too.
                model.spent.traffic = self.traffic(examples, &learned);
                learned.before = model.spent.clone();
                let model = Model { holdout, history, ..model };
                return Ok(Fitted { model, found, notes, decided, learned });
            }
            until = until.saturating_mul(2);
        }
    }

    /// Returns the most attributes that may be bought of an example; not limited where the budget is money.
    fn most_attributes_bought(&self) -> usize {
        match self.budget {
            Budget::Attributes(most) => most,
            Budget::Money { .. } => usize::MAX,
        }
    }

    /// Returns the number of values that were bought, and the most of one example. Where a column of words is
    /// bought as a whole, it is one value.
    fn bought(&self, session: &Session<Stream>) -> (u64, usize) {
        let ledger = session.ledger();
        match session.bought() {
            Some(columns) if self.budget.money().is_none() => {
                (columns.iter().sum(), ledger.most_cost as usize)
            }
            _ => (ledger.attributes, ledger.most_attributes),
        }
    }

    /// Builds the learner.
    fn learner(&self, examples: &Examples, priced: Option<&PricedColumns>) -> Result<Learned, Error> {
        let Choices { method, per_prediction, longest, level, fdr, always, half_life, .. } = &self.choices;
        let Some(row) = TableMethod::of(method) else {
            let near = nearest(method, TableMethod::names());
            let near = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
            let names: Vec<&str> = TableMethod::names().collect();
            let allowed = format!("{near}The methods are {}", names.join(", "));
            return Err(Error::Choice { what: "method", value: method.clone(), allowed });
        };
        if let (TableMethod::Exchange, passes @ 2..) = (row, self.choices.passes) {
            let allowed = "1 with the method `exchange`: it keeps every example".into();
            return Err(Error::Choice { what: "passes", value: passes.to_string(), allowed });
        }
        let dim = examples.names().len();
        let most = self.most_attributes_bought();
        // Without prices, a column of words is paid once, where the method can pay.
        let money =
            priced.filter(|_| self.budget.money().is_some() || row.takes_prices()).map(|priced| Money {
                per_prediction: *per_prediction,
                ..Money::new(priced.tariff.clone(), self.budget.money().unwrap_or(most as f64))
            });
        let shape = match (self.choices.shape, examples.has_weights()) {
            (Shape::Auto, true) => Shape::Line,
            (Shape::Trees, true) => {
                let (what, value) = ("shape", "trees".into());
                let allowed = "line or auto: trees are learned from examples without weights".into();
                return Err(Error::Choice { what, value, allowed });
            }
            (shape, _) => shape,
        };
        let (longest, level, fdr, half_life) = (*longest, *level, *fdr, *half_life);
        // What comes twice is no evidence for trees.
        let expected = (self.choices.passes == 1).then_some(examples.len() as u64);
        let (budget, always) = (most.min(dim), examples.places(always)?);
        let (examples, groups, page) = (expected, examples.groups(), examples.page());
        let task = TableTask {
            dim,
            budget,
            money,
            longest,
            level,
            fdr,
            always,
            half_life,
            shape,
            examples,
            page,
            groups,
        };
        let (learner, parameters) = row.for_table(&task)?;
        Ok(Learned { learner, parameters, before: Spent::default() })
    }

    /// Returns what was read so far of a table that is read page by page.
    fn traffic(&self, examples: &Examples, learned: &Learned) -> Option<Traffic> {
        examples.traffic().map(|traffic| traffic.after(learned.before.traffic))
    }

    /// Returns what has been learned so far.
    fn model(
        &self,
        examples: &Examples,
        learned: &Learned,
        priced: Option<&PricedColumns>,
        session: &Session<Stream>,
    ) -> Model {
        let (table, sha256) = examples.table();
        let (ledger, before) = (session.ledger(), &learned.before);
        let (values, most_of_one) = self.bought(session);
        let attributes = examples.attributes();
        let money = match (self.budget.money(), priced, session.bought()) {
            (Some(budget), Some(priced), Some(bought)) => {
                let now = SpentMoney::of(priced, bought, &attributes, ledger.most_cost, budget);
                Some(now.after(before.money.as_ref()))
            }
            _ => None,
        };
        let about = About {
            target: examples.target().to_owned(),
            label: examples.label().clone(),
            attributes,
            spent: Spent {
                examples: before.examples.saturating_add(ledger.examples),
                attributes: before.attributes.saturating_add(values),
                most_attributes: before.most_attributes.max(most_of_one),
                missing: before.missing.saturating_add(missing(session)),
                passed_over: before.passed_over.saturating_add(session.source().skipped),
                void: before.void,
                imported: before.imported,
                traffic: self.traffic(examples, learned),
                money,
            },
            origin: Origin {
                choices: self.choices.clone(),
                safeguarded: learned.learner.is_safeguarded(),
                parameters: learned.parameters.clone(),
                table: table.to_owned(),
                sha256: Some(sha256.to_owned()).filter(|hash| !hash.is_empty()),
                journal: None,
                attributes: examples.names().len(),
                examples: examples.len(),
                budget: match self.budget {
                    Budget::Attributes(most) => Some(most.min(examples.names().len())),
                    Budget::Money { .. } => None,
                },
                reading: examples.reading().clone(),
            },
        };
        Model::of(learned.learner.inspect(), about)
    }
}

/// How a run begins.
enum Begun {
    Anew,
    /// With a learner that has learned from other examples.
    With(Box<Learned>),
    /// Where an earlier run with the same examples stood.
    Suspended(Box<Suspended>),
}

impl Learned {
    /// Returns the number of attributes of an example.
    pub fn dim(&self) -> usize {
        self.learner.inspect().dim()
    }

    /// Returns what is known of attribute `j`, if there is such an attribute and the method keeps count.
    pub fn evidence(&self, j: u32) -> Option<Evidence> {
        self.learner.inspect().evidence(j)
    }
}

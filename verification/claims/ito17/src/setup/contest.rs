//! The methods of Section 6 on synthetic data: one generator, one list of rivals, paired runs.
//!
//! The paper's generator and constants are in a supplement that cannot be had. Its tables tell the scale:
//! uniform choice loses about `(1 - k'/d) |w*|^2 E x_i^2` per round, so that attributes have variance 1 and
//! `|w*|^2` is about k/2; here they come from [`gauss_spread`]. Neither `|x| <= 1` nor `|y| <= 1` holds, as
//! in the paper. The ball of the dual averages has the radius `max(1, |w*|)`.

use super::regret::{Race, VIEWS, mean_at, view};
use anyhow::Context as _;
use lao_algorithms::Task;
use lao_algorithms::baselines::FkkParams;
use lao_algorithms::hazan_koren::{AelrParams, Horizon, Prediction};
use lao_algorithms::ito::{GreedyParams, Rda1Params, Rda2Params, Rda3Params, Regularization, UniformParams};
use lao_datasets::adversarial::ito::gauss_spread;
use lao_observation::Learner;
use lao_verification_engine::context::{Axis, Context, Direction, Figure, Series, Trial};
use lao_verification_engine::judge::slope;
use lao_verification_engine::judge::{Finding, FindingKind, paired, ratio};
use lao_verification_engine::mutants::Cripple;
use std::sync::Arc;

/// A method of Section 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    A1,
    A2,
    A3,
    Greedy,
    Uniform,
    /// AELR with its one unbiased estimate of the label, `|w|_1 sign(w_j) x_j`.
    Aelr,
    /// AELR with the weights of the attributes that it happens to observe.
    AelrObserved,
    /// FKK with the rates of its theorem.
    Fkk,
}

impl Method {
    pub fn name(self) -> &'static str {
        match self {
            Method::A1 => "A1",
            Method::A2 => "A2",
            Method::A3 => "A3",
            Method::Greedy => "G",
            Method::Uniform => "U",
            Method::Aelr => "AELR",
            Method::AelrObserved => "AELR on what it observes",
            Method::Fkk => "FKK",
        }
    }
}

/// Scales of the regularization, `lambda_t = c sqrt t`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scales {
    /// Of Algorithm 1 and of the two baselines built like it.
    pub online: f64,
    /// Of the exploring rounds of Algorithms 2 and 3, `c_s`.
    pub explore: f64,
    /// Of their predicting weights, `c~`.
    pub exploit: f64,
    /// `rho_0` of Algorithm 3.
    pub penalty: f64,
}

/// A setting of Section 6.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contest {
    /// `d`.
    pub dim: usize,
    /// `k`, non-zeros of `w*`.
    pub sparsity: usize,
    /// `k1` of Algorithm 1.
    pub kept: usize,
    /// `k'`, attributes per round.
    pub budget: usize,
    /// `|w*|^2`.
    pub energy: f64,
    /// `T`.
    pub rounds: u64,
    pub scales: Scales,
    /// What an arm gets wrong.
    pub fault: Fault,
    /// How every learner is shown.
    pub cripple: Option<Cripple>,
}

/// What a fault makes of the methods.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    /// Radius of the balls that Algorithms 1, 2 and 3 predict from, as a share of what it should be.
    pub ball: f64,
    /// The same of the baselines but FKK.
    pub others: f64,
    /// Whether the greedy and the uniform choice see all attributes.
    pub baselines_see_all: bool,
}

impl Fault {
    pub const NONE: Fault = Fault { ball: 1.0, others: 1.0, baselines_see_all: false };
}

/// Regret curves of several methods on the same instances.
pub(crate) struct Curves {
    marks: Vec<u64>,
    /// For each method the curves of its runs, by number of the trial.
    of: Vec<(Method, Vec<Vec<f64>>)>,
    /// Loss of `w*`, per trial.
    comparator: Vec<f64>,
    /// That less the loss of the best k-sparse predictor in hindsight, per trial; zero where there are many
    /// subsets.
    hindsight: Vec<f64>,
}

impl Contest {
    /// A fresh learner, sound; `star_l1` is `|w*|_1`, which AELR is given.
    pub fn learner(&self, method: Method, star_l1: f64) -> anyhow::Result<Box<dyn Learner>> {
        let Contest { dim, sparsity, kept, rounds, scales, fault, .. } = *self;
        let whole = self.energy.sqrt().max(1.0);
        let radius = match method {
            Method::A1 | Method::A2 | Method::A3 => fault.ball * whole,
            Method::Fkk => whole,
            _ => fault.others * whole,
        };
        let budget = self.sight(method);
        let regularization = Regularization::sqrt(scales.online);
        let (explore, exploit) = (Regularization::sqrt(scales.explore), Regularization::sqrt(scales.exploit));
        let penalty = scales.penalty;
        Ok(match method {
            Method::A1 => Box::new(Rda1Params { dim, budget, kept, regularization, radius }.build()?),
            Method::A2 => Box::new(Rda2Params { dim, budget, explore, exploit, radius }.build()?),
            Method::A3 => Box::new(Rda3Params { dim, budget, explore, exploit, radius, penalty }.build()?),
            Method::Greedy => Box::new(GreedyParams { dim, budget, regularization, radius }.build()?),
            Method::Uniform => Box::new(UniformParams { dim, budget, regularization, radius }.build()?),
            Method::Aelr | Method::AelrObserved => {
                let params = AelrParams::from_theorem(Horizon {
                    dim,
                    draws: budget - 1,
                    radius: fault.others * star_l1,
                    examples: rounds,
                });
                let prediction = match method {
                    Method::Aelr => Prediction::Unbiased,
                    _ => Prediction::Observed,
                };
                Box::new(AelrParams { prediction, ..params }.build()?)
            }
            Method::Fkk => {
                let params = FkkParams::from_theorem(&Task {
                    dim,
                    sparsity,
                    budget,
                    examples: rounds,
                    ..Task::default()
                });
                Box::new(FkkParams { radius, ..params }.build()?)
            }
        })
    }

    /// The attributes that a method sees per round: `k'`, where nothing is wrong.
    fn sight(&self, method: Method) -> usize {
        let all = self.fault.baselines_see_all && matches!(method, Method::Greedy | Method::Uniform);
        if all { self.dim } else { self.budget }
    }

    /// What the run of a method depends on, beside the instance. The view says what an arm shows of it.
    fn played(&self, cell: &str, method: Method, shown: usize) -> String {
        let rda = matches!(method, Method::A1 | Method::A2 | Method::A3);
        let ball = if rda { self.fault.ball } else { self.fault.others };
        let (sight, rounds) = (self.sight(method), self.rounds);
        let (ball, kept) = match method {
            Method::A1 => (ball, self.kept),
            Method::Fkk => (1.0, 0),
            _ => (ball, 0),
        };
        let name = method.name();
        format!(
            "{cell}: {name} of {sight} attributes, kept {kept}, ball {ball}, {rounds} rounds, view {shown}"
        )
    }

    /// Runs every method on the first so many of the instances. Arms share the runs of methods that their
    /// faults do not reach.
    pub fn run(&self, cx: &Context<'_>, cell: &str, methods: &[(Method, u64)]) -> anyhow::Result<Curves> {
        let trials = methods.iter().map(|method| method.1).max().unwrap_or(0);
        let marks: Vec<u64> = (1..=20).map(|k| k * self.rounds / 20).collect();
        let shown = view(self.cripple);
        // The honest arm shows what the crippled learners are in its runs.
        let views = if cx.honest() { &VIEWS[..] } else { &VIEWS[shown..=shown] };
        let known = |method: Method, most: u64, shown: usize| -> Option<Arc<Vec<Vec<f64>>>> {
            let none = || anyhow::bail!("nobody has played it");
            let known = cx.shared::<Vec<Vec<f64>>>(&self.played(cell, method, shown), none);
            known.ok().filter(|curves| curves.len() as u64 >= most)
        };
        let to_play: Vec<(Method, u64)> =
            methods.iter().copied().filter(|(method, most)| known(*method, *most, shown).is_none()).collect();
        let star = format!("{cell}: losses of w*");
        let play = || {
            cx.all_trials(cell, trials, |trial: &Trial| {
                let norm = self.energy.sqrt();
                let mut source = gauss_spread(self.dim, self.sparsity, norm, &trial.seed.child("data"))?;
                let star = source.theta_star().to_owned_vector();
                let star_l1: f64 = star.values().iter().map(|w| w.abs()).sum();
                let race = Race::new(&mut source, star.view(), marks.clone())?;
                let hindsight = match self.dim {
                    ..=10 if cx.honest() => race.comparator() - race.best_sparse(self.sparsity)?,
                    _ => 0.0,
                };
                let curves = to_play.iter().map(|&(method, most)| {
                    if trial.number >= most {
                        return Ok(None);
                    }
                    let mut learner = self.learner(method, star_l1)?;
                    let seed = trial.seed.child("algorithm").child(method.name());
                    // All methods begin at zero.
                    race.regrets(learner.as_mut(), self.sight(method), &seed, views, |_| {}).map(Some)
                });
                Ok((curves.collect::<anyhow::Result<Vec<_>>>()?, (race.comparator(), hindsight)))
            })
        };
        let mut losses: Option<Vec<(f64, f64)>> = None;
        if !to_play.is_empty() {
            let all = play()?;
            for (i, &(method, _)) in to_play.iter().enumerate() {
                for (j, of_view) in views.iter().enumerate() {
                    let curves = all.iter().filter_map(|(curves, _)| Some(curves[i].as_ref()?[j].clone()));
                    let name = self.played(cell, method, view(*of_view));
                    cx.shared::<Vec<Vec<f64>>>(&name, || Ok(curves.collect()))?;
                }
            }
            losses = Some(all.iter().map(|(_, losses)| *losses).collect());
        }
        let losses = cx.shared::<Vec<(f64, f64)>>(&star, || losses.context("nobody has played"))?;
        anyhow::ensure!(losses.len() as u64 >= trials, "{cell}: {} trials of {trials}", losses.len());
        let (comparator, hindsight) = losses.iter().copied().unzip();
        let mut of = Vec::with_capacity(methods.len());
        for &(method, most) in methods {
            let curves =
                known(method, most, shown).with_context(|| format!("{} has no runs", method.name()))?;
            of.push((method, curves[..most as usize].to_vec()));
        }
        Ok(Curves { of, marks, comparator, hindsight })
    }
}

impl Curves {
    fn curves(&self, method: Method) -> anyhow::Result<&[Vec<f64>]> {
        let found = self.of.iter().find(|(known, _)| *known == method);
        Ok(&found.with_context(|| format!("{} did not run", method.name()))?.1)
    }

    /// Regret after all rounds, per trial.
    pub fn last(&self, method: Method) -> anyhow::Result<Vec<f64>> {
        Ok(self.curves(method)?.iter().map(|curve| curve[curve.len() - 1]).collect())
    }

    /// The sign test of the losses of two methods, the second without a share of its regret.
    fn compare(&self, better: Method, worse: Method, less: f64, alpha: f64) -> anyhow::Result<Finding> {
        // Losses, not regrets: they order alike, and have a logarithm.
        let (a, b) = (self.last(better)?, self.last(worse)?);
        let n = a.len().min(b.len());
        let loss = |regret: Vec<f64>, share: f64| {
            let of_star = &self.comparator[..n];
            regret.iter().zip(of_star).map(|(r, star)| share * r + star).collect::<Vec<f64>>()
        };
        Ok(paired::better(&loss(a, 1.0), &loss(b, 1.0 - less), alpha))
    }

    /// Judges that one method has less regret than another by a twentieth at least, by the sign test.
    /// (Crippled methods, whose regrets are that of the predictor zero but for a fiftieth, are in no order.)
    pub fn ordered(&self, cx: &mut Context<'_>, better: Method, worse: Method) -> anyhow::Result<()> {
        let finding = self.compare(better, worse, 0.05, cx.alpha())?;
        cx.judge(&format!("{} before {}", better.name(), worse.name()), finding);
        Ok(())
    }

    /// Judges the order alone, as a figure or a table has it.
    pub fn below(&self, cx: &mut Context<'_>, better: Method, worse: Method) -> anyhow::Result<()> {
        let finding = self.compare(better, worse, 0.0, cx.alpha())?;
        cx.judge(&format!("{} before {}", better.name(), worse.name()), finding);
        Ok(())
    }

    /// Reports, without judging, how often one method has less regret than another, and the p-value.
    pub fn compared(&self, cx: &mut Context<'_>, better: Method, worse: Method) -> anyhow::Result<()> {
        let finding = self.compare(better, worse, 0.0, cx.alpha())?;
        let name = format!("{} before {}", better.name(), worse.name());
        cx.note(&format!("{name}: share of trials"), finding.estimate);
        cx.note(&format!("{name}: p-value of the opposite"), finding.p_support);
        Ok(())
    }

    /// Judges that the mean regret of one method is at most a share of that of another.
    pub fn share(&self, cx: &mut Context<'_>, of: Method, whole: Method, most: f64) -> anyhow::Result<()> {
        let finding = ratio::independent(&self.last(of)?, &self.last(whole)?, (0.0, most), cx.alpha());
        cx.judge(&format!("mean regret of {} over that of {}", of.name(), whole.name()), finding);
        Ok(())
    }

    /// Judges that the mean of `R_T / 100` lies in a band.
    pub fn within(&self, cx: &mut Context<'_>, method: Method, low: f64, high: f64) -> anyhow::Result<()> {
        let hundreds: Vec<f64> = self.last(method)?.iter().map(|regret| regret / 100.0).collect();
        let finding = slope::judge_sample(&hundreds, (low, high), cx.alpha(), FindingKind::Mean);
        cx.judge(&format!("{}: mean of R_T/100 in [{low}, {high}]", method.name()), finding);
        Ok(())
    }

    /// Reports the exponents of the mean regret in the number of rounds, from `first` rounds on; means are
    /// over blocks of five instances.
    pub fn exponents(&self, cx: &mut Context<'_>, method: Method, first: u64) -> anyhow::Result<()> {
        let from = self.marks.partition_point(|&mark| mark < first);
        let marks: Vec<f64> = self.marks[from..].iter().map(|&mark| mark as f64).collect();
        let blocks = slope::block_means(self.curves(method)?, 5);
        let curves: Vec<Vec<f64>> = blocks.into_iter().map(|block| block[from..].to_vec()).collect();
        let slopes: Vec<f64> = slope::fit(&marks, &curves, None)
            .map_err(anyhow::Error::msg)?
            .iter()
            .map(|fit| fit.slope)
            .collect();
        cx.rate(&format!("exponent of the regret of {}", method.name()), Direction::Larger, slopes);
        Ok(())
    }

    /// Means, standard errors and medians of all methods, tracked figures, and the plot of the mean curves.
    pub fn report(&self, cx: &mut Context<'_>, caption: &str) -> anyhow::Result<()> {
        let mut series = Vec::new();
        for (method, curves) in &self.of {
            let (name, n) = (method.name(), curves.len() as f64);
            let mut last = self.last(*method)?;
            let mean = last.iter().sum::<f64>() / n;
            let se = (last.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0) / n).sqrt();
            cx.note(&format!("{name}: R_T/100, mean"), mean / 100.0);
            cx.note(&format!("{name}: R_T/100, standard error"), se / 100.0);
            cx.rate(&format!("regret of {name}"), Direction::Larger, last.clone());
            last.sort_by(f64::total_cmp);
            cx.note(&format!("{name}: R_T/100, median"), last[last.len() / 2] / 100.0);
            let mut curve = Series::line(name, Vec::new());
            for (i, &mark) in self.marks.iter().enumerate() {
                let mean = mean_at(curves, i);
                let square = curves.iter().map(|curve| (curve[i] - mean).powi(2)).sum::<f64>();
                let reach = 2.0 * (square / (n - 1.0) / n).sqrt();
                curve.points.push([mark as f64, mean]);
                curve.interval.push([mean - reach, mean + reach]);
            }
            series.push(curve);
        }
        let largest = self.hindsight.iter().copied().fold(0.0, f64::max);
        cx.note("loss of w* above that of the best k-sparse predictor, largest of the trials", largest);
        cx.figure(Figure {
            caption: caption.into(),
            x: Axis::linear("rounds"),
            y: Axis::log("mean regret against w*"),
            series,
        });
        Ok(())
    }
}

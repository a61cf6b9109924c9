//! The rules of the method: each is needed somewhere.
//!
//! *Why.* Pursuit is a boundary, least squares and looks by an upper confidence bound; the rest are rules
//! that were added for a reason. A rule that nothing needs should go. So each rule has a stream of examples
//! on which something fails in few of the runs, and in many without it. Other streams than these were tried
//! as well; rules that no stream needed are no longer there.
//!
//! *Bounds.* Each lies between the two shares of runs that failed at other draws, 200 with and 200 without
//! the rule, and was fixed before the first run of its cell. Three streams that did not show what their rules
//! are there for were replaced by others: nothing follows from them.

use crate::setup::Gappy;
use lao_algorithms::pursuit::{Pursuit, PursuitParams, Rule};
use lao_observation::{Budget, Learner as _, Rng, Seed, Session, Source};
use lao_verification_engine::claim::{Claim, Fault, Standing, mutants};
use lao_verification_engine::context::{Context, Trial};
use lao_verification_engine::instance::LawSource;
use rand::RngExt as _;
use rand::seq::SliceRandom as _;
use rand_distr::{Distribution as _, StandardNormal};
use std::cell::Cell;
use std::sync::LazyLock;

const DIM: usize = 60;
const BUDGET: usize = 12;

/// The law of the attributes. The normal ones have variance 1.
#[derive(Clone, Copy, PartialEq)]
enum Attributes {
    /// A normal chain in which neighbors have this correlation.
    Chain(f64),
    /// Half of the variance comes from three common normal factors.
    Factors,
    /// Independent and normal, but every other one is 1 in one example of fifty, and 0 elsewhere.
    HalfRare,
    /// Independent squares of exponential variables.
    HeavyTails,
    /// Independent normal ones, and a copy of each with an error of this standard deviation.
    Copies(f64),
}

/// The examples of a case, as far as they are not the plain ones.
#[derive(Clone, Copy)]
struct Stream {
    attributes: Attributes,
    /// `s*`.
    star: usize,
    /// The size of each coefficient but the first.
    effect: f64,
    /// The size of the first one.
    first: f64,
    /// `sigma`.
    noise: f64,
    /// The power of the noise.
    power: i32,
    /// The share of the values that are read as 20 times as large.
    misread: f64,
    /// The probability that a value of an attribute of odd place is missing; these have no effect then.
    missing: f64,
    /// The number of examples after which all coefficients change their sign.
    turn: u64,
}

const PLAIN: Stream = Stream {
    attributes: Attributes::Chain(0.0),
    star: 5,
    effect: 1.0,
    first: 1.0,
    noise: 1.0,
    power: 1,
    misread: 0.0,
    missing: 0.0,
    turn: u64::MAX,
};

fn normal(rng: &mut Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// The loadings of each attribute on the factors, and their length, by which they are to be divided.
static LOADINGS: LazyLock<[([f64; 3], f64); DIM]> = LazyLock::new(|| {
    std::array::from_fn(|j| {
        let wave = |factor: usize| (0.7 * (j * (factor + 1)) as f64 + factor as f64).sin();
        let loadings: [f64; 3] = std::array::from_fn(wave);
        (loadings, loadings.iter().map(|l| l * l).sum::<f64>().sqrt())
    })
});

impl Stream {
    /// Returns the attributes with an effect, ascending, and the examples.
    fn open(self, seed: &Seed) -> (Vec<u32>, impl Source) {
        let step = if self.missing > 0.0 { 2 } else { 1 };
        let mut places: Vec<u32> = (0..DIM as u32).step_by(step).collect();
        places.shuffle(&mut seed.child("support").rng());
        places.truncate(self.star);
        let sizes = std::iter::once(self.first).chain(std::iter::repeat(self.effect));
        let signed = sizes.zip([1.0, -1.0].into_iter().cycle()).map(|(size, sign)| sign * size);
        let effects: Vec<(u32, f64)> = places.iter().copied().zip(signed).collect();
        let drawn = Cell::new(0);
        let law = move |rng: &mut Rng, x: &mut [f64]| {
            drawn.set(drawn.get() + 1);
            let sign = if drawn.get() > self.turn { -1.0 } else { 1.0 };
            self.row(rng, x, |x| effects.iter().map(|(j, b)| sign * b * x[*j as usize]).sum())
        };
        places.sort_unstable();
        (places, LawSource::new(DIM, u64::MAX, seed.child("data"), law))
    }

    fn row(self, rng: &mut Rng, x: &mut [f64], signal: impl Fn(&[f64]) -> f64) -> f64 {
        let mut before = normal(rng);
        let factors: [f64; 3] = std::array::from_fn(|_| normal(rng));
        for (j, x) in x.iter_mut().enumerate() {
            *x = match self.attributes {
                Attributes::Chain(rho) => {
                    before = rho * before + (1.0 - rho * rho).sqrt() * normal(rng);
                    before
                }
                Attributes::Factors => {
                    let (loadings, length) = &LOADINGS[j];
                    let common: f64 = loadings.iter().zip(factors).map(|(l, f)| l * f / length).sum();
                    (0.5f64).sqrt() * (common + normal(rng))
                }
                Attributes::HalfRare if j % 2 == 1 => f64::from(u8::from(rng.random::<f64>() < 0.02)),
                Attributes::HalfRare => normal(rng),
                Attributes::Copies(error) if j % 2 == 1 => before + error * normal(rng),
                Attributes::Copies(_) => {
                    before = normal(rng);
                    before
                }
                Attributes::HeavyTails => rng.random::<f64>().ln().powi(2),
            };
        }
        let label = signal(x) + (self.noise * normal(rng)).powi(self.power);
        if self.misread > 0.0 {
            x.iter_mut().filter(|_| rng.random::<f64>() < self.misread).for_each(|x| *x *= 20.0);
        }
        label
    }
}

/// What a run is judged by.
#[derive(Clone, Copy)]
enum Failure {
    /// The support is not the true one in the end.
    Wrong,
    /// An attribute without effect is ever in the support.
    EverBeyond,
    /// A coefficient is ever larger than that.
    EverAbove(f64),
    /// The support has changed more often than that.
    Changes(u64),
    /// The squared distance of the coefficients from the true ones is larger than that in the end; the true
    /// ones have size 1.
    Distance(f64),
}

/// A stream on which a rule is needed.
struct Case {
    rule: Rule,
    title: &'static str,
    stream: Stream,
    params: PursuitParams,
    examples: u64,
    failure: Failure,
    /// The probability that a run fails, at most.
    bound: f64,
}

fn cases() -> [Case; 15] {
    use Attributes::{Chain, Copies, Factors, HalfRare, HeavyTails};
    use Failure::{Changes, Distance, EverAbove, EverBeyond, Wrong};
    let plain = || PursuitParams::within(DIM, BUDGET);
    let forgetting = |half_life| PursuitParams { half_life: Some(half_life), ..plain() };
    let case = |rule, title, stream, examples, failure, bound| Case {
        rule,
        title,
        stream,
        params: plain(),
        examples,
        failure,
        bound,
    };
    let chain = Stream { attributes: Chain(0.7), ..PLAIN };
    let turn = Stream { turn: 2000, star: 4, ..PLAIN };
    let strong = |first| Stream { first, effect: 0.5, star: 4, attributes: Chain(0.5), ..PLAIN };
    [
        case(Rule::Drop, "chain of correlation .7", chain, 2000, Wrong, 0.15),
        Case {
            params: forgetting(500.0),
            ..case(Rule::WatchDropped, "all coefficients change their sign", turn, 4000, Wrong, 0.2)
        },
        case(
            Rule::Clip,
            "one value of 200 is misread",
            Stream { misread: 0.005, star: 4, ..PLAIN },
            3000,
            Distance(0.4),
            0.2,
        ),
        case(Rule::Wait, "chain of correlation .7", chain, 2000, EverBeyond, 0.54),
        case(
            Rule::Bound,
            "one effect of 10 beside three of .5, chain of correlation .5",
            strong(10.0),
            3000,
            Wrong,
            0.15,
        ),
        case(
            Rule::BoundOfUnvaried,
            "every other attribute is rare",
            Stream { attributes: HalfRare, effect: 3.0, first: 3.0, star: 4, ..PLAIN },
            6000,
            Wrong,
            0.2,
        ),
        case(
            Rule::Availability,
            "every other attribute is nearly always missing",
            Stream { missing: 0.98, ..PLAIN },
            2000,
            Wrong,
            0.2,
        ),
        case(
            Rule::Third,
            "three common factors",
            Stream { attributes: Factors, star: 7, ..PLAIN },
            3000,
            Wrong,
            0.06,
        ),
        Case {
            params: PursuitParams { longest: Some(3), ..plain() },
            ..case(
                Rule::Exchange,
                "six equal effects, room for three",
                Stream { star: 6, effect: 0.5, first: 0.5, ..PLAIN },
                4000,
                Changes(6),
                0.2,
            )
        },
        case(
            Rule::NoiseAfterChange,
            "one effect of 30 beside three of .5, chain of correlation .5",
            strong(30.0),
            4000,
            Wrong,
            0.26,
        ),
        Case {
            params: forgetting(150.0),
            ..case(
                Rule::Timing,
                "all coefficients change their sign, eight effects of 3",
                Stream { effect: 3.0, first: 3.0, star: 8, ..turn },
                4000,
                EverBeyond,
                0.08,
            )
        },
        Case {
            params: forgetting(150.0),
            ..case(
                Rule::Unevenness,
                "heavy tails without any effect",
                Stream { attributes: HeavyTails, power: 3, star: 0, ..PLAIN },
                3000,
                EverBeyond,
                0.1,
            )
        },
        case(
            Rule::UnevenSums,
            "chain of correlation .9",
            Stream { attributes: Chain(0.9), ..PLAIN },
            6000,
            Changes(12),
            0.15,
        ),
        case(
            Rule::Apart,
            "a copy of each attribute, and all coefficients change their sign",
            Stream { attributes: Copies(0.05), ..turn },
            4000,
            EverAbove(4.0),
            0.2,
        ),
        case(Rule::Since, "noise of a hundredth", Stream { noise: 0.01, ..PLAIN }, 2000, Distance(4e-5), 0.2),
    ]
}

impl Case {
    fn name(&self) -> String {
        let Case { title, examples, .. } = self;
        let failure = match self.failure {
            Failure::Wrong => format!("the support is wrong after {examples} examples"),
            Failure::EverBeyond => "an attribute without effect is ever in the support".to_owned(),
            Failure::EverAbove(most) => format!("a coefficient is ever above {most}"),
            Failure::Changes(most) => format!("the support changes more than {most} times"),
            Failure::Distance(most) => {
                format!("the coefficients are more than {most} from the true ones, squared")
            }
        };
        format!("{title}: {failure}")
    }

    /// Returns whether a run succeeds.
    fn succeeds(&self, without: Option<Rule>, trial: &Trial) -> anyhow::Result<bool> {
        let (truth, source) = self.stream.open(&trial.seed);
        let missing = self.stream.missing;
        let source = Gappy::new(source, move |j| if j % 2 == 1 { missing } else { 0.0 }, false, &trial.seed);
        let mut learner: Pursuit = self.params.clone().build()?;
        if let Some(rule) = without {
            learner.leave_out(rule);
        }
        let mut session = Session::new(source, Budget::PerExample(BUDGET), &trial.seed.child("algorithm"));
        let (mut changes, mut support) = (0, Vec::new());
        while session.ledger().examples < self.examples {
            session.step(&mut learner, self.examples - session.ledger().examples)?;
            if support != learner.support() {
                changes += 1;
                support = learner.support().to_vec();
            }
            let beyond = support.iter().any(|j| !truth.contains(j));
            let largest = learner.coefficients().iter().map(|(_, b)| b.abs()).fold(0.0, f64::max);
            let failed = match self.failure {
                Failure::EverBeyond => beyond,
                Failure::EverAbove(most) => largest > most,
                _ => false,
            };
            if failed {
                return Ok(false);
            }
        }
        Ok(match self.failure {
            Failure::Wrong => support == truth,
            Failure::EverBeyond | Failure::EverAbove(_) => true,
            Failure::Changes(most) => changes <= most,
            Failure::Distance(most) => {
                let coefficients = learner.coefficients();
                let square = |j: &u32| (coefficients.get(*j).abs() - 1.0).powi(2);
                truth.iter().map(square).sum::<f64>() <= most
            }
        })
    }
}

const FAULTS: [Fault<Option<Rule>>; 15] = [
    Fault::refuted("never_drops", "an attribute that is no longer significant stays", Some(Rule::Drop)),
    Fault::refuted(
        "leaves_what_it_dropped",
        "an attribute that was dropped is watched by its evidence alone",
        Some(Rule::WatchDropped),
    ),
    Fault::refuted("believes_every_value", "no value is clipped", Some(Rule::Clip)),
    Fault::refuted("never_waits", "an attribute waits for no other", Some(Rule::Wait)),
    Fault::refuted(
        "looks_by_the_effect",
        "attributes are looked at by the estimated effect, without the bound",
        Some(Rule::Bound),
    ),
    Fault::refuted(
        "gives_up_what_does_not_vary",
        "an attribute that has not varied yet counts as one that explains nothing",
        Some(Rule::BoundOfUnvaried),
    ),
    Fault::refuted(
        "ignores_availability",
        "what is seldom available is looked at as often as the rest",
        Some(Rule::Availability),
    ),
    Fault::refuted("watches_all", "all of the rest of the budget is watched, not a third", Some(Rule::Third)),
    Fault::refuted(
        "exchanges_between_equals",
        "an attribute takes the place of another one as soon as it is ahead",
        Some(Rule::Exchange),
    ),
    Fault::refuted(
        "remembers_all_errors",
        "the variance of the errors rests on all examples, also once the support has changed",
        Some(Rule::NoiseAfterChange),
    ),
    Fault::refuted(
        "ignores_when_it_looked",
        "variances do not depend on the errors at the time of the looks",
        Some(Rule::Timing),
    ),
    Fault::refuted(
        "takes_errors_for_even",
        "variances do not depend on whether large values come with large errors",
        Some(Rule::Unevenness),
    ),
    Fault::refuted(
        "takes_sums_for_even",
        "variances do not depend on whether sums rest on the same examples",
        Some(Rule::UnevenSums),
    ),
    Fault::refuted(
        "adds_copies",
        "an attribute is added however much the support explains of it",
        Some(Rule::Apart),
    ),
    Fault::refuted(
        "uses_all_examples",
        "least squares rests on all examples, also where those since the last change say more",
        Some(Rule::Since),
    ),
];

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let most = cx.size("most")?;
    let without = cx.arm(None, &FAULTS);
    let cases = cases();
    cx.split(cases.len());
    // A fault is tried where it acts.
    for case in cases.into_iter().filter(|case| without.is_none_or(|rule| rule == case.rule)) {
        cx.prob(&case.name(), case.bound, most, |trial| case.succeeds(without, trial))?;
        cx.settled()?;
    }
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "pursuit-rules",
    place: "Update: what each rule is there for",
    sentence: "Each of fifteen rules of Pursuit is needed: there is a stream of examples on which what the \
               cell says happens with at most the probability of the cell, and more often without the rule, \
               as the mutants show.",
    formula: r"P(\text{what the cell says}) \le p, \quad p = 0.06 \ldots 0.54 \text{ by cell}",
    design: "d = 60, s' = 12, 2,000 to 6,000 examples. Unless the cell says something else, attributes are \
             independent and normal, five coefficients are 1 or -1 at random places, and noise is normal \
             with variance 1. Where coefficients change their sign, they do so after 2,000 examples; the \
             half-life is 500 with four effects, 150 with eight, and there is none where attributes have \
             copies, whose errors have the standard deviation .05. Heavy tails are those of squares of \
             exponential variables, with cubes of normal noise and a half-life of 150. A rare attribute is 1 \
             in one example of fifty; its effect is 3. A misread value is 20 times the true one. Each rule \
             has a mutant without it, judged on its cell.",
    standing: Standing::ours().practical(),
    mutants: &mutants(&FAULTS),
    experiment,
};

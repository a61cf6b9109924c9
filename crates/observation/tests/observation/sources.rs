//! A source is not trusted: what each sin does to the check for authors, and to a session.

use lao_observation::testing::{check_observations, check_source};
use lao_observation::{
    Ask, BlockBuf, Budget, GradientAsk, LearnError, Learner, Rng, Scratch, Seed, Session, SessionError,
    SessionLimit, Source, SourceError, Told,
};

/// What a source does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sin {
    Nothing,
    RowsNotSet,
    SetsMoreThanItReturns,
    ReturnsMoreThanTheRoom,
    LeavesAColumnUnfilled,
    GivesNan,
    GivesAnInfiniteLabel,
    DependsOnTheRoom,
    DependsOnTheOtherAttributes,
    DrawsInSortedOrder,
    GradientCountsTooMany,
    GradientCountsEverything,
    GradientOverwrites,
    GradientForgetsTheFactorTwo,
    GradientSkipsAnExample,
    PositionStandsStill,
    SeekIsOffByOne,
    GoesOnAfterItsEnd,
    IsEmpty,
}

use Sin::*;

/// All of them, and whether a session must refuse to go on when it meets them.
const SINS: [(Sin, bool); 18] = [
    (RowsNotSet, true),
    (SetsMoreThanItReturns, true),
    (ReturnsMoreThanTheRoom, true),
    (LeavesAColumnUnfilled, false),
    (GivesNan, true),
    (GivesAnInfiniteLabel, true),
    (DependsOnTheRoom, false),
    (DependsOnTheOtherAttributes, false),
    (DrawsInSortedOrder, false),
    (GradientCountsTooMany, true),
    (GradientCountsEverything, true),
    (GradientOverwrites, false),
    (GradientForgetsTheFactorTwo, false),
    (GradientSkipsAnExample, false),
    (PositionStandsStill, false),
    (SeekIsOffByOne, false),
    (GoesOnAfterItsEnd, false),
    (IsEmpty, true),
];

const DIM: usize = 6;

/// `x_j` of example `i` is a number that tells both; 50 examples.
struct Sinner {
    sin: Sin,
    at: u64,
    dry: bool,
}

fn value(i: u64, j: u32) -> f64 {
    ((i * 37 + u64::from(j) * 11) % 23) as f64 / 8.0 - 1.0
}

fn label(i: u64) -> f64 {
    (i % 7) as f64 - 2.0
}

impl Sinner {
    fn new(sin: Sin) -> Self {
        Sinner { sin, at: 0, dry: false }
    }
}

impl Source for Sinner {
    fn dim(&self) -> usize {
        if self.sin == IsEmpty { 0 } else { DIM }
    }

    fn observe(&mut self, attributes: &[u32], block: &mut BlockBuf) -> Result<usize, SourceError> {
        let goes_on = self.sin == GoesOnAfterItsEnd && self.dry;
        let end = if goes_on { 60 } else { 50 };
        let rows = block.capacity().min(end - self.at as usize);
        self.dry |= rows == 0;
        for row in 0..rows {
            let i = self.at + row as u64;
            for (c, &j) in attributes.iter().enumerate() {
                let shift = match self.sin {
                    DependsOnTheRoom if block.capacity() > 5 => 1.0,
                    DependsOnTheOtherAttributes if attributes.len() < 4 => 1.0,
                    _ => 0.0,
                };
                let unfilled = self.sin == LeavesAColumnUnfilled && c == 2;
                if !unfilled {
                    block.column_mut(c)[row] = value(i, j) + shift;
                }
                if self.sin == GivesNan && i == 20 && c == 1 {
                    block.column_mut(c)[row] = f64::NAN;
                }
            }
            block.labels_mut()[row] = label(i);
            if self.sin == GivesAnInfiniteLabel && i == 20 {
                block.labels_mut()[row] = f64::NEG_INFINITY;
            }
        }
        if self.sin != RowsNotSet {
            block.set_rows(rows + usize::from(self.sin == SetsMoreThanItReturns && rows < block.capacity()));
        }
        if self.sin != PositionStandsStill {
            self.at += rows as u64;
        }
        Ok(if self.sin == ReturnsMoreThanTheRoom && rows > 0 { rows + 3 } else { rows })
    }

    fn observe_draws(
        &mut self,
        draws: &[u32],
        block: &mut BlockBuf,
        scratch: &mut Scratch,
    ) -> Result<usize, SourceError> {
        let mut draws = draws.to_vec();
        if self.sin == DrawsInSortedOrder {
            draws.sort_unstable();
        }
        lao_observation::source::observe_draws_sorted(self, &draws, block, scratch)
    }

    fn gradient(
        &mut self,
        ask: GradientAsk<'_>,
        sum: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<u64, SourceError> {
        if self.sin == GradientOverwrites {
            sum.fill(0.0);
        }
        if self.sin == GradientSkipsAnExample && ask.examples > 3 {
            self.at = (self.at + 1).min(50);
        }
        let before = sum.to_vec();
        let served = lao_observation::source::gradient_by_blocks(self, ask, sum, scratch)?;
        if self.sin == GradientForgetsTheFactorTwo {
            sum.iter_mut().zip(before).for_each(|(sum, before)| *sum = before + (*sum - before) / 2.0);
        }
        Ok(match self.sin {
            GradientCountsTooMany if served > 0 => ask.examples + 1,
            GradientCountsEverything if served > 0 => u64::MAX,
            _ => served,
        })
    }

    fn position(&self) -> u64 {
        self.at
    }

    fn seek(&mut self, position: u64) -> Result<(), SourceError> {
        if position > 50 {
            return Err(SourceError::Seek { position, end: 50 });
        }
        self.at = if self.sin == SeekIsOffByOne { (position + 1).min(50) } else { position };
        Ok(())
    }
}

/// Asks for values or gradients in turn, and checks that all it is told is finite and no more than it asked
/// for.
struct Watcher {
    round: u64,
    theta: SparseVector,
}

use lao_kernels::{SparseVector, SparseView};

impl Learner for Watcher {
    fn dim(&self) -> usize {
        DIM
    }

    fn ask(&mut self, _: &mut Rng, ask: &mut Ask) {
        match self.round % 3 {
            0 => ask.values(4).extend([0, 1, 2, 4]),
            1 => ask.values(1).extend([4, 1, 1, 0]),
            _ => ask.gradient(self.theta.view(), [0, 3, 5], 4),
        }
    }

    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        match told {
            Told::Values(block) => {
                assert!((1..=4).contains(&block.rows()));
                let numbers =
                    (0..block.attributes().len()).flat_map(|c| block.column(c)).chain(block.labels());
                assert!(numbers.into_iter().all(|number| number.is_finite()));
            }
            Told::Gradient(part) => assert!((1..=4).contains(&part.examples)),
        }
        self.round += 1;
        Ok(())
    }

    fn coefficients(&self) -> SparseView<'_> {
        self.theta.view()
    }

    fn updates(&self) -> u64 {
        self.round
    }
}

fn watch(sin: Sin) -> Result<u64, SessionError> {
    let mut session = Session::new(Sinner::new(sin), Budget::Unlimited, &Seed::root(1));
    let theta = SparseVector::new(DIM, vec![1], vec![0.5]).unwrap();
    let outcome = session.run(&mut Watcher { round: 0, theta }, SessionLimit::after_examples(200), |_, _| {});
    let examples = session.ledger().examples;
    assert!(examples <= 200, "{sin:?}: the ledger counts {examples}");
    outcome.map(|_| examples)
}

#[test]
fn an_honest_source_passes() {
    check_source(|| Sinner::new(Nothing)).unwrap();
    assert_eq!(watch(Nothing).unwrap(), 50);
}

#[test]
fn every_sin_is_noticed_by_the_check_for_authors() {
    for (sin, _) in SINS {
        let fault = check_source(|| Sinner::new(sin)).map_err(|fault| fault.to_string());
        assert!(fault.is_err(), "{sin:?} was not noticed");
    }
}

#[test]
fn the_check_of_observations_notices_all_but_the_sins_of_gradients() {
    check_observations(|| Sinner::new(Nothing)).unwrap();
    for (sin, _) in SINS {
        let of_gradients = format!("{sin:?}").starts_with("Gradient");
        let noticed = check_observations(|| Sinner::new(sin)).is_err();
        assert_eq!(noticed, !of_gradients, "{sin:?}");
    }
}

#[test]
fn a_session_refuses_wrong_numbers_of_rows_and_what_is_not_finite() {
    for (sin, refused) in SINS {
        let outcome = watch(sin);
        assert_eq!(outcome.is_err(), refused, "{sin:?}: {outcome:?}");
        if let Err(error) = outcome {
            let text = error.to_string();
            let fault = ["the source", "must be finite"].iter().any(|part| text.contains(part));
            assert!(fault, "{sin:?}: {text}");
        }
    }
}

#[test]
fn an_error_names_the_example_the_attribute_and_the_value() {
    let text = watch(GivesNan).unwrap_err().to_string();
    assert!(text.contains("attribute 1 of example 20 is NaN"), "{text}");
    let text = watch(GivesAnInfiniteLabel).unwrap_err().to_string();
    assert!(text.contains("label of example 20 is -inf"), "{text}");
    let text = watch(RowsNotSet).unwrap_err().to_string();
    assert!(text.contains("returned 4") && text.contains("set 0") && text.contains("set_rows"), "{text}");
}

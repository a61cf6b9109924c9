//! Introduction: the algorithms "run in linear time".
//!
//! *Statement.* Work is proportional to the number of attributes observed: m examples cost `O(m (k + 1))`, up
//! to the logarithm of d that a draw by weight takes, beside O(d) for setting up and for the output. The
//! listings themselves touch all d coordinates in every round (a scaling, a sum, a draw); the library does
//! not.
//!
//! *What is counted.* No seconds: the result would depend on the machine. Four counts of the production code,
//! the same on every run: attribute values read, by a meter on the source; numbers of the learner's state
//! that an example changes, by comparing its serialized form before and after; sums visited by the
//! [`SumTree`], which is where both methods keep norms and draw from, through a number that counts its
//! additions; and the size of the state. A pass that only reads, outside that tree, and changes nothing is
//! not seen here: benches time that.

use lao_algorithms::hazan_koren::{AelrParams, AerrParams, Horizon};
use lao_observation::sample::{BLOCK, SumTree};
use lao_observation::{Ask, Budget, LearnError, Learner, Rng, Seed, Session, Source, Told};
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::Context;
use lao_verification_engine::instance::{LawSource, Metered, numbers_within};
use lao_verification_engine::judge::PropertyTally;
use lao_verification_engine::mutants::{Overreach, Overreaches};
use rand::RngExt;
use serde::Serialize;
use serde_json::Value;
use std::cell::Cell;
use std::ops::AddAssign;

const DIMS: [usize; 3] = [1 << 7, 1 << 10, 1 << 13];
const DRAWS: [usize; 3] = [4, 16, 64];

/// A learner that does, on the side, what it should not.
#[derive(Serialize)]
struct Wasteful<L> {
    learner: L,
    /// Scaled in every step.
    dense: Vec<f64>,
    keeps: bool,
    kept: Vec<f64>,
    /// An entry for each pair of values told, if the learner forms pairs.
    pairs: Option<Vec<f64>>,
}

impl<L: Learner> Learner for Wasteful<L> {
    lao_verification_engine::hand_on!(learner: dim coefficients updates);

    fn ask(&mut self, rng: &mut Rng, ask: &mut Ask) {
        self.learner.ask(rng, ask);
    }
    fn tell(&mut self, told: Told<'_>) -> Result<(), LearnError> {
        self.dense.iter_mut().for_each(|x| *x *= 0.999);
        if let Told::Values(block) = told
            && self.keeps
        {
            self.kept.extend(block.single().into_iter().flat_map(|example| example.seen.values));
        }
        if let (Told::Values(block), Some(pairs)) = (told, &mut self.pairs) {
            pairs.resize(block.attributes().len().pow(2), 0.0);
            pairs.iter_mut().for_each(|pair| *pair += 1.0);
        }
        self.learner.tell(told)
    }
}

/// How many numbers differ between two states of one learner.
fn changed(before: &Value, after: &Value) -> usize {
    match (before, after) {
        (Value::Array(a), Value::Array(b)) => {
            let longer = if a.len() > b.len() { &a[b.len()..] } else { &b[a.len()..] };
            let common: usize = a.iter().zip(b).map(|(a, b)| changed(a, b)).sum();
            common + longer.iter().map(numbers_within).sum::<usize>()
        }
        (Value::Object(a), Value::Object(b)) => {
            a.iter().filter_map(|(key, a)| Some(changed(a, b.get(key)?))).sum()
        }
        (a, b) => usize::from(a != b),
    }
}

/// What the examples of a run cost.
struct Work {
    /// Numbers of the state that each example changed.
    changed: Vec<usize>,
    /// Most values read of one example.
    read: u64,
    /// Numbers in the state after the first example and after the last.
    state: [usize; 2],
}

const SCALES_ALL_COORDINATES: Mutant =
    Mutant::refuted("scales_all_coordinates", "every step multiplies d numbers");
const SCANS_ALL_WEIGHTS: Mutant = Mutant::refuted("scans_all_weights", "draws j by running over all weights");
const READS_EVERY_ATTRIBUTE: Mutant =
    Mutant::refuted("reads_every_attribute", "looks at all attributes of every example");
const FORMS_PAIRS: Mutant =
    Mutant::refuted("forms_pairs", "updates a number for each pair of attributes read");
const REBUILDS_THE_SUMS: Mutant =
    Mutant::refuted("rebuilds_the_sums", "adds up all sums of the tree anew after a step");
const KEEPS_WHAT_IT_WAS_TOLD: Mutant =
    Mutant::refuted("keeps_what_it_was_told", "the learner stores every value that it was told");

fn work<L: Learner + Serialize>(
    cx: &Context<'_>,
    learner: L,
    examples: u64,
    seed: &Seed,
) -> anyhow::Result<Work> {
    let dim = learner.dim();
    let law = |rng: &mut Rng, x: &mut [f64]| {
        let size = 1.0 / (x.len() as f64).sqrt();
        x.fill_with(|| if rng.random() { size } else { -size });
        x[0].signum()
    };
    let source = Metered::new(LawSource::new(dim, examples, seed.child("data"), law));
    let dense = if cx.commits(&SCALES_ALL_COORDINATES) { vec![1.0; dim] } else { Vec::new() };
    let keeps = cx.commits(&KEEPS_WHAT_IT_WAS_TOLD);
    let pairs = cx.commits(&FORMS_PAIRS).then(Vec::new);
    let learner = Wasteful { learner, dense, keeps, kept: Vec::new(), pairs };
    if cx.commits(&READS_EVERY_ATTRIBUTE) {
        let source = Overreaches::new(source, Overreach::All);
        watch(source, learner, examples, seed, |source| source.inner().values())
    } else {
        watch(source, learner, examples, seed, Metered::values)
    }
}

fn watch<S: Source, L: Learner + Serialize>(
    source: S,
    mut learner: L,
    examples: u64,
    seed: &Seed,
    values: impl Fn(&S) -> u64,
) -> anyhow::Result<Work> {
    let mut session = Session::new(source, Budget::Unlimited, &seed.child("algorithm"));
    let (mut all, mut read, mut seen) = (Vec::new(), 0, 0);
    let (mut before, mut first) = (serde_json::to_value(&learner)?, 0);
    for number in 0..examples {
        session.step(&mut learner, 1)?;
        let after = serde_json::to_value(&learner)?;
        all.push(changed(&before, &after));
        before = after;
        let total = values(session.source());
        read = read.max(total - seen);
        seen = total;
        if number == 0 {
            first = numbers_within(&before);
        }
    }
    Ok(Work { changed: all, read, state: [first, numbers_within(&before)] })
}

/// Both methods on the same shape.
fn both(cx: &Context<'_>, dim: usize, draws: usize, examples: u64) -> anyhow::Result<[Work; 2]> {
    let seed = cx.seed("work").trial(dim as u64).trial(draws as u64);
    let (aerr, aelr) = (
        AerrParams::from_theorem(Horizon { dim, draws, radius: 1.0, examples }).build()?,
        AelrParams::from_theorem(Horizon { dim, draws, radius: 1.0, examples }).build()?,
    );
    Ok([work(cx, aerr, examples, &seed)?, work(cx, aelr, examples, &seed)?])
}

/// Numbers that one example may change.
fn limit(draws: usize) -> f64 {
    20.0 * (draws + 1) as f64 + 40.0
}

/// Slope of the least squares line of the logarithms.
fn slope(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let (x, y) = (logs.iter().map(|p| p.0).sum::<f64>() / n, logs.iter().map(|p| p.1).sum::<f64>() / n);
    let along: f64 = logs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    along / logs.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>()
}

thread_local! {
    static VISITS: Cell<u64> = const { Cell::new(0) };
}

fn visit() {
    VISITS.with(|visits| visits.set(visits.get() + 1));
}

/// A number that counts its additions.
#[derive(Clone, Copy, Default)]
struct Counted(f64);

impl AddAssign for Counted {
    fn add_assign(&mut self, other: Counted) {
        visit();
        self.0 += other.0;
    }
}

/// What a fault makes of the tree of sums.
#[derive(Clone, Copy)]
struct Tree {
    scans: bool,
    rebuilds: bool,
}

/// Visits of a draw, at most, and of a change of `draws + 1` entries with the sum that follows it.
fn tree(wrong: Tree, dim: usize, draws: usize, rng: &mut Rng) -> anyhow::Result<[u64; 2]> {
    let mut tree = SumTree::<Counted>::new(dim);
    tree.set_all(|_| Counted(BLOCK as f64));
    let count = |work: &mut dyn FnMut()| {
        VISITS.with(|visits| visits.set(0));
        work();
        VISITS.with(Cell::get)
    };
    let (mut most, mut found) = ([0, 0], Ok(0));
    for _ in 0..32 {
        let target = rng.random::<f64>() * dim as f64;
        let draw = count(&mut || {
            if wrong.scans {
                let mut left = target;
                found = Ok((0..dim)
                    .take_while(|_| {
                        visit();
                        left -= 1.0;
                        left > 0.0
                    })
                    .count());
            } else {
                let node = |sum: &Counted| {
                    visit();
                    sum.0
                };
                let entries = |block: usize| {
                    std::array::from_fn(|i| {
                        visit();
                        if block * BLOCK + i < dim { 1.0 } else { 0.0 }
                    })
                };
                found = tree.locate(target, node, entries);
            }
        });
        anyhow::ensure!(found == Ok(target as usize), "found {found:?} for {target}");
        let change = count(&mut || {
            (0..=draws).for_each(|i| tree.add(i * dim / (draws + 1), Counted(0.0)));
            if wrong.rebuilds {
                (0..dim).for_each(|j| tree.add(j, Counted(0.0)));
            }
            tree.set_block(0, Counted(BLOCK as f64));
            tree.total();
        });
        most = [most[0].max(draw), most[1].max(change)];
    }
    Ok(most)
}

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    cx.split(9);
    let rng = &mut cx.seed("tree").child("algorithm").rng();
    let (mut draw, mut change) = (PropertyTally::new(), PropertyTally::new());
    let wrong = Tree { scans: cx.commits(&SCANS_ALL_WEIGHTS), rebuilds: cx.commits(&REBUILDS_THE_SUMS) };
    for dim in [1 << 7, 1 << 10, 1 << 14, 1 << 17, 1 << 20] {
        for draws in DRAWS {
            let [of_draw, of_change] = tree(wrong, dim, draws, rng)?;
            draw.check(of_draw as f64, (3 * 64 + BLOCK) as f64);
            // Three levels, two blocks of them added up anew, and the sum of the coarsest.
            change.check(of_change as f64, (3 * (draws + 1) + 2 * 64 + 64 + 7) as f64);
        }
    }
    cx.judge("visits of a draw, d up to 2^20", draw.finish());
    cx.judge("visits of a step and a norm, d up to 2^20", change.finish());
    cx.settled()?;
    let of_shape = cx.size("of_shape")?;
    let [mut read, mut changes, mut by_dim, mut by_draws, mut size, mut growth]: [PropertyTally; 6] =
        std::array::from_fn(|_| PropertyTally::new());
    let mut means = vec![[[0.0; 2]; DIMS.len()]; DRAWS.len()];
    for (row, draws) in DRAWS.into_iter().enumerate() {
        for (column, dim) in DIMS.into_iter().enumerate() {
            for (method, work) in both(cx, dim, draws, of_shape)?.into_iter().enumerate() {
                let Work { changed, read: values, state: [early, late] } = work;
                read.check(values as f64, (draws + 1) as f64);
                changed.iter().for_each(|&changed| _ = changes.check(changed as f64, limit(draws)));
                means[row][column][method] = changed.iter().sum::<usize>() as f64 / changed.len() as f64;
                size.check(late as f64, 5.0 * dim as f64 + limit(draws));
                growth.check(late as f64, early as f64);
            }
        }
    }
    for method in 0..2 {
        for row in &means {
            let line: Vec<_> = DIMS.iter().zip(row).map(|(&dim, of)| (dim as f64, of[method])).collect();
            by_dim.check(slope(&line), 0.15);
        }
        for column in 0..DIMS.len() {
            let line = DRAWS.iter().zip(&means).map(|(&draws, row)| (draws as f64, row[column][method]));
            by_draws.check(slope(&line.collect::<Vec<_>>()), 1.1);
        }
    }
    for (place, name) in ["AERR", "AELR"].iter().enumerate() {
        let per_attribute = means[2][2][place] / (DRAWS[2] + 1) as f64;
        cx.note(&format!("{name}: numbers changed per attribute read, d = 8,192, k = 64"), per_attribute);
    }
    cx.judge("values read of an example: at most k + 1", read.finish());
    cx.judge("numbers changed by an example: at most 20 (k+1) + 40", changes.finish());
    cx.judge("numbers changed: exponent of d at most 0.15", by_dim.finish());
    cx.judge("numbers changed: exponent of k at most 1.1", by_draws.finish());
    cx.judge("size of the state: at most 5 d + 20 (k+1) + 40", size.finish());
    cx.judge("size of the state does not grow with examples", growth.finish());
    cx.settled()?;

    let (mut linear, examples) = (PropertyTally::new(), cx.size("examples")?);
    for work in both(cx, 128, 4, examples)? {
        let half = work.changed.len() / 2;
        let [first, second] =
            [&work.changed[..half], &work.changed[half..]].map(|part| part.iter().sum::<usize>() as f64);
        linear.check(second, 1.1 * first);
        linear.check(first + second, limit(4) * examples as f64);
    }
    cx.judge("numbers changed are proportional to m", linear.finish());
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "hk12-linear-time",
    place: "Section 1",
    sentence: "AERR and AELR do work in proportion to the attributes they observe, whatever the dimension, \
               and keep a state in proportion to the dimension, however many examples they have seen.",
    formula: r"\text{work} \le (20 (k + 1) + 40) \, m, \qquad \text{visits of a draw} = O(\log d),
               \qquad \text{state} = O(d)",
    design: "d = 2^7, 2^10, 2^13, k = 4, 16, 64, the theorems' step sizes, a few examples each; 1,000 \
             examples at d = 128; trees up to 2^20 entries. Limits are fixed from the data structures: 17 \
             numbers per attribute seen (draws, step, entry, two levels of two sums), rounded up to 20, and \
             40 besides; three levels of 64 and a block of 8 visits of a draw.",
    standing: Standing::sound(),
    mutants: &[
        SCALES_ALL_COORDINATES,
        READS_EVERY_ATTRIBUTE,
        FORMS_PAIRS,
        KEEPS_WHAT_IT_WAS_TOLD,
        SCANS_ALL_WEIGHTS,
        REBUILDS_THE_SUMS,
    ],
    experiment,
};

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn changes_are_counted_entry_by_entry() {
        let before = json!({ "a": [1.0, 2.0], "b": [{ "c": 1 }, { "c": 2 }], "d": true });
        let after = json!({ "a": [1.0, 3.0, 4.0], "b": [{ "c": 0 }, { "c": 2 }], "d": true });
        assert_eq!((changed(&before, &after), changed(&after, &before)), (3, 3));
        assert_eq!((changed(&before, &before), numbers_within(&after)), (0, 5));
    }
}

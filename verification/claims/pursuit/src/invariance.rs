//! Names and units of attributes and label change nothing.
//!
//! *Why.* All that Pursuit decides by is free of units (`z_j`, and bounds in units of the label that are
//! compared with one another), and means are subtracted. Only the random order, which decides between
//! equals, depends on names. So the order is permuted as the names are, in the stored form of the learner,
//! which is a public interface; everything must then be equal, up to rounding.

use crate::setup::faulty::Changed;
use crate::setup::{Law, Scene};
use lao_algorithms::pursuit::{Pursuit, PursuitParams};
use lao_observation::{Ask, BlockBuf, Budget, Learner as _, Rng, Seed, Session, SessionLimit, Source};
use lao_verification_engine::claim::{Claim, Mutant, Standing};
use lao_verification_engine::context::Context;
use lao_verification_engine::judge::{PropertyTally, exact_all};
use rand::RngExt as _;
use rand::seq::SliceRandom as _;

const DIM: usize = 60;
const BUDGET: usize = 12;
const EXAMPLES: u64 = 2000;
/// The number of examples after which the faulty source changes.
const CHANGE_AFTER: u64 = 100;
/// The largest difference of coefficients, in units of the label.
const ROUNDING: f64 = 1e-6;

/// What is changed.
#[derive(Clone, Copy, PartialEq)]
enum Change {
    Names,
    Locations,
    Scales,
    All,
}

const CHANGES: [(&str, Change); 4] = [
    ("names permuted", Change::Names),
    ("attributes and label shifted", Change::Locations),
    ("attributes and label rescaled", Change::Scales),
    ("all three", Change::All),
];

/// New names and units: attribute `j` becomes `shift[j] + scale[j] x_j` and is called `name[j]`; the label
/// has the last shift and scale.
#[derive(Clone)]
struct Units {
    name: Vec<u32>,
    /// The attribute of each name.
    of: Vec<u32>,
    shift: Vec<f64>,
    scale: Vec<f64>,
}

impl Units {
    fn draw(change: Change, rng: &mut Rng) -> Self {
        let mut name: Vec<u32> = (0..DIM as u32).collect();
        let (mut shift, mut scale) = (vec![0.0; DIM + 1], vec![1.0; DIM + 1]);
        if matches!(change, Change::Names | Change::All) {
            name.shuffle(rng);
        }
        if matches!(change, Change::Locations | Change::All) {
            shift.fill_with(|| rng.random_range(-100.0..100.0));
        }
        if matches!(change, Change::Scales | Change::All) {
            // From a thousandth to a thousand, of either sign.
            scale.fill_with(|| {
                let size = 10f64.powf(rng.random_range(-3.0..3.0));
                if rng.random() { size } else { -size }
            });
        }
        Units { of: inverse(&name), name, shift, scale }
    }

    /// Other units of the same kind.
    fn changed(&self, change: Change) -> Self {
        let mut units = self.clone();
        if matches!(change, Change::Names | Change::All) {
            units.name.rotate_left(7);
            units.of = inverse(&units.name);
        }
        if matches!(change, Change::Locations | Change::All) {
            units.shift.iter_mut().zip(&self.scale).for_each(|(shift, scale)| *shift += 5.0 * scale);
        }
        if matches!(change, Change::Scales | Change::All) {
            units.scale.iter_mut().step_by(2).for_each(|scale| *scale *= 30.0);
        }
        units
    }
}

fn inverse(name: &[u32]) -> Vec<u32> {
    let mut of = vec![0; name.len()];
    (0..).zip(name).for_each(|(j, &name)| of[name as usize] = j);
    of
}

/// Returns the examples of `inner` with new names and units, and others from an example on.
fn renamed<S: Source>(inner: S, units: Units, then: Option<Units>) -> Changed<S> {
    Changed::new(inner, move |inner, attributes, block| {
        let first = inner.position();
        let before = first < CHANGE_AFTER;
        let units = then.as_ref().filter(|_| !before).unwrap_or(&units);
        // A block does not reach beyond the change.
        let room = if before {
            (CHANGE_AFTER - first).min(block.capacity() as u64) as usize
        } else {
            block.capacity()
        };
        let mut places: Vec<(u32, usize)> =
            attributes.iter().enumerate().map(|(c, &name)| (units.of[name as usize], c)).collect();
        places.sort_unstable();
        let asked: Vec<u32> = places.iter().map(|(j, _)| *j).collect();
        let mut seen = BlockBuf::new();
        seen.reset(asked.len(), room);
        let rows = inner.observe(&asked, &mut seen)?;
        let view = seen.view(&asked);
        for (column, &(j, c)) in places.iter().enumerate() {
            let (shift, scale) = (units.shift[j as usize], units.scale[j as usize]);
            let told = block.column_mut(c)[..rows].iter_mut().zip(view.column(column));
            told.for_each(|(told, x)| *told = shift + scale * x);
        }
        let told = block.labels_mut()[..rows].iter_mut().zip(view.labels());
        told.for_each(|(told, y)| *told = units.shift[DIM] + units.scale[DIM] * y);
        block.set_rows(rows);
        Ok(rows)
    })
}

/// What was known after an update: the support, then all coefficients and the intercept.
struct Known {
    support: Vec<u32>,
    numbers: Vec<f64>,
}

/// What was known after each update, in the names and units of the learner's source.
fn path(source: impl Source, learner: &mut Pursuit, seed: &Seed) -> anyhow::Result<Vec<Known>> {
    let mut known = Vec::new();
    let mut session = Session::new(source, Budget::PerExample(BUDGET), seed);
    session.run(learner, SessionLimit::after_examples(EXAMPLES), |_, learner| {
        let mut numbers = learner.coefficients().to_dense();
        numbers.push(learner.intercept());
        known.push(Known { support: learner.support().to_vec(), numbers });
    })?;
    Ok(known)
}

/// Translates what was known under new names and in new units into the old ones.
fn translate(known: &mut Known, units: &Units) {
    known.support.iter_mut().for_each(|name| *name = units.of[*name as usize]);
    known.support.sort_unstable();
    let of_label = units.scale[DIM];
    let told = std::mem::take(&mut known.numbers);
    let mut intercept = told[DIM] - units.shift[DIM];
    for j in 0..DIM {
        let coefficient = told[units.name[j] as usize];
        intercept += coefficient * units.shift[j];
        known.numbers.push(coefficient * units.scale[j] / of_label);
    }
    known.numbers.push(intercept / of_label);
}

/// The learner with the places of its random order given to other names.
fn permuted(learner: &Pursuit, name: &[u32]) -> anyhow::Result<Pursuit> {
    let mut stored = serde_json::to_value(learner)?;
    let order: Vec<u32> = serde_json::from_value(stored["order"].clone())?;
    let mut renamed = vec![0; DIM];
    name.iter().zip(order).for_each(|(&name, place)| renamed[name as usize] = place);
    stored["order"] = serde_json::to_value(renamed)?;
    // The first block is chosen again, by the new order.
    stored["asked"] = serde_json::json!([]);
    stored["values"] = serde_json::json!([]);
    Ok(serde_json::from_value(stored)?)
}

const UNITS_CHANGE: Mutant =
    Mutant::refuted("units_change_midway", "names, locations or scales change after 100 examples");
const ORDER_STAYS: Mutant =
    Mutant::refuted("order_stays", "the random order is not permuted when the names are");

fn experiment(cx: &mut Context<'_>) -> anyhow::Result<()> {
    let (changes_midway, order_stays) = (cx.commits(&UNITS_CHANGE), cx.commits(&ORDER_STAYS));
    cx.split(2 * CHANGES.len());
    for (title, change) in CHANGES {
        let pairs = cx.all_trials(title, cx.size("runs")?, |trial| {
            let law = if trial.number % 2 == 0 { Law::Independent } else { Law::Chain(0.5) };
            let scene = Scene { law, dim: DIM, star: 5, noise: 1.0 };
            let units = Units::draw(change, &mut trial.seed.child("units").rng());
            let mut learner = PursuitParams::within(DIM, BUDGET).build()?;
            // The first ask draws the order.
            learner.ask(&mut trial.seed.child("order").rng(), &mut Ask::new(DIM));
            let mut other = if order_stays { learner.clone() } else { permuted(&learner, &units.name)? };
            let plain = path(scene.examples(&trial.seed)?, &mut learner, &trial.seed)?;
            let then = changes_midway.then(|| units.changed(change));
            let source = renamed(scene.examples(&trial.seed)?, units.clone(), then);
            let mut renamed = path(source, &mut other, &trial.seed)?;
            renamed.iter_mut().for_each(|known| translate(known, &units));
            Ok((plain, renamed))
        })?;
        let (mut supports, mut numbers, mut found) = (PropertyTally::new(), Vec::new(), 0);
        for (plain, renamed) in &pairs {
            anyhow::ensure!(
                plain.len() == renamed.len(),
                "the learners have made different numbers of updates"
            );
            for (plain, renamed) in plain.iter().zip(renamed) {
                let differ = |a: &[u32], b: &[u32]| a.iter().filter(|j| !b.contains(j)).count();
                let (a, b) = (&plain.support, &renamed.support);
                supports.check((differ(a, b) + differ(b, a)) as f64, 0.0);
                numbers.extend(renamed.numbers.iter().copied().zip(plain.numbers.iter().copied()));
            }
            found += plain.last().map_or(0, |known| known.support.len());
        }
        anyhow::ensure!(found >= 4 * pairs.len(), "nothing is found, so nothing is compared");
        cx.judge(
            &format!("{title}: attributes in which the supports differ, after each update"),
            supports.finish(),
        );
        cx.judge(
            &format!("{title}: coefficients and intercept after each update"),
            exact_all(numbers, ROUNDING),
        );
        cx.settled()?;
    }
    Ok(())
}

/// The claim.
pub const CLAIM: Claim = Claim {
    id: "pursuit-invariance",
    place: "Names and units",
    sentence: "Permuting the attributes, and shifting and rescaling attributes and label, changes nothing \
               but names and units: the supports after every update are equal, and so are the coefficients \
               and the intercept, up to rounding.",
    formula: r"x'_{\pi(j)} = a_j + b_j x_j, \; y' = a + b y \;\Rightarrow\; S'_t = \pi(S_t), \;
               \theta'_{t, \pi(j)} = \frac{b}{b_j} \theta_{t, j}",
    design: "d = 60, s' = 12, 5 coefficients of 1 and -1 in noise of variance 1; independent normal \
             attributes and a chain in which neighbors have correlation .5, in turn; 2,000 examples, \
             compared after each update. Shifts are up to 100 standard deviations, scales from a \
             thousandth to a thousand, of either sign. The random order of the learner is permuted as the \
             names are. Coefficients are compared in the old units, to 1e-6. A run in which nothing is \
             found is an error, as all methods agree on nothing.",
    standing: Standing::ours(),
    mutants: &[UNITS_CHANGE, ORDER_STAYS],
    experiment,
};

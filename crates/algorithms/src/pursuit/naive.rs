//! Choices about money, written down a second time as the docs of [Pursuit](super) have them, with several
//! candidates for each: many panels, fees that panels share, prices of 0, and equal bounds.

use super::{ALIKE, LARGEST_BOUND, LEAST_SEEN, Pursuit, PursuitParams};
use crate::money::Money;
use lao_observation::{Ask, BlockBuf, Learner as _, Request, Rng, Seed, Tariff, Told};
use rand::RngExt as _;
use std::collections::BTreeSet;

const DIM: usize = 24;

/// Returns panels of one to four attributes, of which some share a fee; some cost nothing.
fn tariff(rng: &mut Rng) -> Tariff {
    let mut panels: Vec<u32> = Vec::new();
    let mut count = 0;
    while panels.len() < DIM {
        let size = rng.random_range(1..=4).min(DIM - panels.len());
        panels.extend(std::iter::repeat_n(count, size));
        count += 1;
    }
    let price = |rng: &mut Rng| if rng.random_range(0..6) == 0 { 0.0 } else { rng.random_range(1.0..9.0) };
    let prices = (0..count).map(|_| price(rng)).collect();
    let visits = [(2.0, (0..count / 3).collect()), (5.0, (count / 3..count / 2).collect())];
    Tariff::with_panels(panels, prices).unwrap().with_fees(&visits).unwrap()
}

/// What these attributes cost of one example: each panel once, and each fee once.
fn cost(tariff: &Tariff, attributes: &BTreeSet<u32>) -> f64 {
    let panels: BTreeSet<u32> = attributes.iter().map(|&j| tariff.panel(j).unwrap()).collect();
    let fees: BTreeSet<u32> = panels.iter().filter_map(|&panel| tariff.fee(panel)).collect();
    panels.iter().chain(&fees).map(|&place| tariff.prices()[place as usize]).sum()
}

/// The attributes that the next block observes.
fn observed(learner: &Pursuit) -> BTreeSet<u32> {
    let Pursuit { params, support, pool, interest, order, .. } = learner;
    let money = params.money.as_ref().unwrap();
    let tariff = &money.tariff;
    let mut bought: BTreeSet<u32> = support.iter().chain(pool).copied().collect();
    let mut open: BTreeSet<u32> = tariff.panels().collect();
    let may = |j: &u32| !params.never.contains(j);
    while bought.len() < params.budget {
        let now = cost(tariff, &bought);
        let mut best: Option<(f64, u32, u32, Vec<u32>)> = None;
        for &panel in &open {
            let mut members: Vec<u32> =
                tariff.members(panel).iter().copied().filter(|j| may(j) && !bought.contains(j)).collect();
            members.sort_by_key(|&j| order[j as usize]);
            let Some(first) = members.first().map(|&j| order[j as usize]) else { continue };
            let with = bought.iter().chain(&members).copied().collect();
            let price = cost(tariff, &with) - now;
            // What costs more than a prediction may is never observed, beside what is paid from the start.
            let watched: BTreeSet<u32> = support.iter().chain(pool).copied().collect();
            let alone = watched.iter().chain(&members).copied().collect();
            if cost(tariff, &alone) - cost(tariff, &watched) > params.most_per_prediction() * (1.0 + 1e-9) {
                continue;
            }
            let squares = members.iter().map(|&j| interest[j as usize].min(LARGEST_BOUND).powi(2));
            let worth = squares.sum::<f64>().sqrt() / price.max(1e-12 * money.per_example).sqrt();
            let is_ahead = best.as_ref().is_none_or(|(most, place, ..)| {
                worth > *most * (1.0 + 1e-12) || (worth >= *most * (1.0 - 1e-12) && first < *place)
            });
            if is_ahead {
                best = Some((worth, first, panel, members));
            }
        }
        let Some((_, _, panel, members)) = best else { break };
        open.remove(&panel);
        let with: BTreeSet<u32> = bought.iter().chain(&members).copied().collect();
        if cost(tariff, &with) <= money.per_example * (1.0 + 1e-9) {
            // The lowest ones, if the budget ends within a panel.
            let room = params.budget - bought.len();
            let lowest: BTreeSet<u32> = members.into_iter().collect();
            bought.extend(lowest.into_iter().take(room));
        }
    }
    bought
}

/// The cheapest attribute that may take the place of one of the support: one of which that explains nine
/// tenths, and that costs less beside the support.
fn cheaper(learner: &Pursuit, j: u32) -> Option<f64> {
    let Pursuit { params, support, moments, .. } = learner;
    let tariff = &params.money.as_ref().unwrap().tariff;
    let rest: BTreeSet<u32> = support.iter().copied().filter(|&other| other != j).collect();
    let beside = |k: u32| {
        let with = rest.iter().copied().chain([k]).collect();
        cost(tariff, &with) - cost(tariff, &rest)
    };
    let slot = moments.pairs.slot(j)?;
    let alike = |k: u32| {
        let (sum, count) = moments.pair(k, slot);
        let correlation = (sum / count) / (moments.variance(j) * moments.variance(k)).sqrt();
        count >= LEAST_SEEN as f64 && correlation * correlation >= ALIKE
    };
    let may = |k: &u32| !support.contains(k) && !params.never.contains(k) && !params.always.contains(&j);
    let all = (0..DIM as u32).filter(may).filter(|&k| alike(k));
    all.map(beside).filter(|price| *price < beside(j) - 1e-9).reduce(f64::min)
}

#[test]
fn choices_about_money_are_those_of_the_docs() {
    let (mut chosen, mut exchanged, mut several) = (0, 0, 0);
    for number in 0..60 {
        let seed = Seed::root(number);
        let mut rng = seed.rng();
        let tariff = tariff(&mut rng);
        let dearest = (0..DIM as u32).map(|j| tariff.price(j)).fold(1.0, f64::max);
        let money = Money::new(tariff.clone(), dearest * rng.random_range(1.5..3.0));
        let mut params = PursuitParams::within_money(money);
        params.budget = params.budget.min(rng.random_range(6..=DIM));
        params.never = vec![rng.random_range(0..DIM as u32)];
        let Ok(mut learner) = params.build() else { continue };
        let (mut draws, mut ask, mut block) = (seed.child("draws").rng(), Ask::new(DIM), BlockBuf::new());
        for _ in 0..60 {
            learner.ask(&mut draws, &mut ask);
            let Request::Values { attributes, examples } = ask.request() else { panic!() };
            let asked: BTreeSet<u32> = attributes.iter().copied().collect();
            assert_eq!(asked, observed(&learner), "run {number}");
            several += usize::from(asked.len() > learner.support.len() + learner.pool.len() + 2);
            chosen += 1;
            // Attributes come in sixes that are nearly equal, so that there is something to exchange.
            let common: Vec<[f64; 4]> =
                (0..examples).map(|_| std::array::from_fn(|_| rng.random_range(-1.0..1.0))).collect();
            block.reset(attributes.len(), common.len());
            block.set_rows(common.len());
            for (c, &j) in attributes.iter().enumerate() {
                for (x, common) in block.column_mut(c).iter_mut().zip(&common) {
                    *x = common[j as usize % 4] + 0.1 * rng.random_range(-1.0..1.0);
                }
            }
            for (y, common) in block.labels_mut().iter_mut().zip(&common) {
                *y = common[0] - common[1] + 0.5 * rng.random_range(-1.0..1.0);
            }
            learner.tell(Told::Values(block.view(attributes))).unwrap();
        }
        // What the learner knows, with other prices.
        for _ in 0..10 {
            let mut other = learner.clone();
            other.params.money = Some(Money::new(self::tariff(&mut rng), 1e3));
            for &j in &other.support {
                let price = other.cheapest_like(j).map(|k| other.price(k, Some(j)));
                let expected = cheaper(&other, j);
                let same = |(a, b): (f64, f64)| (a - b).abs() < 1e-9;
                let equal = price.zip(expected).map_or(price == expected, same);
                assert!(equal, "run {number}, attribute {j}: {price:?}, {expected:?}");
                exchanged += usize::from(price.is_some());
            }
        }
    }
    assert!(chosen > 1000 && several > 500, "{chosen}, {several}");
    assert!(exchanged > 20, "{exchanged}");
}

//! The adversarial instances of Hazan & Koren have the laws and the risks that they state.

use crate::take::take;
use lao_datasets::adversarial::hazan_koren::{
    Pair, Planted, PlantedParams, Population, PopulationStream, Rare, RareParams, SignedRows,
};
use lao_datasets::synthetic::DesignError;
use lao_kernels::SparseVector;
use lao_observation::testing::check_source;
use lao_observation::{BlockBuf, Scratch, Seed, Source};
use proptest::prelude::*;

const DIM: usize = 6;

fn planted(dim: usize, place: u32, advantage: f64) -> Result<Planted, DesignError> {
    PlantedParams { dim, place, advantage, label: 2.0 }.build()
}

fn rare(dim: usize, place: u32, frequency: f64) -> Result<Rare, DesignError> {
    RareParams { dim, place, frequency, label: 1.5 }.build()
}

fn populations() -> Vec<(&'static str, Box<dyn Population>)> {
    let rows = SignedRows::random(DIM, 4, &Seed::root(3)).unwrap();
    vec![
        ("signed rows", Box::new(rows.clone())),
        ("signed rows, l1 ball", Box::new(rows.with_label(0.5).unwrap().for_l1_ball(0.8))),
        ("planted", Box::new(planted(DIM, 4, 0.4).unwrap())),
        ("pair", Box::new(Pair::new(DIM, -0.35).unwrap())),
        ("rare", Box::new(rare(DIM, 2, 0.2).unwrap())),
    ]
}

#[test]
fn risk_is_the_mean_loss_of_the_examples() {
    // Losses lie in [0, most], so the mean of n of them is within most sqrt(log(2/1e-9)/(2n)) of the risk
    // (Hoeffding).
    const ROWS: usize = 200_000;
    let every: Vec<u32> = (0..DIM as u32).collect();
    let dense = [[0.0; DIM], [0.3, -0.2, 0.0, 0.4, 0.1, 0.5], [-1.0, 0.0, 0.7, 0.0, 0.0, 1.0]];
    for (name, population) in populations() {
        let mut source = PopulationStream::new(population, &Seed::root(8));
        let seen = take(&mut source, &every, ROWS);
        let population = source.population();
        let star = population.minimizer().view().to_dense();
        for w in dense.iter().map(|w| &w[..]).chain([&star[..]]) {
            let risk = population.risk(SparseVector::from_dense(w).view());
            let loss = |row: usize| {
                let residual = (0..DIM).map(|j| w[j] * seen[j][row]).sum::<f64>() - seen[DIM][row];
                0.5 * residual * residual
            };
            let most = (0..ROWS).map(loss).fold(0.0, f64::max);
            let mean = (0..ROWS).map(loss).sum::<f64>() / ROWS as f64;
            let allowed = most * (2e9_f64.ln() / (2.0 * ROWS as f64)).sqrt() + 1e-12;
            assert!((mean - risk).abs() <= allowed, "{name} at {w:?}: {mean}, not {risk}");
        }
        assert!(population.excess_risk(population.minimizer().view()).abs() < 1e-16, "{name}");
    }
}

#[test]
fn every_population_keeps_the_contract_of_a_source() {
    for (place, (name, _)) in populations().into_iter().enumerate() {
        for length in [50, u64::MAX] {
            let population = || populations().swap_remove(place).1;
            check_source(|| PopulationStream::new(population(), &Seed::root(8)).with_length(length))
                .unwrap_or_else(|fault| panic!("{name}: {fault}"));
        }
    }
}

#[test]
fn an_example_is_the_same_however_it_is_looked_at() {
    let every: Vec<u32> = (0..DIM as u32).collect();
    for (name, population) in populations() {
        let mut source = PopulationStream::new(population, &Seed::root(1)).with_length(2000);
        source.seek(1000).unwrap();
        let whole = take(&mut source, &every, 300);
        for (start, rows) in [(0, 1), (1, 63), (7, 130), (299, 1)] {
            source.seek(1000 + start as u64).unwrap();
            let part = take(&mut source, &[1, 4], rows);
            for (part, column) in part.iter().zip([1, 4, DIM]) {
                assert_eq!(part, &whole[column][start..start + rows], "{name}");
            }
        }
        let mut block = BlockBuf::new();
        for (position, expected) in [(1990, 10), (2000, 0)] {
            source.seek(position).unwrap();
            block.reset(0, 64);
            assert_eq!(source.observe(&[], &mut block).unwrap(), expected, "{name}");
        }
        assert!(source.seek(2001).is_err() && source.observe(&[6], &mut block).is_err(), "{name}");
    }
}

#[test]
fn draws_in_any_order_see_the_values_of_the_example() {
    let every: Vec<u32> = (0..DIM as u32).collect();
    let draws = [4, 1, 4, 0, 2, 1];
    for (name, population) in populations() {
        let mut source = PopulationStream::new(population, &Seed::root(3));
        let whole = take(&mut source, &every, 64);
        source.seek(0).unwrap();
        let mut block = BlockBuf::new();
        block.reset(draws.len(), 64);
        assert_eq!(source.observe_draws(&draws, &mut block, &mut Scratch::default()).unwrap(), 64, "{name}");
        let seen = block.view(&draws);
        for (c, &j) in draws.iter().enumerate() {
            assert_eq!(seen.column(c), whole[j as usize], "{name}");
        }
        assert_eq!(seen.labels(), whole[DIM], "{name}");
    }
}

#[test]
fn rows_are_uniform_and_their_signs_are_those_stated() {
    // Chi-square over the 4 rows; 27.88 is its quantile at 9 degrees and .999, far beyond at 3.
    let population = SignedRows::random(DIM, 4, &Seed::root(3)).unwrap();
    let (signs, mut counts) = (population.signs().to_dense(), [0u32; DIM]);
    let every: Vec<u32> = (0..DIM as u32).collect();
    let seen = take(&mut PopulationStream::new(population, &Seed::root(2)), &every, 40_000);
    for row in 0..40_000 {
        let row: Vec<f64> = seen[..DIM].iter().map(|column| column[row]).collect();
        let places: Vec<usize> = (0..DIM).filter(|&j| row[j] != 0.0).collect();
        assert_eq!(places.len(), 1);
        assert_eq!(row[places[0]], signs[places[0]]);
        counts[places[0]] += 1;
    }
    let used = counts.iter().filter(|n| **n > 0);
    assert_eq!(used.clone().count(), 4);
    let statistic: f64 = used.map(|&n| (f64::from(n) - 10_000.0).powi(2) / 10_000.0).sum();
    assert!(statistic < 27.88, "chi-square {statistic}");
}

#[test]
fn sets_and_signs_differ_from_seed_to_seed() {
    let of = |seed| SignedRows::random(50, 9, &Seed::root(seed)).unwrap();
    assert_eq!(of(1), of(1));
    assert_ne!(of(1).signs().indices(), of(2).signs().indices());
    let negative: usize = (0..100).map(|s| of(s).signs().values().iter().filter(|r| **r < 0.0).count()).sum();
    // 900 fair signs: 6 standard deviations are 90.
    assert!(negative.abs_diff(450) < 90, "{negative}");
}

#[test]
fn the_level_is_the_paper_s_epsilon() {
    let population = SignedRows::random(100, 25, &Seed::root(4)).unwrap();
    assert!((population.squared_error(population.minimizer().view()) - (1.0f64 - 0.2).powi(2)).abs() < 1e-15);
    assert!((population.information_bound(25) + 0.02).abs() < 1e-15);
    assert!((population.information_bound(0) - (0.2 - 0.02)).abs() < 1e-15);
    let zero = SparseVector::zeros(100);
    assert!((population.excess_risk(zero.view()) - population.information_bound(0)).abs() < 1e-15);
    // Label and ball of one attribute: the least risk is reached inside.
    let one = SignedRows::new(SparseVector::new(5, vec![2], vec![-3.0]).unwrap()).unwrap();
    let one = one.with_label(7.0).unwrap().for_l1_ball(7.0);
    assert_eq!((one.least_risk(), one.minimizer().view().get(2)), (0.0, -7.0));
}

#[test]
fn a_planted_attribute_tells_about_half_the_square_of_its_advantage() {
    for p in [0.0, 0.01, 0.3] {
        let kl = planted(2, 0, p).unwrap().information_per_observation();
        assert!((kl - 0.5 * p * p).abs() <= 0.1 * p.powi(4), "{p}: {kl}");
    }
    let certain = planted(2, 0, 1.0).unwrap();
    assert!((certain.information_per_observation() - 2.0f64.ln()).abs() < 1e-15);
}

#[test]
fn parameters_out_of_range_are_refused_by_name() {
    let says = |error: DesignError, word: &str| {
        assert!(error.to_string().contains(word), "{error}");
    };
    says(SignedRows::random(5, 6, &Seed::root(0)).unwrap_err(), "rows is 6");
    says(SignedRows::random(5, 0, &Seed::root(0)).unwrap_err(), "rows is 0");
    says(SignedRows::new(SparseVector::zeros(4)).unwrap_err(), "rows is 0");
    says(SignedRows::random(5, 2, &Seed::root(0)).unwrap().with_label(-1.0).unwrap_err(), "label is -1");
    says(planted(4, 4, 0.1).unwrap_err(), "place is 4");
    says(planted(4, 0, 1.1).unwrap_err(), "advantage is 1.1");
    says(rare(4, 0, -0.1).unwrap_err(), "frequency is -0.1");
    says(rare(0, 0, 0.1).unwrap_err(), "dimension 0");
    says(Pair::new(1, 0.1).unwrap_err(), "dimension 1");
    says(Pair::new(2, f64::NAN).unwrap_err(), "label is NaN");
}

proptest! {
    #[test]
    fn nothing_in_the_ball_beats_the_minimizer(
        w in proptest::collection::vec(-1.0..1.0, DIM), label in 0.1..2.0, radius in 0.05..3.0,
    ) {
        let rows = SignedRows::random(DIM, 3, &Seed::root(5)).unwrap().with_label(label).unwrap();
        let norms =
            [w.iter().map(|x: &f64| x.abs()).sum::<f64>(), w.iter().map(|x| x * x).sum::<f64>().sqrt()];
        for (rows, norm) in [rows.clone().for_l1_ball(radius), rows.for_l2_ball(radius)].iter().zip(norms) {
            let inside: Vec<f64> = w.iter().map(|x| x * radius / norm.max(radius)).collect();
            let inside = SparseVector::from_dense(&inside);
            prop_assert!(rows.excess_risk(inside.view()) >= -1e-14);
            prop_assert!(rows.excess_risk(rows.minimizer().view()).abs() < 1e-14);
        }
    }
}

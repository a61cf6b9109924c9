use super::{compare as compare_in, *};
use crate::bless::{accept, bless, may_bless};
use crate::context::Direction;
use crate::report::sample;
use lao_observation::Seed;
use rand::RngExt as _;

/// Returns a record whose first claim has one rate with these replicates.
fn with_rate(replicates: Vec<f64>, worse: Direction) -> RunRecord {
    let mut record = sample::record();
    let rate = Rate { name: "contraction".into(), worse, replicates };
    record.claims[0].honest.rates = vec![rate];
    record
}

/// Returns twenty replicates around `mean`, spread by 1 %.
fn around(mean: f64) -> Vec<f64> {
    (0..20).map(|i| mean * (1.0 + 0.01 * (f64::from(i * 7 % 20) - 9.5) / 9.5)).collect()
}

fn blessed(record: &RunRecord) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("baseline.json");
    bless(record, &file, "first").unwrap();
    (folder, file)
}

fn compare(record: &RunRecord, file: &Path) -> anyhow::Result<Comparison> {
    compare_in(record, file, Scope::Everything)
}

/// Returns what was found of the rate.
fn outcome(comparison: &Comparison) -> &RateOutcome {
    &comparison.rows.iter().find(|row| row.rate == "contraction").unwrap().outcome
}

fn change(comparison: &Comparison, epoch: BaselineEpoch) -> Change {
    let row = comparison.rows.iter().find(|row| row.epoch == epoch && row.rate == "contraction").unwrap();
    match &row.outcome {
        RateOutcome::Compared(change, _) => change.change,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_run_equals_itself() {
    let record = with_rate(around(0.5), Direction::Larger);
    let (_folder, file) = blessed(&record);
    let comparison = compare(&record, &file).unwrap();
    assert!(
        comparison.rows.iter().all(|row| row.outcome == RateOutcome::Identical)
            && !comparison.rows.is_empty()
    );
    assert!(!comparison.is_worse());
}

#[test]
fn a_planted_slowdown_is_worse_and_says_by_how_much() {
    let (_folder, file) = blessed(&with_rate(around(0.5), Direction::Larger));
    let comparison = compare(&with_rate(around(0.55), Direction::Larger), &file).unwrap();
    assert!(comparison.is_worse());
    let text = comparison.to_string();
    assert!(text.contains("WORSE") && text.contains("contraction") && text.contains("+10.00 %"), "{text}");
}

#[test]
fn the_direction_of_worse_is_the_rates_own() {
    for (worse, expected) in [(Direction::Larger, Change::Worse), (Direction::Smaller, Change::Better)] {
        let (_folder, file) = blessed(&with_rate(around(0.5), worse));
        let comparison = compare(&with_rate(around(0.6), worse), &file).unwrap();
        assert_eq!(change(&comparison, BaselineEpoch::Current), expected);
        assert_eq!(comparison.is_worse(), expected == Change::Worse);
    }
}

#[test]
fn a_change_within_the_tolerance_is_the_same() {
    let (_folder, file) = blessed(&with_rate(around(0.5), Direction::Larger));
    let comparison = compare(&with_rate(around(0.505), Direction::Larger), &file).unwrap();
    assert_eq!(change(&comparison, BaselineEpoch::Current), Change::Same);
}

#[test]
fn another_seed_is_compared_by_welch_and_another_platform_to_rounding() {
    let (_folder, file) = blessed(&with_rate(around(0.5), Direction::Larger));
    let mut other = with_rate(around(0.5), Direction::Larger);
    other.run.seed += 1;
    let comparison = compare(&other, &file).unwrap();
    let RateOutcome::Compared(change, _) = outcome(&comparison) else { panic!("{comparison}") };
    assert_eq!(change.interval.method, "welch");

    let mut other = with_rate(around(0.5 * (1.0 + 1e-8)), Direction::Larger);
    assert!(matches!(outcome(&compare(&other, &file).unwrap()), RateOutcome::Compared(..)));
    other.run.platform = "elsewhere".into();
    assert_eq!(outcome(&compare(&other, &file).unwrap()), &RateOutcome::Identical);
}

#[test]
fn what_was_blessed_passes_and_the_drift_stays_in_view() {
    let (_folder, file) = blessed(&with_rate(around(0.5), Direction::Larger));
    let slower = with_rate(around(0.55), Direction::Larger);
    let before = compare(&slower, &file).unwrap();
    assert!(before.is_worse());
    assert!(before.to_string().contains("--bless FILE --reason"), "{before}");
    bless(&slower, &file, "slower, but right").unwrap();

    let after = compare(&slower, &file).unwrap();
    assert!(!after.is_worse(), "{after}");
    assert_eq!(change(&after, BaselineEpoch::Zero), Change::Worse);
    let text = after.to_string();
    assert!(text.contains("drift, worse:") && text.contains("+10.00 %"), "{text}");
    assert!(!text.contains("WORSE") && !text.contains("--bless"), "{text}");
}

#[test]
fn a_drift_is_accepted_by_name_and_counts_from_there() {
    let (_folder, file) = blessed(&with_rate(around(0.5), Direction::Larger));
    let claim = sample::record().claims[0].id.clone();
    let name = format!("{claim}: contraction");
    let refused = |names: &[&str], reason: &str, says: &str| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_string()).collect();
        let before = std::fs::read(&file).unwrap();
        let error = accept(&file, &names, reason).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
        assert_eq!(std::fs::read(&file).unwrap(), before);
    };
    refused(&[&name], "why", "has no drift");
    let slower = with_rate(around(0.55), Direction::Larger);
    bless(&slower, &file, "slower, but right").unwrap();
    refused(&[&name], " ", "--reason is empty");
    refused(&[&name, "nobody"], "why", "no claim `nobody`");
    refused(&[&format!("{claim}: other")], "why", "has no drift");
    assert!(compare(&slower, &file).unwrap().to_string().contains("track accept"));

    let said = accept(&file, std::slice::from_ref(&claim), "a safer default").unwrap();
    assert_eq!(said, [format!("drift accepted: {name}: 0.5 -> 0.55")]);
    let text = compare(&slower, &file).unwrap().to_string();
    assert!(!text.contains("drift, worse") && !text.contains("track accept"), "{text}");
    assert!(text.contains(&format!("note: {name}: a drift was accepted: a safer default")), "{text}");
    let baseline = read(&file).unwrap();
    assert_eq!(baseline.epoch_zero[&claim].rates["contraction"].replicates, around(0.5));
    assert_eq!(baseline.history.last().unwrap().changes, said);

    // The next drift counts from what was accepted, and is accepted anew.
    let slowest = with_rate(around(0.6), Direction::Larger);
    bless(&slowest, &file, "slower still").unwrap();
    let text = compare(&slowest, &file).unwrap().to_string();
    assert!(text.contains("drift, worse:") && text.contains("0.55 -> 0.6,"), "{text}");
    accept(&file, &[name], "safer still").unwrap();
    assert!(!compare(&slowest, &file).unwrap().to_string().contains("drift, worse"));
}

#[test]
fn an_unchanged_run_says_so_and_nothing_is_undecided() {
    let (_folder, file) = blessed(&with_rate(around(0.5), Direction::Larger));
    // Noise between two blesses leaves undecided whether the last rates differ from the first.
    let noisy = with_rate((0..20).map(|i| 0.5 + 0.2 * f64::from(i % 7) / 7.0).collect(), Direction::Larger);
    bless(&noisy, &file, "other draws").unwrap();
    let text = compare(&noisy, &file).unwrap().to_string();
    assert!(text.contains("0 undecided") && !text.contains("undecided: "), "{text}");
    assert!(text.contains(" unchanged, 0 same"), "{text}");
}

#[test]
fn small_steps_that_add_up_are_shown_against_epoch_zero() {
    let (_folder, file) = blessed(&with_rate(around(0.5), Direction::Larger));
    for step in 1..=3 {
        let record = with_rate(around(0.5 * 1.014f64.powi(step)), Direction::Larger);
        let comparison = compare(&record, &file).unwrap();
        assert_ne!(change(&comparison, BaselineEpoch::Current), Change::Worse, "one step is small");
        if step == 3 {
            assert_eq!(change(&comparison, BaselineEpoch::Zero), Change::Worse);
            assert!(comparison.to_string().contains("drift, worse"), "{comparison}");
        }
        assert!(!comparison.is_worse());
        bless(&record, &file, "a small step").unwrap();
    }
}

#[test]
fn what_is_no_longer_measured_not_run_or_missing_is_lost() {
    let record = with_rate(around(0.5), Direction::Larger);
    let (_folder, file) = blessed(&record);
    let mut without = record.clone();
    without.claims[0].honest.rates.clear();
    assert!(compare(&without, &file).unwrap().is_worse());
    without.claims[0].honest.not_run = Some("no data".into());
    without.claims[0].verdict = Verdict::NotRun;
    let text = compare(&without, &file).unwrap().to_string();
    assert!(text.contains("MOVED") && text.contains("HOLDS -> NOT-RUN"), "{text}");
    without.claims.remove(0);
    let text = compare(&without, &file).unwrap().to_string();
    assert!(text.contains("LOST") && text.contains("not in this run"), "{text}");
    assert!(!compare_in(&without, &file, Scope::Selection).unwrap().is_worse(), "a selection was run");
}

#[test]
fn equal_draws_must_leave_trials_and_tightness_equal() {
    let record = with_rate(around(0.5), Direction::Larger);
    let (_folder, file) = blessed(&record);
    let mut other = record.clone();
    other.claims[0].honest.cells[0].finding.n_trials += 16;
    let text = compare(&other, &file).unwrap().to_string();
    assert!(text.contains("MOVED") && text.contains("trials"), "{text}");
    let mut other = record.clone();
    other.claims[0].tightness.as_mut().unwrap().median *= 1.5;
    assert!(compare(&other, &file).unwrap().to_string().contains("tightness"));
    // Other draws may look at other numbers of trials.
    other.run.seed += 1;
    assert!(!compare(&other, &file).unwrap().is_worse());
}

#[test]
fn runs_of_another_tier_or_size_are_not_compared() {
    let record = with_rate(around(0.5), Direction::Larger);
    let (_folder, file) = blessed(&record);
    let mut other = record.clone();
    other.run.tier = "full".into();
    assert!(format!("{:#}", compare(&other, &file).unwrap_err()).contains("the same tier"));
    let mut other = record.clone();
    other.claims[0].sizes.insert("trials".into(), 7);
    assert!(matches!(outcome(&compare(&other, &file).unwrap()), RateOutcome::Lost(_)));
}

/// Returns six replicates that vary too much to say anything.
fn noisy(mean: f64) -> Vec<f64> {
    (0..6).map(|i| mean * (1.0 + 0.3 * (f64::from(i) - 2.5) / 2.5)).collect()
}

#[test]
fn an_undecided_worsening_above_a_tenth_fails_in_the_same_draws() {
    let (_folder, file) = blessed(&with_rate(noisy(0.5), Direction::Larger));
    let mut replicates = noisy(0.58);
    replicates.reverse();
    // A change of the program can also change how many replicates there are.
    for replicates in [&replicates[..], &replicates[..5]] {
        let comparison = compare(&with_rate(replicates.to_vec(), Direction::Larger), &file).unwrap();
        assert_eq!(change(&comparison, BaselineEpoch::Current), Change::Undecided);
        assert!(comparison.is_worse() && comparison.to_string().contains("UNDECIDED"), "{comparison}");
    }
}

#[test]
fn too_few_replicates_are_not_compared_in_new_draws_unless_the_rate_has_vanished() {
    let (_folder, file) = blessed(&with_rate(noisy(0.5), Direction::Larger));
    let mut slower = with_rate(noisy(0.58), Direction::Larger);
    slower.run.seed += 1;
    let comparison = compare(&slower, &file).unwrap();
    assert_eq!(outcome(&comparison), &RateOutcome::TooFew);
    assert!(!comparison.is_worse(), "{comparison}");
    let power = RatePower { tracked: 7, in_new_draws: 6 };
    assert_eq!(comparison.power, power, "{comparison}");
    slower.claims[0].honest.rates[0].replicates[2] = 0.0;
    let comparison = compare(&slower, &file).unwrap();
    assert!(matches!(outcome(&comparison), RateOutcome::Lost(_)) && comparison.is_worse(), "{comparison}");
}

#[test]
fn one_worse_rate_among_many_must_pass_holm() {
    // p = 4e-4 alone is below 1e-3, and is not when it is the smallest of ten.
    let row = |p_worse: f64, change, draws| RateRow {
        claim: "c".into(),
        rate: "r".into(),
        epoch: BaselineEpoch::Current,
        outcome: RateOutcome::Compared(
            RateChange {
                change,
                baseline: 1.0,
                run: 1.15,
                interval: crate::judge::Interval { level: 0.999, lo: 0.01, hi: 0.27, method: "welch".into() },
                scale: RateScale::Amount,
                worsening: 0.14,
                p_worse,
            },
            draws,
        ),
    };
    let fails = |others, draws| {
        let mut rows = vec![row(4e-4, Change::Worse, draws)];
        rows.extend((0..others).map(|_| row(0.5, Change::Same, draws)));
        hold_the_level(&mut rows);
        rows[0].outcome.fails()
    };
    assert!(fails(0, Draws::New));
    assert!(!fails(9, Draws::New), "chance: other draws");
    assert!(fails(9, Draws::Same), "15 % in the same draws ask for a look");
}

#[test]
fn blessing_asks_for_a_reason_and_keeps_history() {
    let record = with_rate(around(0.5), Direction::Larger);
    let (_folder, file) = blessed(&record);
    assert!(bless(&record, &file, "  ").is_err() && may_bless(&file, "  ").is_err());
    bless(&with_rate(around(0.6), Direction::Larger), &file, "slower, but right").unwrap();
    let baseline = read(&file).unwrap();
    assert_eq!(baseline.history.len(), 2);
    assert!(baseline.history[1].changes[0].contains("contraction"), "{:?}", baseline.history);
}

#[test]
fn a_missing_or_foreign_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("nothing.json");
    let error = compare(&sample::record(), &file).unwrap_err();
    assert!(format!("{error:#}").contains("nothing.json"));
    std::fs::write(&file, "{\"schema\": 3}").unwrap();
    assert!(format!("{:#}", compare(&sample::record(), &file).unwrap_err()).contains("not a baseline"));
    assert!(format!("{:#}", may_bless(&file, "why").unwrap_err()).contains("not a baseline"));
    assert!(format!("{:#}", read(folder.path()).unwrap_err()).contains("not an ordinary file"));
    assert!(format!("{:#}", may_bless(folder.path(), "why").unwrap_err()).contains("a folder"));
}

/// Returns a rate of a method that is a fifth slower (an exponent: worse by .1).
fn a_fifth_worse(name: &str, rate: f64, worse: Direction) -> f64 {
    let slower = if worse == Direction::Larger { 1.2 } else { 1.0 / 1.2 };
    match RateScale::of(name) {
        RateScale::Amount => rate * slower,
        RateScale::Contraction => rate.powf(1.0 / slower),
        RateScale::Decay => rate / slower,
        RateScale::Logarithm => rate + slower.ln(),
        RateScale::Exponent if worse == Direction::Larger => rate + 0.1,
        RateScale::Exponent => rate - 0.1,
    }
}

/// Returns the baseline in a file of this folder.
fn committed(file: &str) -> Baseline {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

/// Returns a record that measured what the baseline holds, but for the changed replicates of each rate, at
/// another seed by so much.
fn rerun(
    baseline: &Baseline,
    later_seed: u64,
    mut change: impl FnMut(&str, &MeasuredRate) -> Vec<f64>,
) -> RunRecord {
    let template = sample::record();
    let claims = baseline.current.iter().map(|(id, measured)| {
        let mut claim = template.claims[0].clone();
        (claim.id, claim.sizes) = (id.clone(), measured.sizes.clone());
        claim.verdict = measured.verdict.unwrap_or(claim.verdict);
        let rates = measured.rates.iter().map(|(name, rate)| {
            let replicates = change(name, rate);
            Rate { name: name.clone(), worse: rate.worse, replicates }
        });
        claim.honest.rates = rates.collect();
        claim
    });
    let mut record = RunRecord { claims: claims.collect(), ..template.clone() };
    let one = baseline.current.values().next().unwrap();
    (record.run.tier, record.run.seed) = (one.tier.clone(), one.seed + later_seed);
    record.run.platform = one.platform.clone();
    record
}

/// Returns the rows of the tracked rates.
fn rates(comparison: &Comparison) -> Vec<RateRow> {
    let counted = ["verdict", "trials", "tightness"];
    let current = comparison.of(BaselineEpoch::Current);
    current.filter(|row| !counted.contains(&row.rate.as_str())).cloned().collect()
}

#[test]
fn a_fifth_slower_is_worse_in_every_tracked_rate_by_name() {
    for (file, at_least) in [("baseline.json", 90), ("full.json", 130)] {
        let baseline = committed(file);
        let tracked: usize = baseline.current.values().map(|measured| measured.rates.len()).sum();
        let found = |record: &RunRecord| rates(&against(record, &baseline, Scope::Everything));

        let same = found(&rerun(&baseline, 0, |_, rate| rate.replicates.clone()));
        assert!(same.len() == tracked && tracked > at_least, "{file}: {tracked} rates");
        assert!(same.iter().all(|row| row.outcome == RateOutcome::Identical));

        let slower = found(&rerun(&baseline, 0, |name, rate| {
            rate.replicates.iter().map(|x| a_fifth_worse(name, *x, rate.worse)).collect()
        }));
        let noticed =
            |row: &&RateRow| matches!(&row.outcome, RateOutcome::Compared(c, _) if c.change == Change::Worse);
        let missed: Vec<_> = slower.iter().filter(|row| !noticed(row)).collect();
        assert!(missed.is_empty() && slower.len() == tracked, "{file}: not noticed: {missed:#?}");
    }
}

/// Two runs at other seeds are drawn, with replacement, from the replicates of the full tier: twenty pairs of
/// the same method, and twenty in which the second is a fifth slower. Of the rates that are compared, the
/// former are never worse, and of the latter at most one in a hundred is not found.
#[test]
fn in_new_draws_a_fifth_slower_is_found_and_no_change_is_not() {
    let full = committed("full.json");
    let mut rng = Seed::root(20).child("pairs of runs").rng();
    let mut drawn = |rate: &MeasuredRate| -> Vec<f64> {
        let n = rate.replicates.len();
        (0..n).map(|_| rate.replicates[rng.random_range(0..n)]).collect()
    };
    let (mut found, mut shifted) = (0, 0);
    for _ in 0..20 {
        let mut before = full.clone();
        for rate in before.current.values_mut().flat_map(|measured| measured.rates.values_mut()) {
            rate.replicates = drawn(rate);
        }
        let compared = |record: &RunRecord| -> Vec<RateRow> {
            let rows = rates(&against(record, &before, Scope::Everything));
            rows.into_iter().filter(|row| row.outcome != RateOutcome::TooFew).collect()
        };
        let same = compared(&rerun(&full, 1, |_, rate| drawn(rate)));
        let alarms: Vec<_> = same.iter().filter(|row| row.outcome.fails()).collect();
        assert!(alarms.is_empty() && same.len() > 60, "{} compared: {alarms:#?}", same.len());

        let slower = compared(&rerun(&full, 1, |name, rate| {
            drawn(rate).iter().map(|x| a_fifth_worse(name, *x, rate.worse)).collect()
        }));
        shifted += slower.len();
        found += slower.iter().filter(|row| row.outcome.fails()).count();
    }
    assert!(found as f64 >= 0.99 * shifted as f64, "{found} of {shifted} found");
}

//! A sample record with every verdict and every optional field, for the tests of the report.

use crate::claim::{Must, Regime, StatementForm};
use crate::context::{ArmRecord, Axis, Cell, Direction, Figure, Note, Rate, Series};
use crate::judge::{Finding, FindingKind, Guard, Interval, Stopped};
use crate::record::{ClaimRecord, MutantRecord, RunInfo, RunRecord, SCHEMA, Tightness};
use crate::verdict::{CellRecord, CellVerdict, Evidence, Verdict};

/// Returns the sample record.
pub(crate) fn record() -> RunRecord {
    let verdicts = [
        (Verdict::Holds, "HOLDS"),
        (Verdict::Refuted, "REFUTED"),
        (Verdict::Refuted, "HOLDS"),
        (Verdict::Inconclusive, "HOLDS"),
        (Verdict::Vacuous, "VACUOUS"),
        (Verdict::Untested, "HOLDS"),
        (Verdict::Error, "HOLDS"),
        (Verdict::NotRun, "HOLDS"),
    ];
    let run = RunInfo {
        version: "0.1.0".into(),
        tier: "quick".into(),
        seed: 7,
        alpha: 1e-3,
        family: 125,
        key: "0123456789abcdef0123456789abcdef".into(),
        platform: "x86_64-linux".into(),
    };
    let claims = verdicts.iter().enumerate().map(|(i, (verdict, expected))| claim(i, *verdict, expected));
    RunRecord { schema: SCHEMA.into(), run, claims: claims.collect() }
}

fn claim(i: usize, verdict: Verdict, expected: &str) -> ClaimRecord {
    let mut honest = arm(i, verdict == Verdict::Refuted);
    match verdict {
        Verdict::Error => honest.error = Some("cell 3: estimate is NaN".into()),
        Verdict::NotRun => {
            honest = ArmRecord { not_run: Some("BlogFeedback was not found".into()), ..ArmRecord::default() }
        }
        _ => {}
    }
    honest.waits_for_data = verdict == Verdict::NotRun;
    let mutant = |name: &str, noticed: bool| MutantRecord {
        name: name.into(),
        fault: "the gradient <without> its 2".into(),
        must: Must::BeRefuted,
        room: noticed.then_some(2.5),
        noticed,
        said: if noticed { "REFUTED" } else { "UNDECIDED" }.into(),
        arm: arm(i, noticed),
    };
    let noticed = verdict != Verdict::Untested;
    ClaimRecord {
        id: format!("planted-{i}-{}", verdict.to_string().to_lowercase()),
        place: "Theorem 4.1".into(),
        sentence: "The gap & the bound: gap < bound in every setting.".into(),
        form: [StatementForm::Sound, StatementForm::Printed, StatementForm::Corrected][i % 3],
        regime: [Regime::Deterministic, Regime::Literal, Regime::Practical][i % 3],
        expected: expected.into(),
        verdict,
        as_expected: verdict.to_string() == expected,
        alpha: 8e-6,
        evidence: Evidence { p_refute: 1.0, p_support: 3e-9 },
        tightness: (verdict != Verdict::NotRun).then(|| {
            let median = 0.003 * 4f64.powi(i as i32);
            Tightness { smallest: 0.5 * median, median, largest: 2.0 * median }
        }),
        sizes: [("trials".to_string(), 160)].into(),
        mutants: if verdict == Verdict::NotRun {
            Vec::new()
        } else {
            vec![mutant("forgets_the_two", true), mutant("drops_last_block", noticed)]
        },
        cells: honest.cells.iter().map(cell_record).collect(),
        unpredicted: Vec::new(),
        honest,
        crippled: Vec::new(),
    }
}

fn cell_record(cell: &Cell) -> CellRecord {
    let said = if cell.finding.p_refute < 0.5 { CellVerdict::Refuted } else { CellVerdict::Supported };
    let refutes = vec!["forgets_the_two".into()];
    CellRecord {
        name: cell.name.clone(),
        said,
        refutes,
        passed_by: Vec::new(),
        passable: None,
        loose: false,
        beyond: None,
    }
}

fn arm(i: usize, refuted: bool) -> ArmRecord {
    let decay = |rate: f64| (0..=40).map(|t| [f64::from(t), 10.0 * rate.powi(t)]).collect::<Vec<_>>();
    let points: Vec<[f64; 2]> = (0..6).map(|i| 10f64.powi(i)).map(|x| [x, 30.0 * x]).collect();
    let slope = Series {
        interval: points.iter().map(|p| [p[1] * 0.7, p[1] * 1.4]).collect(),
        ..Series::points("samples needed", points.clone())
    };
    ArmRecord {
        cells: (0..3).map(|j| cell(&format!("sigma={j}, start=dense"), refuted)).collect(),
        notes: vec![Note { name: "largest ratio found".into(), value: f64::INFINITY }],
        rates: vec![Rate {
            name: "contraction factor".into(),
            worse: Direction::Larger,
            replicates: (0..8).map(|r| 0.57 + 0.001 * f64::from(r) + i as f64 * 0.01).collect(),
        }],
        figures: vec![
            Figure {
                caption: "Gap against updates, with the bound.".into(),
                x: Axis::linear("updates"),
                y: Axis::log("gap"),
                series: vec![Series::line("measured", decay(0.57)), Series::bound("bound", decay(0.953))],
            },
            Figure {
                caption: "Samples against accuracy.".into(),
                x: Axis::log("1/ε"),
                y: Axis::log("samples"),
                series: vec![slope, Series::bound("exponent 1", points)],
            },
        ],
        not_run: None,
        waits_for_data: false,
        error: None,
        split: 3,
    }
}

fn cell(name: &str, refuted: bool) -> Cell {
    let (p_refute, p_support) = if refuted { (0.0, 1.0) } else { (1.0, 3e-9) };
    let finding = Finding {
        engine: "beta-binomial-e".into(),
        kind: FindingKind::Prob,
        n_trials: 144,
        n_max: 160,
        stopped: Stopped::Evidence,
        estimate: 0.012,
        bound: 0.1,
        tightness: Some(0.12),
        interval: Some(Interval { level: 0.999, lo: 0.0, hi: 0.09, method: "clopper-pearson".into() }),
        p_refute,
        p_support,
        log_e_refute: Some(-3.0),
        log_e_support: Some(19.0),
        detectable_effect: Some(0.4),
        guards: vec![Guard { name: "n >= 36 g^2".into(), ok: true, value: 12.0 }],
        note: "two failures in 144 trials".into(),
    };
    Cell { name: name.into(), finding }
}

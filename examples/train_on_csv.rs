//! Learns a sparse linear predictor from a CSV file, looking at few attributes of each row.
//!
//! ```sh
//! cargo run -p lao-examples --bin train_on_csv                          # diabetes data that come with lao
//! cargo run -p lao-examples --bin train_on_csv -- patients.csv outcome  # your file, its label
//! ```

use anyhow::Context as _;
use lao_algorithms::{Task, murata_suzuki::HybridParams};
use lao_datasets::format::Opening;
use lao_datasets::format::csv::{Column, CsvOptions, read_csv};
use lao_datasets::memory::Columns;
use lao_datasets::preprocess::{Centering, Standardizer, split_random};
use lao_observation::session::mean_squared_error;
use lao_observation::{Budget, Learner as _, Seed, Session, SessionLimit};
use std::path::PathBuf;

/// Attributes that may be looked at per row, in training and when the predictor is used.
const BUDGET: usize = 4;

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/diabetes.csv.gz");
    let file = PathBuf::from(arguments.next().unwrap_or_else(|| shipped.into()));
    let label = arguments.next().unwrap_or_else(|| "progression".into());

    // A quarter of the rows is set apart. Means and scales come from the training rows alone.
    let seed = Seed::root(7);
    let options = CsvOptions { target: Column::Name(label), ..CsvOptions::default() };
    let table = read_csv(&file, &Opening::default(), &options)?;
    let names = table.names.clone().context("the file has no header")?;
    let split = split_random(table.rows(), 0.25, &seed.child("split"))?;
    let (train, test) = (table.select_rows(&split.train), table.select_rows(&split.test));
    let (standardizer, centering) = (Standardizer::fit(&train)?, Centering::fit(&train.labels)?);
    let prepare = |table| -> anyhow::Result<Columns<f64>> {
        let mut table = standardizer.apply(table)?;
        centering.apply(&mut table.labels);
        Ok(Columns::try_from(&table)?)
    };

    // Few rows are gone through many times. The session enforces the budget.
    let source = prepare(&train)?.shuffled(&seed.child("order")).with_passes(100);
    let task =
        Task { dim: standardizer.kept().len(), sparsity: 3, budget: BUDGET, speed: 0.5, ..Task::default() };
    let mut learner = HybridParams::practical(&task)?.build()?;
    let budget = Budget::PerExample(BUDGET);
    let mut session = Session::new(source, budget, &seed.child("session"));
    session.run(&mut learner, SessionLimit::never(), |_, _| {})?;

    // Weights in the units of the file.
    for (j, weight) in learner.coefficients().iter() {
        let column = standardizer.kept()[j as usize];
        println!("{:>12} {:+.4}", names[column], weight / standardizer.scales()[j as usize]);
    }
    let error = mean_squared_error(learner.coefficients(), &mut prepare(&test)?, budget, u64::MAX)?;
    let of_mean = test.labels.iter().map(|label| (label - centering.mean).powi(2)).sum::<f64>();
    println!("test error {:.0}", error.context("no test rows")?);
    println!("error of the mean {:.0}", of_mean / test.rows() as f64);
    println!("attributes looked at per row: {:.2}", session.ledger().attributes_per_example());
    Ok(())
}

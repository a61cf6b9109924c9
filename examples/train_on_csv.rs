//! Learns a sparse linear predictor from a CSV file, looking at few attributes of each row: the program of
//! the project's README, for any file.
//!
//! ```sh
//! cargo run -p lao-examples --bin train_on_csv                          # diabetes data that come with lao
//! cargo run -p lao-examples --bin train_on_csv -- patients.csv outcome  # your file, its label
//! ```

use anyhow::Context as _;
use lao::observation::Seed;
use lao::{Fit, Missing, TrainTest};

/// Attributes that may be looked at per row.
const BUDGET: usize = 4;

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/diabetes.csv.gz");
    let file = arguments.next().unwrap_or_else(|| shipped.into());
    let label = arguments.next().unwrap_or_else(|| "progression".into());

    // A quarter of the rows is set apart.
    let frame = lao::read(&file)?;
    let TrainTest { train, test } = frame.clone().target(&label)?.split(0.25, &Seed::root(7))?;
    let fitted = Fit::within(BUDGET).run(&train)?;
    println!("{}", fitted.model);
    let score = fitted.model.score(&test)?.context("no rows were set apart")?;
    println!("test error {:.0}", score.mean_squared_error);
    println!("error of the mean {:.0}", score.error_of_mean);
    println!("most attributes looked at per row: {}", fitted.model.spent.most_attributes);

    // The model is a file. Whoever has it needs only its columns.
    let stored = std::env::temp_dir().join(format!("lao-example-{}.lao.json", std::process::id()));
    fitted.model.save(&stored)?;
    let model = lao::Model::load(&stored)?;
    std::fs::remove_file(&stored)?;
    let fresh = lao::read_with(&file, &model.read_options())?;
    let predicted = model.predict(&fresh, Missing::Mean)?;
    println!("first prediction, from {}: {:.1}", model.columns().join(", "), predicted.values[0]);
    Ok(())
}

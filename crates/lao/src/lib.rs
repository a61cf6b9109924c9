//! Predictors that read few attributes, learned from examples of which few attributes were read.
//!
//! Where attributes cost money (medical tests, sensors, paid look-ups, wide tables on slow storage), a
//! learner can be told to look at no more than s' of the d attributes of each example, in training and when
//! it predicts. This is *limited attribute observation*. The learner chooses which s' attributes it looks at
//! next; the budget is enforced, since it has no access to the data.
//!
//! ```
//! # let mut rows = String::from("age,weight,pulse,smoker,pressure\n");
//! # for i in 0..900u32 {
//! #     let (a, w, p) = (20 + i * 7 % 60, 50 + i * 11 % 50, 50 + i * 13 % 40);
//! #     let smoker = if i * 19 % 3 == 0 { "yes" } else { "no" };
//! #     let y = 80.0 + 0.5 * f64::from(a) + if smoker == "yes" { 9.0 } else { 0.0 } + f64::from(i * 17 % 7);
//! #     rows += &format!("{a},{w},{p},{smoker},{y}\n");
//! # }
//! # let folder = tempfile::tempdir()?;
//! # std::fs::write(folder.path().join("patients.csv"), rows)?;
//! # std::env::set_current_dir(&folder)?;
//! use lao::{Fit, Missing, Model, TrainTest};
//! use lao::observation::Seed;
//!
//! let frame = lao::read("patients.csv")?; // names, words and gaps are understood
//! let TrainTest { train, test } = frame.clone().target("pressure")?.split(0.2, &Seed::root(1))?;
//! let fitted = Fit::within(3).run(&train)?; // at most 3 attributes of each example; nothing else to choose
//! println!("{}", fitted.model); // names, units, standard errors, what was bought
//! assert_eq!(fitted.model.columns(), ["age", "smoker"]);
//!
//! fitted.model.save("pressure.lao.json")?; // a few kilobytes that people can read
//! let model = Model::load("pressure.lao.json")?;
//! let predicted = model.predict(&frame, Missing::Mean)?; // reads the columns `age` and `smoker`
//! assert!(model.score(&test)?.is_some_and(|score| score.mean_squared_error < 5.0));
//! # std::env::set_current_dir("/")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where attributes have prices, [`Fit::within_money`] takes a budget in money and [`Prices`], which may join
//! columns to panels that are bought together; the model then says what was spent on each.
//!
//! | feature | brings | what it adds |
//! |---|---|---|
//! | `archives` | bzip2, zip | tables that these have packed; those of gzip are read in any case |
//! | `linear-programs` | microlp | the method `dantzig` |
//! | `onnx` | prost | models as ONNX files |
//! | `parquet` | parquet, without arrow | Parquet files, whole or page by page (`open`) |
//! | `remote` | object_store, tokio, reqwest | Parquet files in object stores and on web servers |
//!
//! None is on by default. The command and the Python wheel have all.
//!
//! The layers below are re-exported: [`observation`] has budgets, sessions and the contract between learner
//! and data, [`algorithms`] the methods, [`datasets`] tables and virtual designs, [`finite_sum`] solvers'
//! sums at full information, [`kernels`] vectors.

// docs.rs shows which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod choices;
mod error;
mod escape;
mod examples;
mod export;
mod fit;
mod frame;
mod model;
#[cfg(feature = "onnx")]
mod onnx;
#[cfg(feature = "parquet")]
mod paged;
mod prices;
#[cfg(feature = "parquet")]
mod rewriting;
mod sheet;
mod sql;
mod table;

pub use choices::{Budget, ChoiceOption, Choices, Form, OPTIONS};
pub use error::Error;
pub use escape::{is_formula, markdown, shown};
pub use examples::{Examples, Label, TableParts, TrainTest};
pub use fit::{Fit, Fitted, Learned, Progress, Suspended};
pub use frame::{
    ColumnKind, ColumnSummary, Frame, Header, Pick, ReadOptions, Reading, is_missing, read, read_with,
};
pub use model::{
    About, Calibrated, Candidate, Choice, Coefficient, HALF_WIDTH, Holdout, JournalPlace, Line, Link,
    Missing, Model, Origin, PanelSpent, Predictions, Predictor, Reached, Spent, SpentMoney, Stamp,
};
#[cfg(feature = "parquet")]
pub use paged::{Paged, open, open_parquet, open_parts};
pub use prices::{Price, PricedColumns, Prices};
#[cfg(feature = "parquet")]
pub use rewriting::Rewriting;
pub use sheet::{Sheet, SheetRow, decimal};
pub use sql::Dialect;
pub use table::{Table, Traffic};

pub use lao_algorithms::phases::Shape;

pub use lao_algorithms as algorithms;
pub use lao_datasets as datasets;
pub use lao_finite_sum as finite_sum;
pub use lao_kernels as kernels;
pub use lao_observation as observation;

/// The examples of the README, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The examples of the book's page on the crates below, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../book/src/layers.md")]
struct Layers;

//! `lao methods`.

use anyhow::bail;
use clap::Args;
use lao::algorithms::thresholding::{SolverRow, registry};
use lao::algorithms::{Method, ModelSize, TableMethod};
use lao_terminal as say;

/// List the methods, or describe one.
#[derive(Debug, Args)]
pub struct MethodsArgs {
    /// Describe only this method.
    name: Option<String>,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

/// What is said of a method.
struct Described {
    name: &'static str,
    source: &'static str,
    summary: &'static str,
    cost: &'static str,
    /// The symbol of the number of attributes that a prediction reads.
    reads: &'static str,
    /// Whether `lao fit` takes it.
    fits: bool,
    prices: bool,
}

impl Described {
    fn of(name: &'static str) -> Option<Self> {
        let method = TableMethod::of(name)?;
        let prices = method.takes_prices();
        Some(match method {
            TableMethod::Limited(&Method { source, summary, cost, model, .. }) => {
                let fits = model != ModelSize::Dense;
                Described { name, source, summary, cost, reads: model.symbol(), fits, prices }
            }
            TableMethod::Exchange => {
                let &SolverRow { source, .. } = registry::solver(name)?;
                let summary = "Buys all attributes of every example, and exchanges attributes of the model \
                               as long as the loss falls; the data choose their number.";
                let cost = "O(d), and O(n d) per look at all examples; O(n d) memory";
                Described {
                    name,
                    source,
                    summary,
                    cost,
                    reads: ModelSize::Sparsity.symbol(),
                    fits: true,
                    prices,
                }
            }
        })
    }

    fn json(&self) -> serde_json::Value {
        let Described { name, source, summary, cost, reads, fits, prices } = self;
        serde_json::json!({
            "name": name, "source": source, "summary": summary, "time per example": cost,
            "a prediction reads": reads, "fit": fits, "prices": prices,
        })
    }

    fn words(&self) -> String {
        let Described { name, source, summary, cost, reads, fits, prices } = self;
        let fit = if *fits { "" } else { "; not for `lao fit`" };
        let prices = if *prices { "; supports prices" } else { "" };
        format!(
            "{name}: {summary}\n    {source}; a prediction reads {reads} attributes{fit}{prices}; time per \
             example {cost}\n"
        )
    }
}

pub fn run(args: &MethodsArgs) -> anyhow::Result<u8> {
    let wanted = |name: &&'static str| args.name.as_deref().is_none_or(|wanted| wanted == *name);
    let rows: Vec<Described> = TableMethod::names().filter(wanted).filter_map(Described::of).collect();
    if let (true, Some(name)) = (rows.is_empty(), &args.name) {
        let known: Vec<&str> = TableMethod::names().collect();
        bail!("no method is named `{name}`; the methods are {}", known.join(", "))
    }
    let text = if args.json {
        let rows: Vec<_> = rows.iter().map(Described::json).collect();
        serde_json::json!({ "format": 1, "methods": rows }).to_string() + "\n"
    } else {
        rows.iter().map(Described::words).collect()
    };
    say::results(&text)?;
    Ok(0)
}

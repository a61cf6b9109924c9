//! `lao plan`.

use crate::args::BudgetArgs;
use clap::Args;
use lao::Budget;
use lao::algorithms::Money;
use lao::algorithms::pursuit::StudyGuess;
use lao::observation::Seed;
use lao_terminal as say;

/// Simulate how many examples a study needs, before you pay for the first one.
///
/// Studies are simulated in which some attributes have an effect and the others have none; attributes are
/// independent. Correlated attributes need more examples.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  lao plan --attributes 60 --budget 12 --sparsity 5 --signal 0.5
  lao plan --prices prices.csv --budget 60 --sparsity 3")]
pub struct PlanArgs {
    /// Simulate this number of attributes.
    #[arg(long, short, required_unless_present = "prices", conflicts_with = "prices")]
    attributes: Option<usize>,
    #[command(flatten)]
    budget: BudgetArgs,
    /// Give an effect to this number of attributes.
    #[arg(long, default_value_t = 5)]
    sparsity: usize,
    /// Make each effect this large: the change of the label, in standard deviations of the noise, if the
    /// attribute changes by one standard deviation.
    #[arg(long, default_value_t = 1.0)]
    signal: f64,
    /// Give a study up after this number of examples.
    #[arg(long, default_value_t = 100_000)]
    most: u64,
    /// Simulate this number of studies.
    #[arg(long, default_value_t = 100)]
    studies: usize,
    /// Derive all random draws from this seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

/// The shares of studies that are told.
const SHARES: [f64; 3] = [0.5, 0.8, 0.95];

pub fn run(args: &PlanArgs) -> anyhow::Result<u8> {
    let &PlanArgs { sparsity, signal, most, studies, seed, .. } = args;
    let guess =
        |dim, budget| StudyGuess { sparsity, signal, most, studies, ..StudyGuess::within(dim, budget) };
    // Attributes, what may be bought of each example, and what that is.
    let mut law = None;
    let (attributes, bought, unit, plan) = match args.budget.budget(args.attributes.unwrap_or_default())? {
        Budget::Money { per_example: money, prices } => {
            let tariff = prices.of_all()?.tariff;
            let dim = tariff.dim();
            let plan = guess(dim, dim).simulate_within(Money::new(tariff, money), &Seed::root(seed))?;
            (dim, money, "of money", plan)
        }
        Budget::Attributes(budget) => {
            let dim = args.attributes.unwrap_or_default();
            law = Some(guess(dim, budget).law());
            (dim, budget as f64, "values", guess(dim, budget).simulate(&Seed::root(seed))?)
        }
    };
    let needed = SHARES.map(|share| plan.examples(share));
    if args.json {
        let shares: Vec<_> = SHARES
            .iter()
            .zip(&needed)
            .map(|(share, examples)| serde_json::json!({ "share": share, "examples": examples }))
            .collect();
        let text = serde_json::json!({
            "format": 1, "found": plan.found, "given_up": plan.given_up, "needed": shares, "law": law,
        });
        say::results(&format!("{text}\n"))?;
    } else {
        let spent = if unit == "of money" {
            format!("at most {bought} spent on")
        } else {
            format!("{bought} bought of")
        };
        let mut text = format!(
            "{attributes} attributes, {spent} each example, {sparsity} with an effect of {signal} standard \
             deviations of the noise\n"
        );
        for (share, examples) in SHARES.iter().zip(&needed) {
            let examples = examples.map_or_else(
                || format!("more than {most} examples"),
                |n| format!("{n} examples, {} {unit}", n as f64 * bought),
            );
            text += &format!(
                "  {:>3.0} % of {studies} studies found exactly these after {examples}\n",
                100.0 * share
            );
        }
        if let Some(law) = law {
            text += &format!("by the law 10 (s* + 1/effect^2) d/s': {law:.0} examples\n");
        }
        say::results(&text)?;
    }
    Ok(if needed.iter().all(Option::is_none) { 1 } else { 0 })
}

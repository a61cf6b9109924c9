//! `lao plan`.

use clap::Args;
use lao::algorithms::pursuit::StudyGuess;
use lao::observation::Seed;
use lao_say as say;
use std::process::ExitCode;

/// Simulate how many examples a study needs, before the first one is paid for.
///
/// Studies are simulated in which some attributes have an effect and the others have none; attributes are
/// independent. Correlated attributes need more examples.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  lao plan --attributes 60 --budget 12 --sparsity 5 --signal 0.5")]
pub struct PlanArgs {
    /// The number of attributes.
    #[arg(long, short)]
    attributes: usize,
    /// The number of attributes that may be bought of each example.
    #[arg(long, short)]
    budget: usize,
    /// The number of attributes that matter.
    #[arg(long, default_value_t = 5)]
    sparsity: usize,
    /// The effect of each: by how many standard deviations of the noise the label changes, if the attribute
    /// changes by one of its own.
    #[arg(long, default_value_t = 1.0)]
    signal: f64,
    /// The number of examples at which a study is given up.
    #[arg(long, default_value_t = 100_000)]
    most: u64,
    /// The number of simulated studies.
    #[arg(long, default_value_t = 100)]
    studies: usize,
    /// The seed from which all draws descend.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

/// The shares of studies that are told.
const SHARES: [f64; 3] = [0.5, 0.8, 0.95];

pub fn run(args: &PlanArgs) -> anyhow::Result<ExitCode> {
    let &PlanArgs { attributes, budget, sparsity, signal, most, studies, seed, .. } = args;
    let guess = StudyGuess { sparsity, signal, most, studies, ..StudyGuess::within(attributes, budget) };
    let plan = guess.simulate(&Seed::root(seed))?;
    let needed = SHARES.map(|share| plan.examples(share));
    if args.json {
        let shares: Vec<_> = SHARES
            .iter()
            .zip(&needed)
            .map(|(share, examples)| serde_json::json!({ "share": share, "examples": examples }))
            .collect();
        let text = serde_json::json!({
            "format": 1, "found": plan.found, "given_up": plan.given_up, "needed": shares,
        });
        say::results(&format!("{text}\n"))?;
    } else {
        let mut text = format!(
            "{attributes} attributes, {budget} bought of each example, {sparsity} with an effect of {signal} \
             standard deviations of the noise\n"
        );
        for (share, examples) in SHARES.iter().zip(&needed) {
            let examples = examples.map_or_else(
                || format!("more than {most} examples"),
                |n| format!("{n} examples, {} values", n.saturating_mul(budget as u64)),
            );
            text += &format!(
                "  {:>3.0} % of {studies} studies found exactly these after {examples}\n",
                100.0 * share
            );
        }
        say::results(&text)?;
    }
    Ok(if needed.iter().all(Option::is_none) { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

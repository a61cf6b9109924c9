//! `lao study join`: attributes that come later.

use super::{Place, open};
use anyhow::bail;
use clap::Args;
use lao::{Price, Prices};
use lao_study::Joining;
use lao_terminal as say;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct JoinArgs {
    #[command(flatten)]
    place: Place,
    /// Add the attributes with these names.
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Read the prices of the new attributes from this file of lines `attribute,price[,panel[,further]]`, if
    /// the study has prices; a panel may be one of the study.
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

pub fn join(args: &JoinArgs) -> anyhow::Result<u8> {
    let mut study = open(&args.place)?;
    let prices = args.prices.as_ref().map(Prices::read).transpose()?;
    let prices: Vec<&Price> = prices.iter().flat_map(Prices::list).collect();
    let own = study.description().prices();
    for price in &prices {
        let before = own.iter().find(|own| own.column == price.column);
        if before.is_none() && !args.names.contains(&price.column) {
            bail!("there is a price of `{}`, which is no attribute, and does not join", price.column)
        }
        if before.is_some_and(|own| own != *price) {
            bail!(
                "the price of `{}` is another one in the study, where prices stay as they are",
                price.column
            )
        }
    }
    let joining = |name: &String| {
        let price = prices.iter().find(|price| price.column == *name);
        Joining {
            name: name.clone(),
            price: price.map(|price| price.price),
            panel: price.and_then(|price| price.panel.clone()),
            further: price.and_then(|price| price.further),
        }
    };
    study.join(&args.names.iter().map(joining).collect::<Vec<_>>())?;
    let all = study.description().attributes.len();
    let text = if args.json {
        serde_json::json!({ "format": 1, "joined": args.names, "attributes": all }).to_string()
    } else {
        let names: Vec<String> = args.names.iter().map(|name| lao::shown(name).to_string()).collect();
        format!(
            "recorded; the study has {all} attributes now. {} may be bought once the present block is told",
            names.join(", ")
        )
    };
    say::results(&(text + "\n"))?;
    Ok(0)
}

//! Options that several commands have: the budget, the choices of a fit, and how a table is written.

use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use lao::{Budget, ChoiceOption, Choices, Examples, Form, OPTIONS, Prices, ReadOptions};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// What an example may cost.
#[derive(Debug, Args)]
#[group(multiple = true)]
pub struct BudgetArgs {
    /// Buy at most this number of attributes per example, or this share of them, for example 10%; with
    /// --prices, spend at most this amount of money per example.
    #[arg(long, short, value_name = "N|P%|MONEY")]
    budget: Option<String>,
    /// Read the prices of attributes from this file of lines `attribute,price[,panel[,further]]`; a panel is
    /// paid once per example. For `lao fit --pages always`, `bytes` takes the bytes of a value as its price.
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
}

impl BudgetArgs {
    /// Returns the prices, if there are any.
    pub fn prices(&self) -> anyhow::Result<Option<Prices>> {
        Ok(self.prices.as_ref().map(Prices::read).transpose()?)
    }

    /// Returns the budget of an example that has so many columns.
    pub fn budget(&self, columns: usize) -> anyhow::Result<Budget> {
        self.budget_with(self.prices()?, columns)
    }

    /// Returns the budget of an example of a table: the price of a column may be its bytes.
    pub fn budget_of(&self, examples: &Examples) -> anyhow::Result<Budget> {
        let by_bytes = self.prices.as_deref() == Some(Path::new("bytes"));
        let prices =
            if by_bytes { Some(examples.prices_by_bytes().map_err(by_option)?) } else { self.prices()? };
        self.budget_with(prices, examples.columns())
    }

    fn budget_with(&self, prices: Option<Prices>, columns: usize) -> anyhow::Result<Budget> {
        let text = self.budget.as_deref().ok_or_else(|| anyhow::anyhow!("give --budget, such as 12"))?;
        Budget::parse(text, prices, columns).map_err(by_option)
    }
}

/// The options of a fit; those of a live study if `STUDY`.
#[derive(Debug)]
pub struct ChoiceArgs<const STUDY: bool> {
    made: Map<String, Value>,
}

impl<const STUDY: bool> ChoiceArgs<STUDY> {
    /// The name of the group of all these options.
    pub const GROUP: &'static str = "choices";

    fn options() -> impl Iterator<Item = &'static ChoiceOption> {
        OPTIONS.iter().filter(|option| !STUDY || option.not_in_studies.is_none())
    }

    /// Returns the choices.
    pub fn choices(&self) -> anyhow::Result<Choices> {
        Choices::of(&self.made).map_err(by_option)
    }
}

impl<const STUDY: bool> Args for ChoiceArgs<STUDY> {
    fn augment_args(command: Command) -> Command {
        let group = ArgGroup::new(Self::GROUP).multiple(true).args(Self::options().map(|option| option.name));
        command.args(Self::options().map(arg)).group(group)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const STUDY: bool> FromArgMatches for ChoiceArgs<STUDY> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut made = Map::new();
        for option in Self::options() {
            let value = match option.form {
                Form::Switch => matches.get_flag(option.name).then_some(Value::Bool(true)),
                Form::Words => {
                    let words = matches.get_many::<Value>(option.name);
                    words.map(|words| Value::Array(words.cloned().collect()))
                }
                _ => matches.get_one::<Value>(option.name).cloned(),
            };
            made.extend(value.map(|value| (option.key.to_owned(), value)));
        }
        Ok(ChoiceArgs { made })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Returns the command's option.
fn arg(option: &'static ChoiceOption) -> Arg {
    let default =
        if option.default.is_empty() { String::new() } else { format!(" [default: {}]", option.default) };
    let arg = Arg::new(option.name).long(option.name).help(format!("{}{default}", option.purpose));
    let arg = if option.name == "most-attributes" { arg.alias("longest") } else { arg };
    let read = |text: &str| option.read(text);
    match option.form {
        Form::Switch => arg.action(ArgAction::SetTrue),
        Form::Words => arg.value_name(option.value).action(ArgAction::Append).value_parser(read),
        _ => arg.value_name(option.value).allow_negative_numbers(true).value_parser(read),
    }
}

/// Returns an error with the option that gave the value which was refused.
pub fn by_option(error: lao::Error) -> anyhow::Error {
    let is_option = |name: &str| name == "budget" || OPTIONS.iter().any(|option| option.name == name);
    match error {
        lao::Error::Choice { what, value, allowed } if is_option(what) => {
            anyhow::anyhow!("--{what} {value}: {allowed}")
        }
        lao::Error::Param(refused) => {
            let name = match refused.field {
                "budget" | "per_example" => Some("budget"),
                "sparsity" => Some("most-attributes"),
                key => OPTIONS.iter().find(|option| option.key == key).map(|option| option.name),
            };
            let error = anyhow::Error::from(refused);
            match name {
                Some(name) => error.context(format!("--{name}")),
                None => error,
            }
        }
        other => other.into(),
    }
}

/// Whether the first line of a table has names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Header {
    /// Yes, unless all its fields are numbers.
    Auto,
    /// Yes.
    Yes,
    /// No; columns are called c1, c2, ... or as --names says.
    No,
}

/// How a table is written. What is not given is guessed, and the guess is said.
#[derive(Debug, Args)]
pub struct Layout {
    /// Take the first line of the table as names [default: unless all its fields are numbers].
    #[arg(long, value_enum)]
    header: Option<Header>,
    /// Give the columns these names, separated by commas; the first line is then a row.
    #[arg(long, value_name = "NAME,NAME,..", value_delimiter = ',', conflicts_with = "header")]
    names: Vec<String>,
    /// Split lines at this character, or `tab` [default: , ; tab or |, whichever fits the lines].
    #[arg(long, value_name = "CHARACTER", value_parser = separator)]
    separator: Option<u8>,
    /// Begin decimals with this character [default: a point, and a comma too where ; separates fields].
    #[arg(long, value_name = "CHARACTER", value_parser = decimal)]
    decimal: Option<u8>,
    /// Decode the text from this encoding, such as windows-1252 [default: UTF-8, or UTF-16 by its mark].
    #[arg(long, value_name = "NAME")]
    encoding: Option<String>,
    /// Read this field as a missing value, in all columns (-999) or in one (signal=100), beside empty fields,
    /// NA, ? and null; can be given more than once.
    #[arg(long, value_name = "FIELD|COLUMN=FIELD", allow_hyphen_values = true)]
    na: Vec<String>,
    /// Read nothing as missing but empty fields and those of --na, so that NA or None may be a word.
    #[arg(long)]
    na_only: bool,
    /// Read this column as words, even if most of its fields are numbers; can be given more than once.
    #[arg(long, value_name = "COLUMN")]
    words: Vec<String>,
    /// Read this member of a zip archive; * stands for any text.
    #[arg(long, value_name = "NAME")]
    member: Option<String>,
}

fn separator(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [one] if one.is_ascii() => Ok(*one),
        _ => Err("give one character, such as ;, or `tab`".into()),
    }
}

fn decimal(text: &str) -> Result<u8, String> {
    match text {
        "." | "," => Ok(text.as_bytes()[0]),
        _ => Err("give . or ,".into()),
    }
}

impl Layout {
    /// Returns the options for reading a table: those of `base`, with what was given in their place.
    pub fn options(&self, base: ReadOptions) -> ReadOptions {
        let header = match self.header {
            _ if !self.names.is_empty() => lao::Header::No,
            None => base.header,
            Some(Header::Auto) => lao::Header::Auto,
            Some(Header::Yes) => lao::Header::Yes,
            Some(Header::No) => lao::Header::No,
        };
        let or = |own: &[String], other: Vec<String>| if own.is_empty() { other } else { own.to_vec() };
        ReadOptions {
            header,
            names: or(&self.names, base.names),
            separator: self.separator.or(base.separator),
            decimal: self.decimal.or(base.decimal),
            encoding: self.encoding.clone().or(base.encoding),
            missing: [&base.missing[..], &self.na].concat(),
            missing_only: self.na_only || base.missing_only,
            words: [&base.words[..], &self.words].concat(),
            member: self.member.clone().or(base.member),
            ..base
        }
    }
}

//! The file of a model.

use super::{Holdout, Link, Model};
use crate::error::Error;
use crate::escape::shown;
use crate::examples::Label;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::Path;

/// What wrote a model file.
///
/// ```
/// # let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/diabetes.csv.gz");
/// # let examples = lao::read(table)?.target("progression")?;
/// # let model = lao::Fit::within(5).run(&examples)?.model;
/// assert_eq!((model.lao.format, model.lao.version.as_str()), (1, env!("CARGO_PKG_VERSION")));
/// # Ok::<(), lao::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stamp {
    /// The version of the format.
    pub format: u32,
    /// The version of lao.
    pub version: String,
}

impl Stamp {
    /// The format that this lao writes.
    pub const FORMAT: u32 = 1;

    /// Returns the stamp of this lao.
    pub(super) fn now() -> Self {
        Stamp { format: Self::FORMAT, version: env!("CARGO_PKG_VERSION").into() }
    }
}

impl Model {
    /// Returns the text of the model file.
    pub fn to_json(&self) -> String {
        let text = self.text();
        debug_assert!(text.is_ok(), "JSON can hold a model, which has numbers and names only: {text:?}");
        text.unwrap_or_default()
    }

    fn text(&self) -> Result<String, serde_json::Error> {
        Ok(on_one_line(&serde_json::to_string_pretty(self)?) + "\n")
    }

    /// Reads the text of a model file, and checks it.
    ///
    /// # Errors
    /// When the text is no model, with the line and the reason.
    pub fn from_json(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Begin {
            lao: Stamp,
        }
        let begin: Begin = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if begin.lao.format != Stamp::FORMAT {
            let Stamp { format, version } = begin.lao;
            return Err(format!(
                "its format is {format}, written by lao {version}; this is lao {}, which reads format \
                 {}",
                env!("CARGO_PKG_VERSION"),
                Stamp::FORMAT
            ));
        }
        let model: Model = serde_json::from_str(text).map_err(|error| error.to_string())?;
        model.check()?;
        Ok(model)
    }

    fn check(&self) -> Result<(), String> {
        let version = &self.lao.version;
        if version.len() > 64 || !version.bytes().all(|b| b.is_ascii_alphanumeric() || b".+-".contains(&b)) {
            return Err("the version of lao that wrote it is no version".into());
        }
        if let Label::Classes { positive, negative } = &self.label
            && positive == negative
        {
            return Err(format!("its two classes are both `{}`", shown(positive)));
        }
        if let Some(trees) = &self.trees {
            trees.validate().map_err(|damaged| damaged.reason)?;
            if trees.cuts.len() != self.coefficients.len() {
                let (columns, attributes) = (trees.cuts.len(), self.coefficients.len());
                return Err(format!("its trees have {columns} columns, and it has {attributes} attributes"));
            }
            for (one, cuts) in self.coefficients.iter().zip(&trees.cuts) {
                let is_inside = |cut: &f64| one.within.is_none_or(|[low, high]| (low..high).contains(cut));
                if let Some(cut) = cuts.iter().find(|cut| !is_inside(cut)) {
                    let name = one.name();
                    return Err(format!(
                        "the cut {cut} of its trees is not in the range of `{}`",
                        shown(&name)
                    ));
                }
            }
        }
        let mut known = HashSet::new();
        for one in &self.coefficients {
            let name = one.name();
            if !known.insert(name.clone()) {
                return Err(format!("the attribute `{}` is there twice", shown(&name)));
            }
            let name = shown(&name);
            if one.within.is_some_and(|[low, high]| low > high) {
                return Err(format!("the range of `{name}` is empty"));
            }
            if one.standard_error.is_some_and(|error| error < 0.0) {
                return Err(format!("the standard error of `{name}` is negative"));
            }
            let intervals = [one.interval, one.anytime_interval];
            if intervals.into_iter().flatten().any(|[low, high]| low > high) {
                return Err(format!("an interval of the coefficient of `{name}` is empty"));
            }
        }
        if let Some(Link { slope, .. }) = self.link.filter(|link| link.slope <= 0.0) {
            return Err(format!("the slope of its link is {slope}; it must be above 0"));
        }
        if let Some(name) = self.holdout.as_ref().and_then(Holdout::negative) {
            return Err(format!("`{name}` of its held-out error is negative"));
        }
        let shares = self.holdout.iter().flat_map(|held| [held.accuracy, held.majority, held.auc]);
        if let Some(share) = shares.flatten().find(|share| *share > 1.0) {
            return Err(format!("{share} of its held-out error is a share, and above 1"));
        }
        for panel in self.spent.money.iter().flat_map(|money| &money.panels) {
            if panel.price < 0.0 {
                return Err(format!("the price of `{}` is negative", panel.name));
            }
        }
        Ok(())
    }

    /// Writes the model to a file, completely or not at all.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        let failed = |cause| Error::File { path: path.to_owned(), cause };
        let text = self.text().map_err(|error| failed(error.into()))?;
        lao_files::write_atomically(path, text.as_bytes()).map_err(|error| failed(error.cause))
    }

    /// Reads a model from a file.
    ///
    /// # Errors
    /// When the file cannot be read or is no model.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|cause| Error::File { path: path.to_owned(), cause })?;
        let refused = |reason| Error::Model { path: path.to_owned(), reason };
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            let line = 1 + bytes[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
            refused(format!("line {line} is not UTF-8; it was changed or damaged"))
        })?;
        Self::from_json(text).map_err(refused)
    }
}

/// Puts each list of numbers or words on one line of an indented JSON text, which has one value per line.
fn on_one_line(text: &str) -> String {
    let (mut out, mut lines) = (String::with_capacity(text.len()), text.lines().peekable());
    while let Some(line) = lines.next() {
        out += line;
        if line.ends_with('[') {
            // Lists within lists and objects begin with a bracket.
            let ends = |line: &&str| line.ends_with(['[', '{', ']', '}']) || line.ends_with("],");
            let mut values: Vec<&str> = Vec::new();
            while let Some(value) = lines.next_if(|line| !ends(line)) {
                values.push(value.trim_start());
            }
            if lines.peek().is_some_and(|line| line.trim_start().starts_with(']')) {
                out += &values.join(" ");
                out += lines.next().unwrap_or_default().trim_start();
            } else {
                values.iter().for_each(|value| out.extend(["\n", value]));
            }
        }
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out
}

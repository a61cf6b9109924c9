//! A model as text.

use super::{Coefficient, Holdout, Model, Spent};
use crate::escape::shown;
use crate::examples::Label;
use std::fmt;

/// The half-width of an interval that holds 95 % of a normal law, in standard errors.
pub const HALF_WIDTH: f64 = 1.96;

impl fmt::Display for Model {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.label {
            Label::Number => writeln!(out, "{} =", shown(&self.target))?,
            Label::Classes { positive, .. } => {
                let limit = self.threshold();
                let where_ =
                    if limit == 0.0 { "is positive".into() } else { format!("exceeds {}", figure(limit)) };
                writeln!(out, "{} is {} where this {where_}:", shown(&self.target), shown(positive))?;
            }
        }
        let name = |c: &Coefficient| shown(&c.name()).into_owned();
        let width = self.coefficients.iter().map(|c| name(c).chars().count()).max().unwrap_or(0);
        writeln!(out, "  {:>12}", figure(self.intercept))?;
        for c in &self.coefficients {
            self.write_coefficient(out, c, width)?;
        }
        if let Some(trees) = &self.trees {
            let mut shares: Vec<(f64, String)> =
                trees.shares.iter().copied().zip(self.coefficients.iter().map(name)).collect();
            shares.sort_by(|a, b| b.0.total_cmp(&a.0));
            let named = shares.iter().map(|(share, name)| format!("{name} {:.0} %", 100.0 * share));
            let (count, named) = (trees.trees.len(), named.collect::<Vec<_>>().join(", "));
            writeln!(out, "  and {count} trees; their gain by attribute: {named}")?;
        }
        if let Some(line) = &self.evidence {
            writeln!(out, "the line on the significant attributes alone:")?;
            writeln!(out, "  {:>12}", figure(line.intercept))?;
            let width = line.coefficients.iter().map(|c| name(c).chars().count()).max().unwrap_or(0);
            for c in &line.coefficients {
                self.write_coefficient(out, c, width)?;
            }
        }
        if let Some(holdout) = &self.holdout {
            writeln!(out, "on {} examples held out: {}", holdout.examples, holdout.summary(figure))?;
        }
        let spent = &self.spent;
        let &Spent { examples, attributes, most_attributes, missing, passed_over, .. } = spent;
        write!(out, "bought {attributes} values of {examples} examples, at most {most_attributes} of one")?;
        if missing > 0 {
            write!(out, "; {missing} of them were missing")?;
        }
        if passed_over > 0 {
            let examples = if passed_over == 1 { "example" } else { "examples" };
            write!(out, "; skipped {passed_over} {examples} with missing values")?;
        }
        if let Some(Holdout { examples, .. }) = self.holdout {
            let read = examples * self.columns().len();
            write!(out, "; measuring the error read {read} more of {examples} examples")?;
        }
        if self.origin.journal.is_some() {
            write!(out, "; {} of them were learned from", self.origin.examples)?;
        }
        if spent.void > 0 {
            write!(out, ", {} closed without a result", spent.void)?;
        }
        if spent.imported > 0 {
            write!(out, "; beside them, {} that were known before were learned from", spent.imported)?;
        }
        if let Some(traffic) = spent.traffic {
            write!(out, "\n{traffic}")?;
        }
        if let (Some(money), Some(cost)) = (&spent.money, self.cost()) {
            let [total, most, budget, cost] = [money.total, money.most, money.budget, cost].map(figure);
            write!(out, "\nspent {total}, at most {most} of the budget of {budget} on one example; ")?;
            write!(out, "a prediction costs {cost}")?;
        }
        let significant = self.evidence.as_ref().map_or(&self.coefficients, |line| &line.coefficients);
        if significant.iter().any(|c| self.interval_of(c).is_some()) {
            let always = if self.is_of_study() { ", whenever you look" } else { "" };
            write!(out, "\nin brackets: 95 % intervals{always}; they rest on ")?;
            write!(out, "the examples since the significant attributes changed last")?;
        } else if !significant.is_empty() && self.origin.choices.method == "pursuit" {
            write!(out, "\nthere are no intervals yet: too few examples have come since the significant ")?;
            write!(out, "attributes changed last")?;
        }
        if self.holdout.as_ref().is_some_and(|holdout| holdout.accuracy.is_none()) {
            write!(out, "\n+- is the half-width of a 95 % interval")?;
        }
        writeln!(out)
    }
}

impl Model {
    fn is_of_study(&self) -> bool {
        self.origin.journal.is_some()
    }

    /// Returns the interval of a coefficient that the model is printed with: of a study that for all times,
    /// since people look at it all the time.
    fn interval_of(&self, one: &Coefficient) -> Option<[f64; 2]> {
        if self.is_of_study() { one.anytime_interval } else { one.interval }
    }

    fn write_coefficient(&self, out: &mut fmt::Formatter<'_>, c: &Coefficient, width: usize) -> fmt::Result {
        let (value, name) = (signed(c.value), shown(&c.name()).into_owned());
        let interval = self.interval_of(c).map(|ends| {
            let [low, high] = ends.map(figure);
            format!("  [{low}, {high}]")
        });
        let interval = interval.unwrap_or_default();
        let line = format!("  {value:>12} * {name:<width$}{interval}");
        writeln!(out, "{}", line.trim_end())
    }
}

impl Holdout {
    /// Returns what matters of the error, in a sentence without its end.
    pub fn summary(&self, number: impl Fn(f64) -> String) -> String {
        let Holdout { mean_squared_error, standard_error, .. } = self;
        let Some(accuracy) = self.accuracy else {
            let (error, doubt) = (number(*mean_squared_error), number(HALF_WIDTH * standard_error));
            let r2 = self.r2();
            // Labels that hardly differ have squares that are no numbers.
            let r2 = if r2.is_finite() { format!(", R2 {r2:.3}") } else { String::new() };
            return format!("mean squared error {error} +- {doubt}{r2}");
        };
        let mut text = format!("{:.1} % correct", 100.0 * accuracy);
        if let Some(majority) = self.majority {
            text += &format!(" (the larger class alone: {:.1} %)", 100.0 * majority);
        }
        if let Some(auc) = self.auc {
            text += &format!(", AUC {auc:.3}");
        }
        if let Some(loss) = self.log_loss {
            text += &format!(", log loss {loss:.3}");
        }
        if let Some(loss) = self.log_loss_of_share {
            text += &format!(" (the share alone: {loss:.3})");
        }
        text
    }
}

/// Returns a number with four significant digits.
fn figure(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 {
        "0".into()
    } else if (1e-3..1e6).contains(&size) {
        let digits = (3 - size.log10().floor() as i32).max(0) as usize;
        format!("{x:.digits$}")
    } else {
        format!("{x:.3e}")
    }
}

fn signed(x: f64) -> String {
    if x < 0.0 { figure(x) } else { format!("+{}", figure(x)) }
}

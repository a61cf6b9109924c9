//! A model as text.

use super::{Coefficient, Holdout, Model, Spent};
use crate::examples::Label;
use std::fmt;

/// The half-width of an interval that holds 95 % of a normal law, in standard errors.
pub const HALF_WIDTH: f64 = 1.96;

impl fmt::Display for Model {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.label {
            Label::Number => writeln!(out, "{} =", self.target)?,
            Label::Classes { positive, .. } => {
                writeln!(out, "{} is {positive} where this is positive:", self.target)?
            }
        }
        let name = |c: &Coefficient| c.name();
        let width = self.coefficients.iter().map(|c| name(c).chars().count()).max().unwrap_or(0);
        writeln!(out, "  {:>12}", figure(self.intercept))?;
        for c in &self.coefficients {
            let error = c
                .standard_error
                .map_or_else(String::new, |error| format!("  +- {}", figure(HALF_WIDTH * error)));
            writeln!(out, "  {:>12} * {:<width$}{error}", signed(c.value), name(c))?;
        }
        if let Some(holdout) = &self.holdout {
            let Holdout { examples, mean_squared_error, standard_error, .. } = holdout;
            let (error, doubt) = (figure(*mean_squared_error), figure(HALF_WIDTH * standard_error));
            write!(out, "on {examples} examples held out: mean squared error {error} +- {doubt}")?;
            write!(out, ", R2 {:.3}", holdout.r2())?;
            holdout.accuracy.map_or(Ok(()), |share| write!(out, ", {:.1} % correct", 100.0 * share))?;
            holdout.log_loss.map_or(Ok(()), |loss| write!(out, ", log loss {loss:.3}"))?;
            writeln!(out)?;
        }
        let Spent { examples, attributes, most_attributes, passed_over, void, ref money } = self.spent;
        write!(out, "bought {attributes} values of {examples} examples, at most {most_attributes} of one")?;
        if passed_over > 0 {
            let examples = if passed_over == 1 { "example" } else { "examples" };
            write!(out, "; skipped {passed_over} {examples} with missing values")?;
        }
        if self.origin.journal.is_some() {
            write!(out, "; {} of them were learned from", self.origin.examples)?;
        }
        if void > 0 {
            write!(out, ", {void} closed without a result")?;
        }
        if let (Some(money), Some(cost)) = (money, self.cost()) {
            let [total, most, budget, cost] = [money.total, money.most, money.budget, cost].map(figure);
            write!(out, "\nspent {total}, at most {most} of the budget of {budget} on one example; ")?;
            write!(out, "a prediction costs {cost}")?;
        }
        let has_errors = self.coefficients.iter().any(|c| c.standard_error.is_some());
        if has_errors || self.holdout.is_some() {
            write!(out, "\n+- is the half-width of a 95 % interval")?;
        }
        writeln!(out)
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

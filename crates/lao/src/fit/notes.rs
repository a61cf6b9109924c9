//! What a run says of its examples, beside the model: notes, and errors by the name of the column.

use super::Learned;
use crate::error::Error;
use crate::examples::{Examples, Label, Stream};
use crate::model::Model;
use crate::prices::PricedColumns;
use lao_algorithms::AnyParams;
use lao_algorithms::phases::{Chosen, Decision};
use lao_observation::tariff::pays;
use lao_observation::{LearnError, Session, SessionError, Source as _};

/// Returns the note that some panels cost more than a prediction may, so that they are never bought.
pub(super) fn too_dear(priced: &PricedColumns, parameters: &AnyParams) -> Option<String> {
    let settled = parameters.settled().into_iter().find(|(name, _)| *name == "per_prediction");
    let (_, most) = settled?;
    let is_dear = |panel: &u32| !pays(most, priced.tariff.price_alone(*panel));
    let dear: Vec<&str> =
        priced.tariff.panels().filter(is_dear).map(|panel| priced.panels[panel as usize].as_str()).collect();
    (!dear.is_empty())
        .then(|| format!("never bought, since a prediction may cost {most}: {}", dear.join(", ")))
}

/// Returns the note that no more bytes may be read.
pub(super) fn out_of_bytes(examples: &Examples, learned_from: u64) -> Option<String> {
    examples.traffic().filter(|traffic| traffic.is_spent()).map(|_| {
        format!(
            "learning ended after {learned_from} examples, since no more bytes may be read (--most-bytes)"
        )
    })
}

/// Returns an error of a run by the name of the column. What needs no safeguard has no step size that could
/// be too large, but squares of values, which must be numbers.
pub(super) fn by_name(error: SessionError, examples: &Examples, learned: &Learned) -> Error {
    match error {
        SessionError::Learn(LearnError::Diverged { attribute, value, .. })
            if !learned.learner.is_safeguarded() =>
        {
            let column = examples.names().get(attribute).cloned().unwrap_or_default();
            let reason =
                format!("{value:e} is too large; give it in another unit, so that values are below 1e70");
            Error::Column { column, reason }
        }
        SessionError::Learn(LearnError::NotFinite { attribute: Some(attribute), value }) => {
            let column = examples.names().get(attribute as usize).cloned().unwrap_or_default();
            Error::Column {
                column,
                reason: format!("{value} is no finite number; replace it, or leave it empty"),
            }
        }
        other => other.into(),
    }
}

/// Returns a note if an attribute with a significant effect has no place in the model.
pub(super) fn shut_out(model: &Model) -> Option<String> {
    let full = model.coefficients.len();
    let most = model.choices().into_iter().find(|choice| choice.name == "most-attributes")?;
    // The attributes of another predictor than Pursuit's are not chosen by their significance.
    let shut = model.candidates.iter().find(|one| one.shut_out && model.evidence.is_none())?;
    Some(format!(
        "`{}` would be taken in, too, but the model has its largest number of attributes, {full} \
         (--most-attributes {}; a larger --budget allows more)",
        shut.name, most.value
    ))
}

/// Returns what decided between a line and trees, in words.
pub(super) fn decided(model: &Model, decision: Decision) -> Option<String> {
    let Decision { chosen, rows, errors: [pursuit, ridge, trees] } = decision;
    let less = |than: f64, error: f64| format!("{:.0} % less error", 100.0 * (1.0 - error / than));
    let rows = format!("on {rows} complete rows");
    let no_evidence = || {
        let empty = model.evidence.as_ref().is_some_and(|line| line.coefficients.is_empty());
        if empty { "; no single attribute has a significant effect" } else { "" }
    };
    match chosen {
        Chosen::Pursuit => None,
        Chosen::Ridge => Some(format!(
            "a line on all attributes that were bought complete: {} than one on the significant ones \
             {rows}{}; `--shape line` keeps the latter",
            less(pursuit, ridge),
            no_evidence()
        )),
        Chosen::Trees => Some(format!(
            "trees: {} than a line {rows}{}; `--shape line` keeps the line",
            less(pursuit.min(ridge), trees),
            no_evidence()
        )),
    }
}

/// Returns how many of the values that were bought were missing, if examples with gaps are learned from.
pub(super) fn missing(session: &Session<Stream>) -> u64 {
    let stream = session.source();
    if stream.has_gaps() { stream.lacking().iter().map(|(_, count)| count).sum() } else { 0 }
}

/// Returns a note on columns whose gaps cost much.
pub(super) fn of_gaps(session: &Session<Stream>, gaps: bool) -> Option<String> {
    /// The share of examples that is noted.
    const MUCH: f64 = 0.2;
    let (stream, examples) = (session.source(), session.ledger().examples);
    let of = (stream.skipped + examples) as f64;
    let much = |count: u64| count as f64 > MUCH * of;
    let mut lacking = stream.lacking();
    lacking.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let named = lacking.iter().take(3).map(|(column, count)| format!("`{column}` {count} times"));
    let named = named.collect::<Vec<_>>().join(", ");
    if gaps {
        let worst = lacking.first().filter(|(_, count)| much(*count))?.0;
        return Some(format!(
            "asked for in vain: {named}; what is often missing is asked for less often, and `--drop {}` \
             spends the budget on other columns",
            crate::escape::argument(worst)
        ));
    }
    much(stream.skipped).then(|| {
        format!(
            "{} of {of} examples were skipped, since a value was missing: {named}; `--drop` leaves such a \
             column out, and the method pursuit learns from examples with gaps",
            stream.skipped
        )
    })
}

/// Returns a note if the rows of a page are alike, so that examples with the same looks say less than as many
/// others.
pub(super) fn alike(examples: &Examples) -> Result<Option<String>, Error> {
    /// Pages of rows in a random order have 1.
    const MUCH: f64 = 2.0;
    let likeness = examples.likeness()?.filter(|likeness| *likeness > MUCH);
    Ok(likeness.map(|likeness| {
        format!(
            "the rows of a page are alike: between pages the label varies {likeness:.0} times as much as it \
             would in a random order. The examples of a page have the same looks, so the model can be far \
             worse than one of the table in memory, and levels and intervals do not hold; `lao data TABLE \
             --rewrite NEW.parquet --shuffle` writes the rows in a random order"
        )
    }))
}

/// Returns a note if examples of a class come together, so that the order tells of the label.
pub(super) fn sorted_by_class(training: &Examples) -> Result<Option<String>, Error> {
    /// Parts of the examples that are compared, and the part of the variance between them that is noted.
    const PARTS: usize = 10;
    const SORTED: f64 = 0.5;
    let Label::Classes { positive, .. } = training.label() else { return Ok(None) };
    let n = training.len();
    if n < 10 * PARTS {
        return Ok(None);
    }
    let (mut sums, mut place) = ([0.0; PARTS], 0);
    let of_part = n.div_ceil(PARTS);
    training.each_label(0..n, |y| {
        sums[place / of_part] += y;
        place += 1;
    })?;
    let mean = sums.iter().sum::<f64>() / n as f64;
    let length = |part: usize| (n - part * of_part).min(of_part) as f64;
    let begun = sums.iter().enumerate().filter(|(part, _)| part * of_part < n);
    let between: f64 = begun.map(|(part, sum)| length(part) * (sum / length(part) - mean).powi(2)).sum();
    Ok((between > SORTED * n as f64 * (1.0 - mean * mean)).then(|| {
        format!(
            "the examples come sorted by their class: `{positive}` is far more frequent in some parts of the \
             table than in others; a model that learns in this order cannot be trusted, and its \
             probabilities are left out; do without `--in-order` (shuffle=True in Python)"
        )
    }))
}

//! What is said of a table that was read: what was guessed, and what looks odd.

use super::{Column, Fields, FirstWord, Values};
use crate::escape::argument;
use std::collections::HashMap;

/// Fields of one number that is far from all others, to be suspected; and standard deviations that are far.
const SUSPECTS: usize = 5;
const FAR: f64 = 8.0;
/// Standard deviations that are far for the only negative number.
const FAR_BELOW: f64 = 3.0;

/// Returns the names of a header, all different. `row` is the first row: it has a field more if the rows have
/// names of their own, as R writes them, or end in a separator.
pub(super) fn names(header: &[Vec<u8>], row: &[Vec<u8>], notes: &mut Vec<String>) -> Vec<String> {
    let mut header: Vec<String> =
        header.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    if row.len() == header.len() + 1 {
        if row.last().is_some_and(Vec::is_empty) {
            header.push(String::new());
        } else {
            header.insert(0, String::new());
            notes.push(
                "the rows have a field more than the first line has names, so that the first column, c1, \
                 has the names of the rows (--drop c1 leaves it out)"
                    .into(),
            );
        }
    }
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut names: Vec<String> = Vec::with_capacity(header.len());
    for (c, name) in header.into_iter().enumerate() {
        let name = if name.is_empty() { format!("c{}", c + 1) } else { name };
        let mut own = name.clone();
        let mut count = 1;
        while let Some(other) = seen.get(&own) {
            count += 1;
            own = format!("{name}_{count}");
            if !seen.contains_key(&own) {
                notes.push(format!(
                    "columns {} and {} are both called `{name}`; the latter is `{own}`",
                    other + 1,
                    c + 1
                ));
            }
        }
        seen.insert(own.clone(), c);
        names.push(own);
    }
    names
}

/// Fields of a column of numbers that are none.
pub(super) struct Odd<'a> {
    pub column: &'a str,
    pub fields: usize,
    /// Fields of the column.
    pub rows: usize,
    pub first: Option<FirstWord>,
}

/// Returns the notes on columns of numbers of which some fields are none: one for the columns whose first
/// such field is the same.
pub(super) fn odd(found: &[Odd<'_>]) -> Vec<String> {
    let word = |odd: &Odd<'_>| odd.first.as_ref().map(|first| first.word.clone());
    let mut groups: Vec<Vec<&Odd<'_>>> = Vec::new();
    for odd in found {
        match groups.iter_mut().find(|group| word(group[0]) == word(odd)) {
            Some(group) => group.push(odd),
            None => groups.push(vec![odd]),
        }
    }
    groups.iter().map(|group| note_on_odd(group)).collect()
}

fn note_on_odd(group: &[&Odd<'_>]) -> String {
    let such = group[0].first.as_ref().map_or_else(String::new, |FirstWord { at, word }| {
        format!(", the first `{}` in {at}", shortened(word))
    });
    let [fields, rows] =
        [|odd: &&Odd<'_>| odd.fields, |odd: &&Odd<'_>| odd.rows].map(|of| group.iter().map(of).sum());
    let are = match fields {
        1 => format!("1 of {rows} fields is no number and counts"),
        _ => format!("{fields} of {rows} fields are no numbers and count"),
    };
    let column = argument(group[0].column);
    let (words, reads) = match group.len() {
        1 => (format!("--words {column}"), "reads the column as words"),
        _ => (format!("--words {column} and so on"), "read them as words"),
    };
    format!("{}: {are} as missing{such} ({words} {reads})", listed(group.iter().map(|odd| odd.column)))
}

/// Returns the names of the first columns, and how many there are beside them.
fn listed<'a>(columns: impl ExactSizeIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 4;
    let more = columns.len().saturating_sub(SHOWN);
    let first = columns.take(SHOWN).map(|column| format!("`{column}`")).collect::<Vec<_>>().join(", ");
    match more {
        0 => first,
        1 => format!("{first} and 1 more column"),
        more => format!("{first} and {more} more columns"),
    }
}

/// Returns the notes on columns of words in which a mark counts as missing, one for each mark. In ARFF `?`
/// always does, which needs no note.
pub(super) fn marks(found: &[(&str, (Vec<u8>, usize))], is_arff: bool) -> Vec<String> {
    let mut marks: Vec<&[u8]> = Vec::new();
    for (_, (mark, _)) in found {
        let is_known = marks.contains(&&mark[..]) || is_arff && mark == b"?";
        if !is_known {
            marks.push(mark);
        }
    }
    let note = |mark: &[u8]| {
        let of = || found.iter().filter(move |(_, (other, _))| other == mark);
        let count: usize = of().map(|(_, (_, count))| count).sum();
        let times = if count == 1 { "once".into() } else { format!("{count} times") };
        let columns = listed(of().map(|(column, _)| *column).collect::<Vec<_>>().into_iter());
        let mark = String::from_utf8_lossy(mark);
        format!("{columns}: `{mark}` counts as missing, {times} (--na-only keeps it as a word)")
    };
    marks.into_iter().map(note).collect()
}

pub(super) fn shortened(word: &str) -> String {
    let short: String = word.chars().take(40).collect();
    if short.len() < word.len() { short + "…" } else { short }
}

/// Returns notes on what was given as missing and is nowhere.
pub(super) fn gaps_that_never_occur(
    fields: &Fields,
    found: &[usize],
    occurs: &dyn Fn(&[u8]) -> bool,
) -> Vec<String> {
    let never = |(at, gap, is_number): &(usize, &[u8], bool)| {
        let there = || !gap.is_empty() && occurs(gap);
        !found.contains(at) && (*is_number || !there())
    };
    let note = |(_, gap, _): (usize, &[u8], bool)| {
        format!("--na {}: the table has no such field", String::from_utf8_lossy(gap))
    };
    fields.gaps().filter(never).map(note).collect()
}

/// Returns a note on a column that looks like the number of the row, or has a number that stands for a
/// missing one.
pub(super) fn suspect(column: &Column) -> Option<String> {
    let Values::Numbers(numbers) = &column.values else { return None };
    let name = &column.name;
    let counts = numbers.len() >= 10 && numbers.iter().all(|x| x.fract() == 0.0);
    if counts && numbers.windows(2).all(|two| two[1] - two[0] == 1.0) {
        return Some(format!(
            "`{name}` counts the rows: --drop {}, unless it means more than that",
            argument(name)
        ));
    }
    let known = || numbers.iter().copied().filter(|x| !x.is_nan());
    let (low, high) = known().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    let is_suspect = |value: f64| {
        let (mut count, mut mean, mut square, mut least) = (0.0, 0.0, 0.0, f64::INFINITY);
        let mut equal = 0;
        for x in known() {
            if x == value {
                equal += 1;
                continue;
            }
            count += 1.0;
            let off = x - mean;
            mean += off / count;
            square += off * (x - mean);
            least = least.min(x);
        }
        let deviation = (square / count).sqrt();
        let far = (value - mean).abs() / deviation;
        let negative = value < 0.0 && least >= 0.0 && far > FAR_BELOW;
        equal >= SUSPECTS && deviation > 0.0 && value.fract() == 0.0 && (far > FAR || negative)
    };
    let value = [low, high].into_iter().filter(|_| low < high).find(|value| is_suspect(*value))?;
    Some(format!(
        "`{name}`: {value} is far from all other values; does it stand for a missing one (--na \
         {})?",
        argument(&format!("{name}={value}"))
    ))
}

//! What is said of a table that was read: what was guessed, and what looks odd.

use super::{Column, Fields, FirstWord, Values};
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

/// Returns the note on a column of numbers of which some fields are none.
pub(super) fn odd(column: &str, odd: usize, rows: usize, first: Option<&FirstWord>) -> String {
    let such = first.map_or_else(String::new, |FirstWord { line, word }| {
        format!(", the first `{}` in line {line}", shortened(word))
    });
    let are = if odd == 1 { "field is no number and counts" } else { "fields are no numbers and count" };
    format!("`{column}`: {odd} of {rows} {are} as missing{such} (--words {column} reads the column as words)")
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
        let columns: Vec<String> = of().take(4).map(|(column, _)| format!("`{column}`")).collect();
        let columns = match of().count() - columns.len() {
            0 => columns.join(", "),
            more => format!("{} and {more} more columns", columns.join(", ")),
        };
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
pub(super) fn gaps_that_never_occur(fields: &Fields, found: &[usize], text: &[u8]) -> Vec<String> {
    let never = |(at, gap, is_number): &(usize, &[u8], bool)| {
        let there = || !gap.is_empty() && memchr::memmem::find(text, gap).is_some();
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
        return Some(format!("`{name}` counts the rows: --drop {name}, unless it means more than that"));
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
         {name}={value})?"
    ))
}

//! What a column of labels says: numbers, or two classes.

use super::Label;
use crate::error::Error;
use crate::frame::{FirstWord, Values};

/// A class of a label, and the number of rows that have it.
struct Class {
    name: String,
    value: f64,
    rows: usize,
}

/// The most classes that are listed.
const LISTED: usize = 12;

/// Returns the label, and its value in each row, NaN where it is missing. Of more than two classes,
/// `positive` is learned against all others.
pub(super) fn labels(
    values: &Values,
    target: &str,
    positive: Option<&str>,
    notes: &mut Vec<String>,
) -> Result<(Label, Vec<f64>), Error> {
    let fail = |reason: String| Err(Error::Column { column: target.into(), reason });
    let of_words: Vec<f64>;
    let (numbers, words): (&[f64], &[String]) = match (values, values.words()) {
        (Values::Numbers(numbers), _) => (numbers, &[]),
        (_, Some((words, places))) => {
            let known = |at: &u32| (*at as usize) < words.len();
            of_words = places.iter().map(|at| if known(at) { f64::from(*at) } else { f64::NAN }).collect();
            (&of_words, words)
        }
        (Values::TooManyWords(first), _) => {
            return fail(format!("it has {}; a label has numbers, or two classes", too_many(first.as_ref())));
        }
        (Values::Others(why), _) => return fail(format!("{why}; a label has numbers, or two classes")),
        (Values::Words { .. }, None) => (&[], &[]),
    };
    let named = |x: f64| words.get(x as usize).cloned().unwrap_or_else(|| x.to_string());
    let mut classes: Vec<Class> = Vec::new();
    for &x in numbers.iter().filter(|x| !x.is_nan()) {
        match classes.iter().position(|class| class.value == x) {
            Some(at) => classes[at].rows += 1,
            None if classes.len() > LISTED => break,
            None => classes.push(Class { name: named(x), value: x, rows: 1 }),
        }
    }
    classes.sort_by(|a, b| a.value.total_cmp(&b.value));
    let listed = || {
        let each = classes.iter().map(|Class { name, rows, .. }| format!("`{name}` ({rows} rows)"));
        each.collect::<Vec<_>>().join(", ")
    };
    if classes.len() < 2 {
        return fail("the label must have at least two different values".into());
    }
    if classes.len() > 2 && positive.is_none() {
        let few = classes.len() <= LISTED;
        if !words.is_empty() {
            let (count, list) = (words.len(), if few { format!(": {}", listed()) } else { String::new() });
            return fail(format!(
                "it has {count} different words{list}; a label has numbers, or two classes: --positive \
                 CLASS learns one class against all others, and --na CLASS takes a class as missing"
            ));
        }
        if few && classes.len() <= 10 && classes.iter().all(|class| class.value.fract() == 0.0) {
            notes.push(format!(
                "`{target}` is learned as a number, and has {} values: {}; --positive VALUE learns one of \
                 them against all others",
                classes.len(),
                listed()
            ));
        }
        return Ok((Label::Number, numbers.to_vec()));
    }
    let is = |class: &&Class, wanted: &str| {
        let same = wanted.parse::<f64>().is_ok_and(|x| words.is_empty() && x == class.value);
        class.name == wanted || same
    };
    let chosen = match positive {
        None => &classes[1],
        Some(_) if words.is_empty() && classes.len() > LISTED => {
            return fail("it has numbers, too many to be classes".into());
        }
        Some(wanted) => match classes.iter().find(|class| is(class, wanted)) {
            Some(class) => class,
            None => return fail(format!("no class is `{wanted}`; the classes are {}", listed())),
        },
    };
    let negative = match &classes[..] {
        [one, two] => if one.value == chosen.value { two } else { one }.name.clone(),
        _ => {
            let (positive, others) = (&chosen.name, classes.len() - 1);
            notes.push(format!(
                "`{target}`: `{positive}` is learned against {others} other classes, called `rest`"
            ));
            if *positive == "rest" { "others".into() } else { "rest".into() }
        }
    };
    let class = |x: &f64| match *x {
        x if x.is_nan() => x,
        x if x == chosen.value => 1.0,
        _ => -1.0,
    };
    let label = Label::Classes { positive: chosen.name.clone(), negative };
    Ok((label, numbers.iter().map(class).collect()))
}

/// Says that a column has more different words than can be used.
pub(super) fn too_many(first: Option<&FirstWord>) -> String {
    let such = first.map_or_else(String::new, |FirstWord { at, word }| {
        let short: String = word.chars().take(40).collect();
        format!(", such as `{short}` in {at}")
    });
    format!("too many different words{such}")
}

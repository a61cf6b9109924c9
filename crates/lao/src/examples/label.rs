//! What a column of labels says: numbers, or two classes.

use super::Label;
use crate::error::Error;
use crate::frame::{FirstWord, Values};

/// A class of a label, and the number of rows that have it.
#[derive(Clone, Debug)]
struct Class {
    name: String,
    value: f64,
    rows: usize,
}

/// The most classes that are listed.
const LISTED: usize = 12;

/// The different values of a label, of which one more are counted than are listed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Classes {
    found: Vec<Class>,
    /// Whether there are more.
    more: bool,
}

/// How values of a column become labels; NaN, which is missing, stays.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Coding {
    /// They are.
    Number,
    /// One value is the class +1, and all others are -1.
    Class(f64),
}

impl Coding {
    /// Returns the label of a value.
    pub fn label(self, x: f64) -> f64 {
        match self {
            Coding::Number => x,
            Coding::Class(_) if x.is_nan() => x,
            Coding::Class(chosen) if x == chosen => 1.0,
            Coding::Class(_) => -1.0,
        }
    }
}

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
    let mut classes = Classes::default();
    numbers.iter().for_each(|x| classes.count(*x));
    let (label, coding) = classes.decided(words, target, positive, notes)?;
    Ok((label, numbers.iter().map(|x| coding.label(*x)).collect()))
}

impl Classes {
    /// Counts a value, unless it is missing or there are too many different ones to list.
    pub fn count(&mut self, x: f64) {
        if x.is_nan() || self.more {
            return;
        }
        match self.found.iter().position(|class| class.value == x) {
            Some(at) => self.found[at].rows += 1,
            None if self.found.len() > LISTED => self.more = true,
            None => self.found.push(Class { name: String::new(), value: x, rows: 1 }),
        }
    }

    /// Decides what the label is. If the column has `words`, a value is the place of one.
    pub fn decided(
        self,
        words: &[String],
        target: &str,
        positive: Option<&str>,
        notes: &mut Vec<String>,
    ) -> Result<(Label, Coding), Error> {
        let fail = |reason: String| Err(Error::Column { column: target.into(), reason });
        let mut classes = self.found;
        for class in &mut classes {
            let x = class.value;
            class.name = words.get(x as usize).cloned().unwrap_or_else(|| x.to_string());
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
                let (count, list) =
                    (words.len(), if few { format!(": {}", listed()) } else { String::new() });
                return fail(format!(
                    "it has {count} different words{list}; a label has numbers, or two classes: --positive \
                     CLASS learns one class against all others, and --na CLASS takes a class as missing"
                ));
            }
            if few && classes.len() <= 10 && classes.iter().all(|class| class.value.fract() == 0.0) {
                notes.push(format!(
                    "`{target}` is learned as a number, and has {} values: {}; --positive VALUE learns one \
                     of them against all others",
                    classes.len(),
                    listed()
                ));
            }
            return Ok((Label::Number, Coding::Number));
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
        let label = Label::Classes { positive: chosen.name.clone(), negative };
        Ok((label, Coding::Class(chosen.value)))
    }
}

/// Says that a column has more different words than can be used.
pub(super) fn too_many(first: Option<&FirstWord>) -> String {
    let such = first.map_or_else(String::new, |FirstWord { at, word }| {
        let short: String = word.chars().take(40).collect();
        format!(", such as `{short}` in {at}")
    });
    format!("too many different words{such}")
}

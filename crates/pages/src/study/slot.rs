//! One example: what to order for it, and what came of it.
//!
//! What is typed is looked at twice: the page that checks it shows every number as it was understood, and
//! what is recorded then can no longer be changed.

use super::{StudyPages, in_words, status_of};
use crate::http::{Form, Reply};
use crate::study::today::order;
use hyper::StatusCode;
use lao::Label;
use lao_study::{Description, Entry, Study, StudyError};
use minijinja::{Value, context};

/// The values of an attribute that must be known before another one can be odd.
const ENOUGH: usize = 5;

/// What was typed of an example.
struct Typed {
    fields: Vec<Field>,
    label: String,
    label_error: Option<String>,
}

/// What was typed of an attribute.
struct Field {
    name: String,
    text: String,
    /// Whether it could not be had.
    absent: bool,
    value: Option<f64>,
    error: Option<String>,
    /// What is unusual about the value.
    odd: Option<String>,
}

/// Values and a label that can be recorded.
struct Checked {
    values: Vec<f64>,
    label: Option<f64>,
}

impl Typed {
    /// Returns fields in which nothing is typed.
    fn nothing(names: &[String]) -> Self {
        let field = |name: &String| Field {
            name: name.clone(),
            text: String::new(),
            absent: false,
            value: None,
            error: None,
            odd: None,
        };
        Typed { fields: names.iter().map(field).collect(), label: String::new(), label_error: None }
    }

    /// Reads a form. It has the names of its attributes, so that what was typed can be shown again even if
    /// the study cannot be opened.
    fn of(form: &Form) -> Self {
        let mut typed = Typed::nothing(&[]);
        for i in 0.. {
            let name = form.get(&format!("name-{i}"));
            if name.is_empty() {
                break;
            }
            let (text, absent) = (form.get(&format!("value-{i}")), form.get(&format!("absent-{i}")) == "yes");
            let value = if absent { Some(f64::NAN) } else { lao::decimal(text) };
            let error = match (text, absent) {
                ("", false) => Some("Give a number, or tick that it could not be had.".into()),
                ("", true) => None,
                (_, true) => Some("There is a number, and it is ticked that it could not be had.".into()),
                _ if value.is_none() => Some(format!("`{text}` is no number.")),
                _ => None,
            };
            let (name, text) = (name.to_owned(), text.to_owned());
            typed.fields.push(Field { name, text, absent, value, error, odd: None });
        }
        typed.label = form.get("label").to_owned();
        typed
    }

    /// Returns what can be recorded, or `None` after saying beside the fields why nothing can.
    fn checked(&mut self, description: &Description) -> Option<Checked> {
        let label = match (self.label.as_str(), &description.label) {
            ("", _) => Ok(None),
            (text, Label::Number) => {
                lao::decimal(text).map(Some).ok_or_else(|| format!("`{text}` is no number."))
            }
            (text, Label::Classes { positive, .. }) if text == positive => Ok(Some(1.0)),
            (text, Label::Classes { negative, .. }) if text == negative => Ok(Some(-1.0)),
            (text, _) => Err(format!("`{text}` is none of the two classes.")),
        };
        let sound = self.fields.iter().all(|field| field.error.is_none());
        match label {
            Err(error) => self.label_error = Some(error),
            Ok(label) if sound => {
                let values = self.fields.iter().map(|field| field.value.unwrap_or(f64::NAN)).collect();
                return Some(Checked { values, label });
            }
            Ok(_) => {}
        }
        None
    }

    /// Says which values are unlike those of the examples before.
    fn look(&mut self, entries: &[Entry], description: &Description) {
        for field in &mut self.fields {
            let known = description.attribute(&field.name).and_then(|j| range(entries, j));
            field.odd = match (known, field.value) {
                (Some([low, high]), Some(x)) => {
                    let margin = (high - low) / 2.0;
                    let is_odd = x < low - margin || x > high + margin;
                    is_odd.then(|| format!("so far the values were from {low} to {high}"))
                }
                _ => None,
            };
        }
    }

    fn rows(&self) -> Vec<Value> {
        let row = |field: &Field| {
            let (name, unit) = unit(&field.name);
            context! {
                name => &field.name, plain => name, unit, text => &field.text, absent => field.absent,
                value => field.value.filter(|x| !x.is_nan()).map(|x| x.to_string()),
                error => &field.error, odd => &field.odd,
            }
        };
        self.fields.iter().map(row).collect()
    }
}

impl StudyPages {
    /// Returns the page of an example: what to order and the fields for what comes of it, or what came.
    pub(super) fn slot(&self, number: u64, done: &str) -> Result<Option<Reply>, StudyError> {
        let study = self.open()?;
        let entries = study.entries()?;
        let Some(entry) = entry(&entries, number) else { return Ok(None) };
        let said = match done {
            "told" => Some("Recorded."),
            "void" => Some("Closed without a result."),
            "named" => Some("The name is recorded."),
            _ => None,
        };
        let typed = Typed::nothing(&names(entry, &study));
        let said = said.map(|said| (StatusCode::OK, said.to_owned()));
        Ok(Some(self.slot_page(&study, entry, &typed, said)))
    }

    /// Does what a form of an example asks for.
    pub(super) fn sent(&self, number: u64, what: &str, form: &Form) -> Result<Option<Reply>, StudyError> {
        let mut typed = Typed::of(form);
        let mut study = match self.open() {
            Ok(study) => study,
            Err(error) => return Ok(Some(self.kept(number, &typed, &error))),
        };
        let entries = study.entries()?;
        let Some(entry) = entry(&entries, number) else { return Ok(None) };
        let done = match what {
            "check" | "change" | "tell" if is_open(entry) => {
                let asked = names(entry, &study);
                if !typed.fields.iter().map(|field| &field.name).eq(&asked) {
                    // Somebody else has told the values, and the label is still missing.
                    return Ok(Some(self.told_page(&study, entry, Some(&typed))));
                }
                let description = study.description().clone();
                let checked = typed.checked(&description);
                typed.look(&entries, &description);
                let Some(Checked { values, label }) = checked.filter(|_| what != "change") else {
                    let said = (what != "change").then(|| {
                        let why = "Nothing was recorded yet: see what is said at the fields below.";
                        (StatusCode::UNPROCESSABLE_ENTITY, why.into())
                    });
                    if what == "change" {
                        typed.fields.iter_mut().for_each(|field| field.error = None);
                    }
                    return Ok(Some(self.slot_page(&study, entry, &typed, said)));
                };
                if what == "check" {
                    return Ok(Some(self.check_page(&study, entry, &typed)));
                }
                let waits = entry.values.is_some();
                match (waits, label) {
                    (false, label) => study.tell(number, &values, label).map(|()| "told"),
                    (true, Some(label)) => study.label(number, label).map(|()| "told"),
                    (true, None) => return Ok(Some(Reply::see(&format!("/slot/{number}")))),
                }
            }
            // Somebody else was faster.
            "check" | "change" | "tell" => {
                return Ok(Some(self.told_page(&study, entry, Some(&typed))));
            }
            "void" => study.void(number, form.get("reason")).map(|()| "void"),
            "name" => study.name(number, form.get("name")).map(|()| "named"),
            _ => return Ok(None),
        };
        Ok(Some(match done {
            Ok(done) => Reply::see(&format!("/slot/{number}?done={done}")),
            Err(error) => {
                let said = Some((status_of(&error), in_words(&error)));
                self.slot_page(&study, entry, &typed, said)
            }
        }))
    }

    /// Returns the fields of a slot with what was typed, if the study cannot be opened.
    fn kept(&self, number: u64, typed: &Typed, error: &StudyError) -> Reply {
        let values = context! {
            at => "today", number, rows => typed.rows(), label => &typed.label, said => in_words(error),
        };
        self.page(status_of(error), "check.html", values)
    }

    fn slot_page(
        &self,
        study: &Study,
        entry: &Entry,
        typed: &Typed,
        said: Option<(StatusCode, String)>,
    ) -> Reply {
        if !is_open(entry) {
            return match said {
                Some((StatusCode::OK, _)) | None => self.told_page(study, entry, None),
                Some(_) => self.told_page(study, entry, Some(typed)),
            };
        }
        let (status, said) = said.unzip();
        let slot = study.slot(entry.number).ok();
        let typed = if typed.fields.is_empty() && entry.values.is_none() {
            &Typed::nothing(&names(entry, study))
        } else {
            typed
        };
        let values = context! {
            at => "today",
            number => entry.number,
            name => &entry.name,
            said,
            failed => status.is_some_and(|status| !status.is_success()),
            order => slot.as_ref().map(order),
            waits => entry.values.is_some(),
            came => came(entry, study),
            rows => typed.rows(),
            label => &typed.label,
            label_error => &typed.label_error,
            ..about(study.description())
        };
        self.page(status.unwrap_or(StatusCode::OK), "slot.html", values)
    }

    fn check_page(&self, study: &Study, entry: &Entry, typed: &Typed) -> Reply {
        let values = context! {
            at => "today",
            number => entry.number,
            name => &entry.name,
            rows => typed.rows(),
            label => &typed.label,
            read => lao::decimal(&typed.label).map_or_else(|| typed.label.clone(), |x| x.to_string()),
            odd => typed.fields.iter().any(|field| field.odd.is_some()),
            ..about(study.description())
        };
        self.page(StatusCode::OK, "check.html", values)
    }

    /// Returns the page of an example of which all is known, with what was typed in vain.
    fn told_page(&self, study: &Study, entry: &Entry, typed: Option<&Typed>) -> Reply {
        let values = context! {
            at => "today",
            number => entry.number,
            name => &entry.name,
            void => &entry.void,
            came => came(entry, study),
            label => entry.label.map(|label| in_class(label, &study.description().label)),
            typed => typed.map(Typed::rows),
            typed_label => typed.map(|typed| &typed.label),
            ..about(study.description())
        };
        let status = if typed.is_some() { StatusCode::CONFLICT } else { StatusCode::OK };
        self.page(status, "told.html", values)
    }
}

/// Returns what pages say of the label.
fn about(description: &Description) -> Value {
    let classes = match &description.label {
        Label::Number => None,
        Label::Classes { positive, negative } => Some([positive.clone(), negative.clone()].to_vec()),
    };
    context! { target => &description.target, classes }
}

/// Returns the slot of a number; `None` if it was never handed out.
fn entry(entries: &[Entry], number: u64) -> Option<&Entry> {
    entries.iter().find(|entry| entry.number == number)
}

/// Returns whether values or a label can still come.
fn is_open(entry: &Entry) -> bool {
    entry.void.is_none() && entry.label.is_none()
}

/// Returns the attributes whose values are still to be told.
fn names(entry: &Entry, study: &Study) -> Vec<String> {
    let all = &study.description().attributes;
    let missing = if entry.values.is_some() { &[][..] } else { &entry.attributes };
    missing.iter().filter_map(|&j| all.get(j as usize).cloned()).collect()
}

/// Returns the values that are told.
fn came(entry: &Entry, study: &Study) -> Vec<Value> {
    let all = &study.description().attributes;
    let of = |(&j, x): (&u32, &f64)| {
        let name = all.get(j as usize)?;
        Some(context! { name, value => (!x.is_nan()).then(|| x.to_string()) })
    };
    entry.attributes.iter().zip(entry.values.iter().flatten()).filter_map(of).collect()
}

/// Returns a label as people write it.
pub(super) fn in_class(label: f64, of: &Label) -> String {
    match of {
        Label::Number => label.to_string(),
        Label::Classes { positive, .. } if label > 0.0 => positive.clone(),
        Label::Classes { negative, .. } => negative.clone(),
    }
}

/// Returns the smallest and the largest value of an attribute so far, if there are enough.
fn range(entries: &[Entry], attribute: u32) -> Option<[f64; 2]> {
    let of = |entry: &Entry| {
        let place = entry.attributes.binary_search(&attribute).ok()?;
        entry.values.as_ref()?.get(place).copied().filter(|x| !x.is_nan())
    };
    let values: Vec<f64> = entries.iter().filter_map(of).collect();
    let ends = values.iter().fold([f64::MAX, f64::MIN], |[low, high], &x| [x.min(low), x.max(high)]);
    (values.len() >= ENOUGH).then_some(ends)
}

/// Splits a name such as `CRP [mg/l]` into what is measured and its unit.
pub(crate) fn unit(name: &str) -> (&str, Option<&str>) {
    let between = |open, close| {
        let (plain, unit) = name.strip_suffix(close)?.rsplit_once(open)?;
        (!plain.trim().is_empty() && !unit.is_empty()).then_some((plain.trim(), Some(unit)))
    };
    between('[', ']').or_else(|| between('(', ')')).unwrap_or((name, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_what_stands_in_brackets_at_the_end() {
        assert_eq!(unit("CRP [mg/l]"), ("CRP", Some("mg/l")));
        assert_eq!(unit("pressure (mm Hg)"), ("pressure", Some("mm Hg")));
        for plain in ["CRP", "[mg/l]", "CRP []", "f(x) y", ")("] {
            assert_eq!(unit(plain), (plain, None));
        }
    }

    #[test]
    fn what_is_typed_is_a_number_or_cannot_be_had() {
        let form = Form::parse(
            b"name-0=a&value-0=3,5&name-1=b&absent-1=yes&name-2=c&value-2=x&name-3=d&name-4=e&value-4=1\
              &absent-4=yes",
        );
        let typed = Typed::of(&form);
        let sound: Vec<bool> = typed.fields.iter().map(|field| field.error.is_none()).collect();
        assert_eq!(sound, [true, true, false, false, false]);
        assert_eq!(typed.fields[0].value, Some(3.5));
        assert!(typed.fields[1].value.is_some_and(f64::is_nan));
    }
}

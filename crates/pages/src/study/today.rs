//! Today: what is open, and the next examples.

use super::{StudyPages, in_words, status_of};
use crate::http::{Form, Reply};
use hyper::StatusCode;
use lao_figures::number;
use lao_study::{Slot, Status, Study, StudyError};
use minijinja::{Value, context};

/// The most examples that a page asks for at once.
const MOST: u64 = 100;

impl StudyPages {
    /// Returns the page of today, with what is to be said first.
    pub(super) fn today(&self, study: &Study, said: Option<(StatusCode, String)>) -> Reply {
        let status = study.status();
        let name = |slot: &u64| study.name_of(*slot).unwrap_or_default().to_owned();
        let waiting: Vec<Value> =
            status.waiting.iter().map(|slot| context! { number => slot, name => name(slot) }).collect();
        let open: Vec<Value> = study.open_slots().iter().map(order).collect();
        let (code, said) = said.unzip();
        let values = context! {
            at => "today",
            said,
            open,
            waiting,
            target => &study.description().target,
            told => status.told,
            void => status.void,
            handed_out => status.slots,
            room => status.room,
            spent => status.spent.map(number),
            stands => plan(study, &status),
            most => MOST,
        };
        self.page(code.unwrap_or(StatusCode::OK), "today.html", values)
    }

    /// Hands out slots, unless some were handed out since the page was made: by another person, or by a form
    /// that was sent twice.
    pub(super) fn ask(&self, form: &Form) -> Result<Reply, StudyError> {
        let mut study = self.open()?;
        let refuse = |study: &Study, why: String| Ok(self.today(study, Some((StatusCode::CONFLICT, why))));
        let known = study.status().slots;
        if form.get("known").parse() != Ok(known) {
            let why = "Nothing was handed out: other examples were, since you opened this page. See whether \
                       yours is among them, or ask again.";
            return refuse(&study, why.into());
        }
        let (count, name) = (form.get("count"), form.get("name"));
        let Some(count) = count.parse().ok().filter(|count| (1..=MOST).contains(count)) else {
            return refuse(
                &study,
                format!("Nothing was handed out: give a number of examples from 1 to {MOST}."),
            );
        };
        if !name.is_empty() {
            if count > 1 {
                let why = "Nothing was handed out: a name is for one example; ask for one, or give the names \
                           later.";
                return refuse(&study, why.into());
            }
            if let Err(StudyError::Slot { state, .. }) = study.may_be_named(name) {
                return refuse(&study, format!("Nothing was handed out: the example {state}."));
            }
        }
        let ahead = form.get("ahead") == "yes";
        let asked = if ahead { study.ask_ahead(count) } else { study.ask(count) };
        let slots = match asked {
            Ok(slots) => slots,
            Err(error) => return Ok(self.today(&study, Some((status_of(&error), in_words(&error))))),
        };
        let Some(first) = slots.first() else {
            let why = "Nothing was handed out: what to order next depends on results that are still missing. \
                       Report those first, or hand out by the present choice.";
            return refuse(&study, why.into());
        };
        if !name.is_empty() {
            study.name(first.number, name)?;
        }
        let alone = slots.len() == 1;
        Ok(Reply::see(&if alone { format!("/slot/{}", first.number) } else { "/".into() }))
    }
}

/// Returns what to order for an example.
pub(super) fn order(slot: &Slot) -> Value {
    context! {
        number => slot.number,
        name => &slot.name,
        attributes => &slot.attributes,
        panels => &slot.panels,
        cost => slot.cost.map(number),
    }
}

/// Says where a plan stands, if there is one.
fn plan(study: &Study, status: &Status) -> Option<String> {
    let (examples, stands) = (study.description().examples?, status.stands()?);
    Some(format!("Of a plan of {examples} examples: {stands}."))
}

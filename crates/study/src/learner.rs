//! A stored learner: Pursuit alone, unless a number of examples is planned.

use lao::algorithms::phases::Phases;
use lao::algorithms::pursuit::Pursuit;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Deserialize)]
#[serde(untagged)]
enum Stored {
    Pursuit(Box<Pursuit>),
    Phases(Box<Phases>),
}

pub fn serialize<S: Serializer>(learner: &Phases, serializer: S) -> Result<S::Ok, S::Error> {
    if learner.is_planned() { learner.serialize(serializer) } else { learner.pursuit().serialize(serializer) }
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Phases, D::Error> {
    Ok(match Stored::deserialize(deserializer)? {
        Stored::Pursuit(pursuit) => Phases::from(*pursuit),
        Stored::Phases(phases) => *phases,
    })
}

//! Values of which some are missing: NaN in memory, `null` in JSON.

use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

pub(crate) fn serialize<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    let known = |&x: &f64| Some(x).filter(|x| !x.is_nan());
    values.iter().map(known).collect::<Vec<Option<f64>>>().serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let values = Vec::<Option<f64>>::deserialize(deserializer)?;
    Ok(values.into_iter().map(|x| x.unwrap_or(f64::NAN)).collect())
}

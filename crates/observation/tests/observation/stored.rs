//! What is stored comes back with its bits, whatever the shape of the state; what cannot be a state is
//! refused.

use lao_observation::stored::{Damaged, Validate};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Every shape that serde knows, with floats inside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
struct Shapes {
    plain: f64,
    list: Vec<f64>,
    pair: (f64, u32),
    array: [f64; 3],
    some: Option<f64>,
    none: Option<f64>,
    newtype: Newtype,
    map: BTreeMap<String, f64>,
    variants: Vec<Variant>,
    nested: Inner,
    text: String,
    flag: bool,
    unit: (),
    small: i8,
    large: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Newtype(f64);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Variant {
    Unit,
    One(f64),
    Two(f64, f64),
    Named { value: f64 },
}

/// A state within a state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
struct Inner {
    value: f64,
}

lao_observation::stored!(Shapes);
lao_observation::stored!(Inner);

impl Validate for Shapes {
    fn validate(&self) -> Result<(), Damaged> {
        Damaged::unless(self.small >= 0, "shapes", || format!("small is {}", self.small))
    }
}

impl Validate for Inner {
    fn validate(&self) -> Result<(), Damaged> {
        Ok(())
    }
}

/// As learners are kept side by side: what comes through here is buffered by serde.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
enum Tagged {
    Shapes(Shapes),
}

fn shapes(x: f64, y: f64) -> Shapes {
    Shapes {
        plain: x,
        list: vec![y, x],
        pair: (x, 7),
        array: [x, y, -x],
        some: Some(y),
        none: None,
        newtype: Newtype(x),
        map: [("a".into(), y), ("b".into(), x)].into(),
        variants: vec![Variant::Unit, Variant::One(x), Variant::Two(y, x), Variant::Named { value: y }],
        nested: Inner { value: x },
        text: "3fb999999999999a".into(),
        flag: true,
        unit: (),
        small: 5,
        large: u64::MAX,
    }
}

fn has_decimals(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::Number(number) => number.is_f64(),
        serde_json::Value::Array(items) => items.iter().any(has_decimals),
        serde_json::Value::Object(fields) => fields.values().any(has_decimals),
        _ => false,
    }
}

proptest! {
    #[test]
    fn bits_survive_whatever_the_shape(x: u64, y: u64) {
        let finite = |bits| Some(f64::from_bits(bits)).filter(|x| x.is_finite()).unwrap_or(0.1);
        let state = Tagged::Shapes(shapes(finite(x), finite(y)));
        let text = serde_json::to_string(&state).unwrap();
        // No reader of decimals can round what is not decimal.
        prop_assert!(!has_decimals(&serde_json::from_str(&text).unwrap()), "{text}");
        let back: Tagged = serde_json::from_str(&text).unwrap();
        // Text of the bits tells 0 and -0 apart, which == does not.
        prop_assert_eq!(serde_json::to_string(&back).unwrap(), text);
        let value = serde_json::to_value(&state).unwrap();
        prop_assert_eq!(serde_json::from_value::<Tagged>(value).unwrap(), state.clone());
        // In a binary format floats are what they are.
        let (mut bytes, mut plain) = (Vec::new(), Vec::new());
        let Tagged::Shapes(shapes) = state;
        ciborium::into_writer(&shapes, &mut bytes).unwrap();
        ciborium::into_writer(&shapes.list, &mut plain).unwrap();
        prop_assert_eq!(ciborium::from_reader::<Shapes, _>(&bytes[..]).unwrap(), shapes);
        prop_assert!(bytes.windows(plain.len()).any(|part| part == plain));
    }
}

#[test]
fn numbers_written_by_hand_are_read_and_what_is_not_finite_is_refused() {
    let read = |value: &str| serde_json::from_str::<Inner>(&format!(r#"{{"value":{value}}}"#));
    assert_eq!(read("0.25").unwrap().value, 0.25);
    assert_eq!(read("-3").unwrap().value, -3.0);
    assert_eq!(read("\"BFF0000000000000\"").unwrap().value, -1.0);
    let refused = [
        "\"7ff8000000000000\"",
        "\"7ff0000000000000\"",
        "\"fff0000000000000\"",
        "\"3ff\"",
        "\"+ff0000000000000\"",
        "\"3ff00000000000000\"",
        "\"\u{e9}f0000000000000\"",
        "null",
        "true",
        "[1.0]",
    ];
    for value in refused {
        let error = read(value).unwrap_err().to_string();
        assert!(error.contains("finite number"), "{value}: {error}");
    }
}

#[test]
fn a_state_that_does_not_fit_is_refused_with_its_reason() {
    let text = serde_json::to_string(&Shapes { small: -1, ..shapes(1.0, 2.0) }).unwrap();
    let error = serde_json::from_str::<Shapes>(&text).unwrap_err().to_string();
    assert!(error.contains("the stored shapes is damaged: small is -1"), "{error}");
}

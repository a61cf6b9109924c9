//! A test that `SCHEMA.md` names every field of the record.

use super::sample;
use serde_json::Value;
use std::collections::BTreeSet;

/// Collects the keys of all objects inside `value`, except those of `sizes`, which come from the plan.
fn keys(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields {
                found.insert(key.clone());
                if key != "sizes" {
                    keys(inner, found);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        _ => {}
    }
}

#[test]
fn every_field_of_a_record_is_documented() {
    let schema = include_str!("../../SCHEMA.md");
    let mut found = BTreeSet::new();
    keys(&serde_json::to_value(sample::record()).unwrap(), &mut found);
    let missing: Vec<_> = found.iter().filter(|key| !schema.contains(&format!("`{key}`"))).collect();
    assert!(found.len() > 50 && missing.is_empty(), "SCHEMA.md does not name {missing:?}");
}

#[test]
fn a_record_survives_storage() {
    let record = sample::record();
    let text = serde_json::to_string(&record).unwrap();
    assert_eq!(serde_json::from_str::<crate::record::RunRecord>(&text).unwrap(), record);
}

//! JSON of any content, compared with another library where both have the same rules.

use groupwire_shared::Json;
use proptest::prelude::*;

/// Parts of JSON, well-formed or not.
fn part() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&[
        "{", "}", "[", "]", ",", ":", "\"a\"", "\"\"", "\"", "\\n", "\\u00e9", "\\", "0", "1", "-",
        ".", "5e1", "E+", "01", "true", "null", "fals", " ", "\n", "\u{a0}", "é",
    ])
}

proptest! {
    #[test]
    fn finite_numbers_are_read_as_they_are_written(bits: u64) {
        let number = f64::from_bits(bits);
        prop_assume!(number.is_finite());
        prop_assert_eq!(Json::parse(&Json::from(number).to_string()).unwrap(), Json::from(number));
    }

    #[test]
    fn texts_of_any_utf_16_are_read_as_they_are_written(units: Vec<u16>) {
        let escaped: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
        let text = Json::parse(&format!("\"{escaped}\"")).unwrap();
        prop_assert_eq!(text.as_text().unwrap().units().collect::<Vec<_>>(), units.clone());
        prop_assert_eq!(text.as_str().is_some(), String::from_utf16(&units).is_ok());
        prop_assert_eq!(Json::parse(&text.to_string()).unwrap(), text);
    }

    #[test]
    fn what_is_json_is_json_for_others_too(parts in prop::collection::vec(part(), 0..16)) {
        let text = parts.concat();
        let other = serde_json::from_str::<serde_json::Value>(&text);
        let json = Json::parse(&text);
        prop_assert_eq!(json.is_ok(), other.is_ok(), "{}", text);
        if let (Ok(json), Ok(other)) = (json, other) {
            // The order of members differs, and how numbers are written.
            let again: serde_json::Value = serde_json::from_str(&json.to_string()).unwrap();
            prop_assert_eq!(as_f64(again), as_f64(other));
        }
    }
}

/// All numbers as `f64`, which the other library keeps apart from integers.
fn as_f64(value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::Number(number) => number.as_f64().into(),
        Value::Array(items) => items.into_iter().map(as_f64).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, value)| (name, as_f64(value))).collect()
        }
        other => other,
    }
}

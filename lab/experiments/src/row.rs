//! The rows that experiments write: rows of named fields.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::options::Common;

/// The fields that identify the rows of each experiment. The report and scripts/compare-rows.mjs
/// read the same file.
pub(crate) const KEYS: &str = include_str!("../keys.json");

/// The fields that identify an experiment's rows.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Keys {
    /// The fields that are conditions: rows with the same conditions are in one table.
    pub(crate) group: Vec<String>,
    /// The fields that tell the rows of a table apart.
    pub(crate) subject: Vec<String>,
}

/// The figures of one subject under one set of conditions. Fields have an order; those that do not
/// apply are null.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row(Vec<(&'static str, Value)>);

impl Row {
    /// A row of an experiment with these fields, written in one line with spaces between, of which
    /// all are null, and with the fields that every experiment has: how it was measured and whether
    /// what arrived is what was sent.
    pub(crate) fn new(experiment: &str, fields: &'static str, common: &Common) -> Row {
        let fields = fields.split_whitespace().map(|name| (name, Value::Null));
        let mut row = Row(vec![("experiment", experiment.into())]);
        row.0.extend(fields);
        row.0.push(("seed", common.seed.into()));
        row.0.push(("quick", common.quick.into()));
        row.0.push(("verified", true.into()));
        row.0.push(("failure", Value::Null));
        row
    }

    /// The row with this value in a field. Numbers that are not finite become null.
    ///
    /// # Panics
    /// The row has no such field.
    #[must_use]
    pub(crate) fn with(mut self, field: &str, value: impl Serialize) -> Row {
        self.set(field, value);
        self
    }

    /// Marks the row as failed, if there was a failure: not verified, and why.
    #[must_use]
    pub(crate) fn failed(self, failure: Option<impl ToString>) -> Row {
        let failure = failure.map(|why| why.to_string());
        self.with("verified", failure.is_none()).with("failure", failure)
    }

    /// Sets the value of a field, as [`Row::with`] does.
    pub(crate) fn set(&mut self, field: &str, value: impl Serialize) {
        let place = self.0.iter_mut().find(|(name, _)| *name == field);
        let place =
            place.unwrap_or_else(|| panic!("rows of this experiment have no field {field}"));
        place.1 = serde_json::to_value(value).expect("rows hold names, numbers and lists of them");
    }

    /// The value of a field: null if the row has none of this name.
    pub(crate) fn get(&self, field: &str) -> &Value {
        const NULL: &Value = &Value::Null;
        self.0.iter().find(|(name, _)| *name == field).map_or(NULL, |(_, value)| value)
    }

    /// A number, if the field is one.
    pub(crate) fn number(&self, field: &str) -> Option<f64> {
        self.get(field).as_f64()
    }

    /// The text of a field; empty if the field is no text.
    pub(crate) fn text(&self, field: &str) -> &str {
        self.get(field).as_str().unwrap_or_default()
    }

    /// Whether the field is true.
    pub(crate) fn is(&self, field: &str) -> bool {
        *self.get(field) == Value::Bool(true)
    }

    /// Fields in their order.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.0.iter().map(|(name, value)| (*name, value))
    }

    /// The fields that identify this row.
    pub(crate) fn keys(&self) -> &'static Keys {
        static ALL: OnceLock<BTreeMap<String, Keys>> = OnceLock::new();
        let all = ALL.get_or_init(|| serde_json::from_str(KEYS).expect("keys.json has this form"));
        &all[self.text("experiment")]
    }

    /// True if Groupwire delivered something else than was sent, which fails the experiment. In
    /// rows of ablations it does not count.
    pub(crate) fn is_wrong(&self) -> bool {
        !self.is("verified") && matches!(self.text("ablation"), "" | "none")
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.fields())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keep_their_order_and_are_null_until_they_are_set() {
        let row = Row::new("gmc", "trace bytes_out", &Common::default());
        let row = row.with("bytes_out", f64::NAN).with("trace", "xml");
        let expected = r#"{"experiment":"gmc","trace":"xml","bytes_out":null,"seed":0,"quick":false,"verified":true,"failure":null}"#;
        assert_eq!(serde_json::to_string(&row).unwrap(), expected);
        assert_eq!(row.keys().subject[0], "technique");
    }

    #[test]
    #[should_panic(expected = "no field bytes_uot")]
    fn a_field_that_does_not_exist_cannot_be_set() {
        drop(Row::new("gmc", "trace bytes_out", &Common::default()).with("bytes_uot", 1));
    }

    #[test]
    fn what_fails_without_an_ablation_is_wrong() {
        let row = |ablation| {
            Row::new("contract", "ablation", &Common::default()).with("ablation", ablation)
        };
        assert!(row("none").failed(Some("lost")).is_wrong());
        assert!(!row("no-gmc").failed(Some("lost")).is_wrong());
        assert!(!row("none").failed(None::<&str>).is_wrong());
    }
}

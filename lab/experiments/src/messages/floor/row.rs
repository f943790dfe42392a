//! The rows of the part `floor`.

use super::super::conditions::Conditions;
use crate::Row;
use crate::options::Common;

/// lab/README.md says what each field means.
const FIELDS: &str = "part figure trace technique mode ack_delay loss spent_on field bound state_age messages bits bytes_per_message";

/// A row of a trace that has no figures yet.
pub(super) fn row(trace: &str, figure: &str, conditions: &Conditions, common: &Common) -> Row {
    Row::new("gmc", FIELDS, common)
        .with("part", "floor")
        .with("figure", figure)
        .with("trace", trace)
        .with("technique", "groupwire")
        .with("mode", conditions.mode)
        .with("ack_delay", conditions.ack_delay())
        .with("loss", conditions.loss())
}

//! The rows of the part `paper`.

use crate::Row;
use crate::options::Common;

/// lab/README.md says what each field means.
const FIELDS: &str = "part figure session trace technique budget_us memory_bytes message_type announcement range numbers packing \
    field messages percent bytes_in bytes_out bytes_per_message percent_of_original percent_of_hand_coded encode_us \
    encode_p99_us decode_us state_bytes templates target_percent count bytes bytes_each text_bytes minimal_bits binary_bytes \
    saved_bytes header_bytes bytes_per_second header_percent bytes_per_second_as_paper rounds";

/// A row of one of the paper's tables, by its name, that has no figures yet.
pub(super) fn row(figure: &str, session: &str, common: &Common) -> Row {
    Row::new("gmc", FIELDS, common)
        .with("part", "paper")
        .with("figure", figure)
        .with("session", session)
}

/// `part` of `whole` in percent.
pub(super) fn percent(part: f64, whole: f64) -> f64 {
    100.0 * part / whole
}

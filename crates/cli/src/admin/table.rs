//! Lists of answers as text.

use serde_json::Value;

/// The columns of a list, as lines with tabs between; without columns, its values. Control
/// characters of names become blanks.
pub(super) fn table(list: &Value, columns: &[&str]) -> String {
    let rows = list.as_array().map(Vec::as_slice).unwrap_or_default();
    if columns.is_empty() {
        return rows.iter().map(|row| cell(row) + "\n").collect();
    }
    let mut text = columns.join("\t") + "\n";
    for row in rows {
        let cells: Vec<_> = columns.iter().map(|column| cell(&row[column])).collect();
        text += &(cells.join("\t") + "\n");
    }
    text
}

/// The names in a list, with commas between.
pub(super) fn names(list: &Value) -> String {
    let names = list.as_array().map(Vec::as_slice).unwrap_or_default();
    names.iter().map(cell).collect::<Vec<_>>().join(", ")
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.replace(char::is_control, " "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_a_table_whose_cells_hold_no_control_characters() {
        let list = serde_json::json!([
            {"name": "a\tb\u{1b}[2J", "participants": 2, "stored_bytes": null},
            {"name": "c", "participants": 0, "stored_bytes": 7, "more": true},
        ]);
        let text = table(&list, &["name", "participants", "stored_bytes"]);
        assert_eq!(text, "name\tparticipants\tstored_bytes\na b [2J\t2\t-\nc\t0\t7\n");
        assert_eq!(table(&Value::Null, &["name"]), "name\n");
        let list = serde_json::json!(["a", "b\n"]);
        assert_eq!((&table(&list, &[])[..], &names(&list)[..]), ("a\nb \n", "a, b "));
        assert_eq!(names(&Value::Null), "");
    }
}

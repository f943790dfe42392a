//! Tables of rows, for people.

use serde_json::{Map, Value};

use crate::Row;

/// Collects the rows that share their conditions. The heading of their table has the fields that
/// are the same in all of them; the columns are the others.
#[derive(Default)]
pub(crate) struct Table(Vec<Row>);

impl Table {
    /// Adds a row. If it has other conditions than those before it, returns the table of those.
    pub(crate) fn add(&mut self, row: Row) -> Option<String> {
        let group = &row.keys().group;
        let is_same = |first: &Row| group.iter().all(|field| first.get(field) == row.get(field));
        let complete =
            if self.0.first().is_some_and(|first| !is_same(first)) { self.end() } else { None };
        self.0.push(row);
        complete
    }

    /// Returns the table of the last rows.
    pub(crate) fn end(&mut self) -> Option<String> {
        let rows = std::mem::take(&mut self.0);
        let first = rows.first()?;
        let subject = &first.keys().subject;
        let is_shown = |field: &str| rows.iter().any(|row| !is_empty(row.get(field)));
        let is_constant = |field: &str| match rows.len() {
            1 => ["experiment", "seed", "quick", "verified"].contains(&field),
            _ => rows.iter().all(|row| row.get(field) == first.get(field)),
        };
        let is_in_heading = |field: &str| {
            !subject.iter().any(|name| name == field)
                && (first.keys().group.iter().any(|name| name == field) || is_constant(field))
        };
        let names = first.fields().map(|(name, _)| name).filter(|name| is_shown(name));
        let (heading, columns): (Vec<&str>, Vec<&str>) =
            names.partition(|name| is_in_heading(name));
        let (mut order, figures): (Vec<&str>, Vec<&str>) =
            columns.into_iter().partition(|name| subject.iter().any(|field| field == name));
        order.extend(figures);

        let told = heading.iter().map(|name| match first.get(name) {
            Value::Bool(true) => (*name).to_owned(),
            value => format!("{name} {}", text(value)),
        });
        let mut out = format!("\n{}\n\n", told.collect::<Vec<_>>().join(", "));
        let columns: Vec<Vec<String>> = order
            .iter()
            .map(|name| {
                let cells = rows.iter().map(|row| text(row.get(name)));
                std::iter::once((*name).to_owned()).chain(cells).collect()
            })
            .collect();
        for line in 0..=rows.len() {
            let cells = order.iter().zip(&columns).map(|(name, column)| {
                let width = column.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
                let is_number = rows.iter().any(|row| row.get(name).is_number());
                let cell = &column[line];
                if is_number { format!("{cell:>width$}") } else { format!("{cell:width$}") }
            });
            out.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
            out.push('\n');
        }
        Some(out)
    }
}

fn is_empty(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(false))
        || value.as_object().is_some_and(Map::is_empty)
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::Bool(value) => if *value { "yes" } else { "no" }.to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => rounded(number.as_f64().unwrap_or(f64::NAN)),
        Value::Number(number) => number.to_string(),
        Value::Array(values) => format!("{} values", values.len()),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| format!("{name} {}", text(value));
            fields.iter().map(field).collect::<Vec<_>>().join(", ")
        }
    }
}

/// A number with four significant digits, or all digits before the point.
fn rounded(value: f64) -> String {
    let size = value.abs();
    let digits = match size {
        0.0 | 1000.0.. => 0,
        100.0.. => 1,
        10.0.. => 2,
        1.0.. => 3,
        _ => 4,
    };
    let text = format!("{value:.digits$}");
    // Trailing zeros are removed, as in settings such as 0.05.
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Common;

    fn row(trace: &str, technique: &str, bytes: f64) -> Row {
        let row =
            Row::new("gmc", "trace technique mode bytes_per_message templates", &Common::default());
        row.with("trace", trace).with("technique", technique).with("bytes_per_message", bytes)
    }

    #[test]
    fn what_rows_share_is_in_the_heading() {
        let mut table = Table::default();
        assert_eq!(table.add(row("xml", "groupwire", 3.25)), None);
        assert_eq!(table.add(row("xml", "lz4", 110.0)), None);
        let expected = "\nexperiment gmc, trace xml, seed 0, verified\n\n\
                        technique  bytes_per_message\n\
                        groupwire               3.25\n\
                        lz4                      110\n";
        assert_eq!(table.add(row("json", "lz4", 1.0)).as_deref(), Some(expected));
        let last = table.end().unwrap();
        assert!(last.contains("trace json") && last.contains("lz4"), "{last}");
        assert_eq!(table.end(), None);
    }

    #[test]
    fn numbers_have_four_digits() {
        let numbers = [0.0, 0.05, 0.012345, 1.0, 9.8765, 123.456, 123_456.7, -2.5];
        let texts = ["0", "0.05", "0.0123", "1", "9.877", "123.5", "123457", "-2.5"];
        assert_eq!(numbers.map(rounded), texts);
    }
}

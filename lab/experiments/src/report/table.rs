//! Tables of a page.

use super::text;

/// A table; the first column names its rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Table {
    /// What is in it.
    pub(super) caption: String,
    /// A heading per column.
    pub(super) head: Vec<String>,
    /// A cell per column.
    pub(super) rows: Vec<Vec<Cell>>,
    /// Whether all columns but the first are numbers.
    pub(super) numeric: bool,
}

/// What is in a row and a column.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cell {
    /// In the first line.
    pub(super) text: String,
    /// Below it, smaller.
    pub(super) note: Option<(String, Tone)>,
}

/// What a remark means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    /// Nothing.
    Plain,
    /// As it should be.
    Good,
    /// Not as it should be.
    Bad,
}

impl Tone {
    /// The class that the style sheet knows.
    pub(super) fn class(self) -> &'static str {
        match self {
            Tone::Plain => "plain",
            Tone::Good => "good",
            Tone::Bad => "bad",
        }
    }
}

impl Cell {
    /// Text only.
    pub(super) fn new(text: &str) -> Self {
        Cell { text: text.to_owned(), note: None }
    }

    /// With a remark below.
    pub(super) fn with(self, note: &str, tone: Tone) -> Self {
        Cell { note: Some((note.to_owned(), tone)), ..self }
    }

    fn html(&self) -> String {
        let note = self.note.as_ref().map(|(note, tone)| {
            format!("<small class=\"{}\">{}</small>", tone.class(), text::escape(note))
        });
        format!("{}{}", text::escape(&self.text), note.unwrap_or_default())
    }
}

impl Table {
    /// An empty one, of numbers.
    pub(super) fn numbers(caption: &str) -> Self {
        Table { caption: caption.to_owned(), numeric: true, ..Table::default() }
    }

    pub(super) fn html(&self) -> String {
        let mut out = String::from("<div class=\"scroll\" tabindex=\"0\">\n<table");
        out.push_str(if self.numeric { " class=\"numbers\">\n" } else { ">\n" });
        if !self.caption.is_empty() {
            out.push_str(&format!("<caption>{}</caption>\n", text::escape(&self.caption)));
        }
        out.push_str("<thead><tr>");
        for name in &self.head {
            out.push_str(&format!("<th scope=\"col\">{}</th>", text::escape(name)));
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            out.push_str("<tr>");
            for (column, cell) in row.iter().enumerate() {
                let cell = cell.html();
                out.push_str(&match column {
                    0 => format!("<th scope=\"row\">{cell}</th>"),
                    _ => format!("<td>{cell}</td>"),
                });
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody>\n</table>\n</div>\n");
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_escaped_and_may_have_remarks() {
        let table = Table {
            head: vec!["<a>".to_owned()],
            rows: vec![vec![Cell::new("x").with("1 < 2", Tone::Bad)]],
            ..Table::default()
        };
        let html = table.html();
        assert!(html.contains("<th scope=\"col\">&lt;a&gt;</th>"), "{html}");
        assert!(
            html.contains("<th scope=\"row\">x<small class=\"bad\">1 &lt; 2</small></th>"),
            "{html}"
        );
    }
}

//! Changes of a text, as a model asks for them: by quoting what is there.

use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;

/// A change of a text. `quote` is text that is there, without the marks of Markdown, within one
/// line. If it is there several times, quote more, or give `occurrence`, counted from 1.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Edit {
    /// Replaces the quote. The new text gets the formatting of the quote.
    Replace { quote: String, occurrence: Option<u32>, text: String },
    /// Deletes the quote.
    Delete { quote: String, occurrence: Option<u32> },
    /// Inserts text directly before the quote.
    InsertBefore { quote: String, occurrence: Option<u32>, text: String },
    /// Inserts text directly after the quote.
    InsertAfter { quote: String, occurrence: Option<u32>, text: String },
    /// Adds paragraphs, one for each line of `text`, below the paragraph with the quote `after`.
    /// Without `after`: at the end. `heading`: as headings of this level, from 1 to 6.
    AddParagraph {
        after: Option<String>,
        occurrence: Option<u32>,
        text: String,
        heading: Option<u32>,
    },
    /// Deletes the whole paragraph with the quote.
    DeleteParagraph { quote: String, occurrence: Option<u32> },
}

impl Edit {
    /// The bytes of text that it writes.
    pub(crate) fn size(&self) -> usize {
        match self {
            Edit::Replace { text, .. }
            | Edit::InsertBefore { text, .. }
            | Edit::InsertAfter { text, .. }
            | Edit::AddParagraph { text, .. } => text.len(),
            Edit::Delete { .. } | Edit::DeleteParagraph { .. } => 0,
        }
    }
}

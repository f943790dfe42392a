//! The tools of Yjs documents: texts that people edit together in editors.

use serde_json::{Value, json};

use crate::agent::{Agent, Outcome};
use crate::arguments::{EditText, ReadText, Undo};
use crate::documents::{DOCUMENT, Edit, Reading, Shown};
use crate::error::ToolError;
use crate::results::beginning;

/// Most edits of one call.
const MAX_EDITS: usize = 50;

impl Agent {
    pub(crate) async fn read_a_text(&self, arguments: ReadText) -> Outcome {
        let ReadText { room, document, text, skip } = arguments;
        let session = self.session(&room)?;
        let name = document.as_deref().unwrap_or(DOCUMENT);
        let document = session.document(name, self.config()).await?;
        let reading = document.read(text).await?;
        let mut result = match reading {
            Reading::Names(names) => {
                let texts = names.into_iter().take(self.limits().result_items);
                let texts = texts
                    .map(|(name, kind)| json!({ "text": beginning(&name, 200), "kind": kind }));
                json!({ "texts": texts.collect::<Vec<_>>() })
            }
            Reading::Text(shown) => page(&shown, skip as usize, self.limits().result_bytes),
        };
        if document.lacks_content() {
            result["incomplete"] = "the room has lost a part of the document's history".into();
        }
        result["newest"] = session.inbox().newest.into();
        Ok(result)
    }

    pub(crate) async fn edit_a_text(&self, arguments: EditText) -> Outcome {
        let EditText { room, document, text, kind, edits } = arguments;
        let session = self.session(&room)?;
        let limits = self.limits();
        if !(1..=MAX_EDITS).contains(&edits.len()) {
            return Err(ToolError::argument(format!("give 1 to {MAX_EDITS} edits")));
        }
        let bytes: usize = edits.iter().map(Edit::size).sum();
        if bytes > limits.message_bytes {
            let limit = limits.message_bytes;
            let message = format!("the texts have {bytes} bytes; the limit of a call is {limit}");
            return Err(ToolError::new("too-large", message));
        }
        let name = document.as_deref().unwrap_or(DOCUMENT);
        let document = session.document(name, self.config()).await?;
        session.check_joined()?;
        self.take_change()?;
        let before = session.inbox().newest;
        let changed = document.edit(text, kind, edits).await?;
        let confirmed = session.document_confirmed(&document, before, limits.answer).await?;
        Ok(json!({ "changed": changed, "confirmed": confirmed }))
    }

    /// Takes back the last step in a document, or that of shared data if none is named.
    pub(crate) async fn undo_step(&self, Undo { room, document }: Undo) -> Outcome {
        let Some(name) = document else { return self.undo_data(room).await };
        let session = self.session(&room)?;
        let limits = self.limits();
        let document = session.document(&name, self.config()).await?;
        session.check_joined()?;
        self.take_change()?;
        let before = session.inbox().newest;
        let undone = document.undo().await?;
        let confirmed = session.document_confirmed(&document, before, limits.answer).await?;
        Ok(json!({ "undone": undone, "confirmed": confirmed }))
    }
}

/// The part of a text after `skip` characters that fits into a result.
fn page(shown: &Shown, skip: usize, max_bytes: usize) -> Value {
    let start = shown.text.char_indices().nth(skip).map_or(shown.text.len(), |(at, _)| at);
    let rest = &shown.text[start..];
    let part = beginning(rest, max_bytes);
    let next = (part.len() < rest.len()).then(|| skip + part.chars().count());
    json!({
        "format": if shown.is_markdown { "markdown" } else { "plain" },
        "content": part,
        "characters": shown.text.chars().count(),
        "next_skip": next,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_read_in_parts_of_whole_characters() {
        let shown = Shown { text: "aäb".to_owned(), is_markdown: false };
        let first = page(&shown, 0, 2);
        assert_eq!((&first["content"], &first["next_skip"]), (&json!("a"), &json!(1)));
        assert_eq!(first["characters"], 3);
        let rest = page(&shown, 1, 3);
        assert_eq!((&rest["content"], &rest["next_skip"]), (&json!("äb"), &Value::Null));
        assert_eq!(page(&shown, 9, 3)["content"], "");
    }
}

//! The texts of a document in which quotes are looked for, and where they stand.

use std::collections::BTreeMap;
use std::iter::successors;
use std::rc::Rc;

use yrs::types::Attrs;
use yrs::{ReadTxn, Text, TextRef, TransactionMut, XmlFragmentRef};

use super::view::{Content, Node, OBJECT, Root, children, chunks};

/// A text in which quotes are looked for.
pub(super) struct Run {
    pub(super) text: TextRef,
    /// The text, with [`OBJECT`] for what is no text.
    pub(super) plain: String,
    /// The formatting of the parts of the text, by the offset in UTF-16 where each begins.
    formats: BTreeMap<u32, Option<Box<Attrs>>>,
    /// The element around the text; `None` if it stands in none.
    pub(super) level: Option<Rc<Level>>,
}

/// An element, by its place.
pub(super) struct Level {
    /// The element around it.
    pub(super) outer: Option<Rc<Level>>,
    pub(super) parent: XmlFragmentRef,
    pub(super) index: u32,
    pub(super) tag: String,
    /// The number of children of its parent; [`usize::MAX`] if that stands within a text.
    pub(super) siblings: usize,
}

/// A change within a text. Offsets are in UTF-16.
pub(super) struct Splice {
    pub(super) at: u32,
    pub(super) delete: u32,
    pub(super) insert: String,
    /// The new text is formatted as the unit here; `None`: it has no formatting.
    pub(super) like: Option<u32>,
}

impl Run {
    /// The texts of a document, in their order.
    pub(super) fn all<T: ReadTxn>(root: &Root, txn: &T) -> Vec<Self> {
        let mut runs = Vec::new();
        match root {
            Root::Text(text) => collect_text(text, None, txn, &mut runs),
            Root::Blocks(root) => collect(root, None, false, txn, &mut runs),
            Root::Empty | Root::Other => {}
        }
        runs
    }

    pub(super) fn change(&self, splice: &Splice, txn: &mut TransactionMut<'_>) {
        let &Splice { at, delete, ref insert, like } = splice;
        if !insert.is_empty() {
            if self.formats.values().any(Option::is_some) {
                let format = like.and_then(|like| self.formats.range(..=like).next_back());
                let format = format.and_then(|(_, format)| format.as_deref()).cloned();
                self.text.insert_with_attributes(txn, at, insert, format.unwrap_or_default());
            } else {
                self.text.insert(txn, at, insert);
            }
        }
        if delete > 0 {
            self.text.remove_range(txn, at + units(insert), delete);
        }
    }
}

impl Level {
    /// True if this is the other element, or stands in it.
    pub(super) fn is_within(self: &Rc<Self>, other: &Rc<Self>) -> bool {
        let levels = successors(Some(self), |level| level.outer.as_ref());
        levels.into_iter().any(|level| Rc::ptr_eq(level, other))
    }
}

/// The length in UTF-16.
pub(super) fn units(text: &str) -> u32 {
    text.encode_utf16().count() as u32
}

/// Collects the texts of an element. `is_embedded`: it stands within a text.
fn collect<T: ReadTxn>(
    parent: &XmlFragmentRef,
    level: Option<&Rc<Level>>,
    is_embedded: bool,
    txn: &T,
    runs: &mut Vec<Run>,
) {
    let nodes = children(parent, txn);
    let siblings = if is_embedded { usize::MAX } else { nodes.len() };
    for (index, node) in (0..).zip(nodes) {
        match node {
            Node::Text(text) => collect_text(&text, level, txn, runs),
            Node::Element(element) => {
                let tag = element.try_tag().map_or(String::new(), ToString::to_string);
                let outer = level.cloned();
                let inner = Level { outer, parent: parent.clone(), index, tag, siblings };
                collect(element.as_ref(), Some(&Rc::new(inner)), false, txn, runs);
            }
        }
    }
}

fn collect_text<T: ReadTxn>(
    text: &TextRef,
    level: Option<&Rc<Level>>,
    txn: &T,
    runs: &mut Vec<Run>,
) {
    let (mut plain, mut formats) = (String::new(), BTreeMap::new());
    let mut at = 0;
    let mut inner = Vec::new();
    for chunk in chunks(text, txn) {
        formats.insert(at, chunk.attributes);
        match chunk.content {
            Content::Text(part) => {
                at += units(&part);
                plain.push_str(&part);
            }
            other => {
                at += 1;
                plain.push(OBJECT);
                inner.extend(match other {
                    Content::Node(node) => Some(node),
                    _ => None,
                });
            }
        }
    }
    runs.push(Run { text: text.clone(), plain, formats, level: level.cloned() });
    for node in inner {
        match node {
            Node::Text(text) => collect_text(&text, level, txn, runs),
            Node::Element(element) => collect(element.as_ref(), level, true, txn, runs),
        }
    }
}

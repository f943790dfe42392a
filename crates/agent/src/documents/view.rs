//! What a document has, as its application sees it: texts, and trees of elements with texts in
//! them.

use yrs::branch::{Branch, BranchPtr};
use yrs::types::text::YChange;
use yrs::types::{Attrs, TypeRef};
use yrs::{
    Any, Map, MapRef, Out, ReadTxn, Text, TextRef, XmlElementRef, XmlFragment, XmlFragmentRef,
    XmlOut,
};

/// A shared type of the document that tools can read.
pub(super) enum Root {
    /// A text, of which formatting may be attributes (Quill, CodeMirror).
    Text(TextRef),
    /// A tree of elements (Tiptap, ProseMirror, BlockNote).
    Blocks(XmlFragmentRef),
    /// A type that is empty, so that nothing tells what it is.
    Empty,
    /// A map, or an array of other values.
    Other,
}

/// A child of an element.
pub(super) enum Node {
    Text(TextRef),
    Element(XmlElementRef),
}

/// A part of a text with the same formatting.
pub(super) struct Chunk {
    pub(super) content: Content,
    pub(super) attributes: Option<Box<Attrs>>,
}

pub(super) enum Content {
    Text(String),
    /// An element or text within a text, of length 1.
    Node(Node),
    /// A value within a text, such as an image, of length 1.
    Embed(Any),
    /// Something else, of length 1.
    Other,
}

/// The place of content within a text that is no text. It has length 1 in UTF-16, as its content.
pub(super) const OBJECT: char = '\u{fffc}';

impl Root {
    /// A word for the model.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Root::Text(_) => "text",
            Root::Blocks(_) => "blocks",
            Root::Empty => "empty",
            Root::Other => "other",
        }
    }

    fn of<T: ReadTxn>(branch: &Branch, txn: &T) -> Root {
        let pointer = BranchPtr::from(branch);
        let text = TextRef::from(pointer);
        let chunks = chunks(&text, txn);
        let is_node = |chunk: &Chunk| matches!(chunk.content, Content::Node(_));
        let is_text = |chunk: &Chunk| !matches!(chunk.content, Content::Other);
        match chunks.as_slice() {
            [] if branch.content_len() > 0 || MapRef::from(pointer).len(txn) > 0 => Root::Other,
            // This program has made it.
            [] => match branch.type_ref() {
                TypeRef::Text => Root::Text(text),
                TypeRef::XmlFragment => Root::Blocks(XmlFragmentRef::from(pointer)),
                _ => Root::Empty,
            },
            chunks if chunks.iter().all(is_node) => Root::Blocks(XmlFragmentRef::from(pointer)),
            chunks if chunks.iter().all(is_text) => Root::Text(text),
            _ => Root::Other,
        }
    }
}

/// The shared types of the document's own, by name.
pub(super) fn roots<T: ReadTxn>(txn: &T) -> Vec<(String, Root)> {
    let known = txn.root_refs();
    known
        .filter_map(|(name, out)| Some((name.to_owned(), Root::of(out.try_branch()?, txn))))
        .collect()
}

/// The shared type of this name.
pub(super) fn root<T: ReadTxn>(txn: &T, name: &str) -> Option<Root> {
    let (_, out) = txn.root_refs().find(|(known, _)| *known == name)?;
    out.try_branch().map(|branch| Root::of(branch, txn))
}

/// The children of an element or a fragment.
pub(super) fn children<T: ReadTxn>(parent: &XmlFragmentRef, txn: &T) -> Vec<Node> {
    parent.children(txn).map(node).collect()
}

/// The content of a text.
pub(super) fn chunks<T: ReadTxn>(text: &TextRef, txn: &T) -> Vec<Chunk> {
    let diff = text.diff(txn, YChange::identity);
    let chunk = |part: yrs::types::text::Diff<YChange>| {
        let content = match part.insert {
            Out::Any(Any::String(text)) => Content::Text(text.to_string()),
            Out::Any(value) => Content::Embed(value),
            Out::YXmlElement(element) => Content::Node(Node::Element(element)),
            Out::YXmlText(text) => Content::Node(node(XmlOut::Text(text))),
            Out::YText(text) => Content::Node(Node::Text(text)),
            _ => Content::Other,
        };
        Chunk { content, attributes: part.attributes }
    };
    diff.into_iter().map(chunk).collect()
}

fn node(out: XmlOut) -> Node {
    match out {
        XmlOut::Element(element) => Node::Element(element),
        XmlOut::Text(text) => Node::Text(AsRef::<TextRef>::as_ref(&text).clone()),
        XmlOut::Fragment(fragment) => {
            Node::Element(XmlElementRef::from(BranchPtr::from(fragment.as_ref() as &Branch)))
        }
    }
}

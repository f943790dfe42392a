//! Texts as a model reads them: plain, or as Markdown if they have formatting. Nothing is escaped,
//! so that what is quoted from it is found again.

use yrs::types::Attrs;
use yrs::{Any, Out, ReadTxn, TextRef, Xml, XmlElementRef, XmlFragmentRef};

use super::view::{Chunk, Content, Node, children, chunks};

/// A text as it is shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) text: String,
    /// True if the text is Markdown.
    pub(crate) is_markdown: bool,
}

/// A text of its own.
pub(super) fn of_text<T: ReadTxn>(text: &TextRef, txn: &T) -> Shown {
    let chunks = chunks(text, txn);
    let is_plain =
        |chunk: &Chunk| chunk.attributes.is_none() && matches!(chunk.content, Content::Text(_));
    if chunks.iter().all(is_plain) {
        let text = chunks.into_iter().map(|chunk| match chunk.content {
            Content::Text(text) => text,
            _ => String::new(),
        });
        return Shown { text: text.collect(), is_markdown: false };
    }
    Shown { text: lines(&chunks, txn), is_markdown: true }
}

/// A tree of elements.
pub(super) fn of_blocks<T: ReadTxn>(root: &XmlFragmentRef, txn: &T) -> Shown {
    let text = blocks(&children(root, txn), "\n\n", txn);
    Shown { text, is_markdown: true }
}

/// The children of an element, each a block.
fn blocks<T: ReadTxn>(nodes: &[Node], between: &str, txn: &T) -> String {
    let blocks = nodes.iter().map(|node| match node {
        Node::Text(text) => inline(&chunks(text, txn), txn),
        Node::Element(element) => block(element, txn),
    });
    blocks.filter(|block| !block.is_empty()).collect::<Vec<_>>().join(between)
}

fn block<T: ReadTxn>(element: &XmlElementRef, txn: &T) -> String {
    let nodes = children(element.as_ref(), txn);
    let content = || phrasing(&nodes, txn);
    match kind(element).as_str() {
        "heading" => {
            let level = attribute(element, "level", txn).parse().unwrap_or(1_usize);
            format!("{} {}", "#".repeat(level.clamp(1, 6)), content())
        }
        "blockquote" => prefixed(&blocks(&nodes, "\n\n", txn), "> ", "> "),
        "codeblock" => {
            format!("```{}\n{}\n```", attribute(element, "language", txn), content())
        }
        "bulletlist" | "tasklist" => list(&nodes, |_| "- ".to_owned(), txn),
        "orderedlist" => {
            let start = attribute(element, "start", txn).parse().unwrap_or(1_usize);
            list(&nodes, |at| format!("{}. ", start.saturating_add(at)), txn)
        }
        "horizontalrule" => "---".to_owned(),
        "image" => image(element, txn),
        "table" => {
            let rows = nodes.iter().map(|row| row_of(row, txn));
            let mut rows: Vec<String> = rows.collect();
            if let Some(first) = rows.first() {
                let columns = first.matches(" | ").count() + 1;
                rows.insert(1, format!("|{}", " --- |".repeat(columns)));
            }
            rows.join("\n")
        }
        // A paragraph, or an element whose meaning only the application knows.
        _ if nodes.iter().any(is_phrasing) => content(),
        _ => blocks(&nodes, "\n\n", txn),
    }
}

/// The text of an element that has texts as children, with what stands between them.
fn phrasing<T: ReadTxn>(nodes: &[Node], txn: &T) -> String {
    let parts = nodes.iter().map(|node| match node {
        Node::Text(text) => inline(&chunks(text, txn), txn),
        Node::Element(element) => match kind(element).as_str() {
            "hardbreak" => "\n".to_owned(),
            "image" => image(element, txn),
            // A mention, for example.
            _ => {
                let label = attribute(element, "label", txn);
                if label.is_empty() { block(element, txn) } else { format!("@{label}") }
            }
        },
    });
    parts.collect()
}

fn list<T: ReadTxn>(items: &[Node], mark: impl Fn(usize) -> String, txn: &T) -> String {
    let items = items.iter().enumerate().map(|(at, item)| {
        let mut first = mark(at);
        let text = match item {
            Node::Text(text) => inline(&chunks(text, txn), txn),
            Node::Element(element) => {
                if kind(element) == "taskitem" {
                    let is_done = attribute(element, "checked", txn) == "true";
                    first.push_str(if is_done { "[x] " } else { "[ ] " });
                }
                blocks(&children(element.as_ref(), txn), "\n", txn)
            }
        };
        prefixed(&text, &first, "  ")
    });
    items.collect::<Vec<_>>().join("\n")
}

fn row_of<T: ReadTxn>(row: &Node, txn: &T) -> String {
    let Node::Element(row) = row else { return String::new() };
    let cells = children(row.as_ref(), txn);
    let cells = cells.iter().map(|cell| blocks(std::slice::from_ref(cell), " ", txn));
    format!("| {} |", cells.map(|cell| cell.replace('\n', " ")).collect::<Vec<_>>().join(" | "))
}

/// A text with formatting as attributes, in which lines have formats, too, those of their ends
/// (Quill).
fn lines<T: ReadTxn>(all: &[Chunk], txn: &T) -> String {
    let mut out = String::new();
    let mut line = String::new();
    for chunk in all {
        let Content::Text(text) = &chunk.content else {
            line.push_str(&inline(std::slice::from_ref(chunk), txn));
            continue;
        };
        for part in text.split_inclusive('\n') {
            let (words, is_end) = part.strip_suffix('\n').map_or((part, false), |it| (it, true));
            line.push_str(&marked(words, chunk.attributes.as_deref()));
            if is_end {
                out.push_str(&line_mark(chunk.attributes.as_deref()));
                out.push_str(&std::mem::take(&mut line));
                out.push('\n');
            }
        }
    }
    out.push_str(&line);
    out
}

/// What stands before a line whose end has these attributes.
fn line_mark(attributes: Option<&Attrs>) -> String {
    let get = |name: &str| attributes.and_then(|all| all.get(name)).map(shown);
    if let Some(level) = get("header").and_then(|level| level.parse::<usize>().ok()) {
        return format!("{} ", "#".repeat(level.clamp(1, 6)));
    }
    match get("list").as_deref() {
        Some("ordered") => return "1. ".to_owned(),
        Some("checked") => return "- [x] ".to_owned(),
        Some("unchecked") => return "- [ ] ".to_owned(),
        Some(_) => return "- ".to_owned(),
        None => {}
    }
    let is = |name: &str| get(name).is_some_and(|value| value != "false");
    match () {
        () if is("blockquote") => "> ".to_owned(),
        () if is("code-block") => "    ".to_owned(),
        () => String::new(),
    }
}

fn inline<T: ReadTxn>(all: &[Chunk], txn: &T) -> String {
    let parts = all.iter().map(|Chunk { content, attributes }| match content {
        Content::Text(text) => marked(text, attributes.as_deref()),
        Content::Node(Node::Text(text)) => format!("{}\n", inline(&chunks(text, txn), txn)),
        Content::Node(Node::Element(element)) => block(element, txn),
        Content::Embed(Any::Map(embed)) => {
            embed.get("image").map(|url| format!("![]({})", shown(url))).unwrap_or_default()
        }
        Content::Embed(_) | Content::Other => String::new(),
    });
    parts.collect()
}

/// A text with its marks, which stand beside words and not beside spaces.
fn marked(text: &str, attributes: Option<&Attrs>) -> String {
    let words = text.trim();
    let (Some(attributes), false) = (attributes, words.is_empty()) else { return text.to_owned() };
    let mut shown_words = words.to_owned();
    let mut names: Vec<_> = attributes.iter().filter(|(_, value)| is_set(value)).collect();
    names.sort_by(|a, b| a.0.cmp(b.0));
    let mut link = None;
    for (name, value) in names {
        // ProseMirror's binding appends a hash to marks that may overlap.
        let name = name.split_once("--").map_or(&**name, |(name, _)| name);
        let mark = match name {
            "bold" | "strong" => "**",
            "italic" | "em" => "*",
            "code" => "`",
            "strike" | "strikethrough" => "~~",
            "link" => {
                link = Some(match value {
                    Any::Map(fields) => fields.get("href").map(shown).unwrap_or_default(),
                    url => shown(url),
                });
                continue;
            }
            _ => continue,
        };
        shown_words = format!("{mark}{shown_words}{mark}");
    }
    if let Some(url) = link {
        shown_words = format!("[{shown_words}]({url})");
    }
    let (before, after) = (text.len() - text.trim_start().len(), text.trim_end().len());
    format!("{}{shown_words}{}", &text[..before], &text[after..])
}

fn image<T: ReadTxn>(element: &XmlElementRef, txn: &T) -> String {
    format!("![{}]({})", attribute(element, "alt", txn), attribute(element, "src", txn))
}

fn is_phrasing(node: &Node) -> bool {
    match node {
        Node::Text(_) => true,
        Node::Element(element) => kind(element) == "hardbreak",
    }
}

fn is_set(value: &Any) -> bool {
    !matches!(value, Any::Null | Any::Undefined | Any::Bool(false))
}

/// The name of an element as all editors would write it: `bullet_list` is `bulletlist`.
pub(super) fn kind(element: &XmlElementRef) -> String {
    kind_of(element.try_tag().map_or("", |tag| tag))
}

/// The same for the name as it is written.
pub(super) fn kind_of(tag: &str) -> String {
    tag.chars().filter(|letter| *letter != '_').flat_map(char::to_lowercase).collect()
}

/// An attribute as text; empty if the element has none of this name.
fn attribute<T: ReadTxn>(element: &XmlElementRef, name: &str, txn: &T) -> String {
    match element.get_attribute(txn, name) {
        Some(Out::Any(value)) => shown(&value),
        _ => String::new(),
    }
}

fn shown(value: &Any) -> String {
    match value {
        Any::String(text) => text.to_string(),
        Any::Number(number) => number.to_string(),
        Any::Bool(value) => value.to_string(),
        _ => String::new(),
    }
}

fn prefixed(text: &str, first: &str, others: &str) -> String {
    let mut lines = text.split('\n');
    let mut out = format!("{first}{}", lines.next().unwrap_or_default());
    for line in lines {
        out.push('\n');
        out.push_str(others);
        out.push_str(line);
    }
    out
}

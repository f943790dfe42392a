//! Finds the places of all changes of a call before anything is changed, so that they count as a
//! whole or not at all.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::rc::Rc;

use yrs::{
    Any, Assoc, IndexedSequence, ReadTxn, StickyIndex, TextRef, TransactionMut, Xml,
    XmlElementPrelim, XmlElementRef, XmlFragment, XmlFragmentRef, XmlTextPrelim,
};

use super::edit::Edit;
use super::markdown::{kind, kind_of};
use super::runs::{Level, Run, Splice, units};
use super::view::{Node, Root, children};
use crate::error::ToolError;

/// The selection that others see after a change: its first and its last place.
pub(super) type Selection = (StickyIndex, StickyIndex);

/// Changes that are ready to be made.
pub(super) struct Plan {
    runs: Vec<Run>,
    /// Of each run, its changes.
    splices: BTreeMap<usize, Vec<Splice>>,
    /// Elements that are deleted.
    deleted: Vec<Rc<Level>>,
    /// New paragraphs; those of the same place in their order.
    added: Vec<Added>,
}

/// A new paragraph.
struct Added {
    /// The element that it is added to, if that has a place of its own.
    within: Option<Rc<Level>>,
    parent: XmlFragmentRef,
    index: u32,
    /// The elements around the new paragraph, the outermost first.
    around: Vec<String>,
    heading: Option<u32>,
    text: String,
}

/// A place of a quote: the run, and the bytes of its text.
struct Found {
    run: usize,
    from: usize,
    to: usize,
}

impl Plan {
    /// Finds the places of all edits.
    ///
    /// # Errors
    /// An edit that cannot be made.
    pub(super) fn new<T: ReadTxn>(root: &Root, edits: &[Edit], txn: &T) -> Result<Self, ToolError> {
        let mut plan = Plan {
            runs: Run::all(root, txn),
            splices: BTreeMap::new(),
            deleted: Vec::new(),
            added: Vec::new(),
        };
        for edit in edits {
            plan.add(root, edit, txn)?;
        }
        plan.check_overlaps()?;
        Ok(plan)
    }

    fn add<T: ReadTxn>(&mut self, root: &Root, edit: &Edit, txn: &T) -> Result<(), ToolError> {
        let is_blocks = matches!(root, Root::Blocks(_));
        match edit {
            Edit::Replace { quote, occurrence, text } => {
                check_line(is_blocks, text)?;
                let found = self.find(quote, *occurrence)?;
                self.replace(&found, text);
            }
            Edit::Delete { quote, occurrence } => {
                let found = self.find(quote, *occurrence)?;
                self.replace(&found, "");
            }
            Edit::InsertBefore { quote, occurrence, text } => {
                check_line(is_blocks, text)?;
                let found = self.find(quote, *occurrence)?;
                let at = self.units(&found, found.from);
                self.splice(
                    found.run,
                    Splice { at, delete: 0, insert: text.clone(), like: Some(at) },
                );
            }
            Edit::InsertAfter { quote, occurrence, text } => {
                check_line(is_blocks, text)?;
                let found = self.find(quote, *occurrence)?;
                let at = self.units(&found, found.to);
                let like = Some(at.saturating_sub(1));
                self.splice(found.run, Splice { at, delete: 0, insert: text.clone(), like });
            }
            Edit::AddParagraph { after, occurrence, text, heading } => {
                if heading.is_some_and(|level| !(1..=6).contains(&level)) {
                    return Err(ToolError::argument("a heading has a level from 1 to 6"));
                }
                let after =
                    after.as_ref().map(|quote| self.find(quote, *occurrence)).transpose()?;
                match root {
                    Root::Blocks(root) => self.add_block(root, after, text, *heading, txn),
                    _ => self.add_line(after, text),
                }
            }
            Edit::DeleteParagraph { quote, occurrence } => {
                let found = self.find(quote, *occurrence)?;
                if is_blocks {
                    self.delete_block(&found);
                } else {
                    self.delete_line(&found);
                }
            }
        }
        Ok(())
    }

    /// The only place of a quote, or the one of this number.
    fn find(&self, quote: &str, occurrence: Option<u32>) -> Result<Found, ToolError> {
        if quote.is_empty() {
            return Err(ToolError::argument("a quote must have at least one character"));
        }
        let places = self.runs.iter().enumerate().flat_map(|(run, Run { plain, .. })| {
            plain.match_indices(quote).map(move |(from, _)| (run, from))
        });
        let wanted = occurrence.unwrap_or(1).saturating_sub(1) as usize;
        let mut count = 0;
        let mut found = None;
        for (run, from) in places {
            if count == wanted {
                found = Some(Found { run, from, to: from + quote.len() });
            }
            count += 1;
        }
        match found {
            Some(_) if occurrence.is_none() && count > 1 => {
                let message = format!(
                    "{quote:?} is there {count} times: quote more of it, or give occurrence. Nothing was changed"
                );
                Err(ToolError::new("ambiguous-quote", message))
            }
            Some(found) => Ok(found),
            None => {
                let message = format!(
                    "{quote:?} is there {count} times: read the text again, and quote within one line, without marks of Markdown. Nothing was changed"
                );
                Err(ToolError::new("no-such-quote", message))
            }
        }
    }

    /// Replaces what is different between the quote and the new text, so that the rest stays whose
    /// it is.
    fn replace(&mut self, found: &Found, text: &str) {
        let Some(run) = self.runs.get(found.run) else { return };
        let quote = run.plain.get(found.from..found.to).unwrap_or_default();
        let alike = |(a, b): &(char, char)| a == b;
        let bytes = |pairs: usize, (letter, _): (char, char)| pairs + letter.len_utf8();
        let before = quote.chars().zip(text.chars()).take_while(alike).fold(0, bytes);
        let (old, new) = (&quote[before..], &text[before..]);
        let after = old.chars().rev().zip(new.chars().rev()).take_while(alike).fold(0, bytes);
        let (old, new) = (&old[..old.len() - after], &new[..new.len() - after]);
        if old.is_empty() && new.is_empty() {
            return;
        }
        let at = self.units(found, found.from + before);
        let delete = units(old);
        // At the end of the quote the new text continues it.
        let like = if delete == 0 && before > 0 { at.saturating_sub(1) } else { at };
        let insert = new.to_owned();
        self.splice(found.run, Splice { at, delete, insert, like: Some(like) });
    }

    fn add_line(&mut self, after: Option<Found>, text: &str) {
        let (run, to) = match &after {
            Some(found) => (found.run, found.to),
            None => (0, self.runs.first().map_or(0, |run| run.plain.len())),
        };
        let plain = self.runs.get(run).map_or("", |run| run.plain.as_str());
        let end = plain[to..].find('\n').map_or(plain.len(), |line| to + line);
        let at = units(&plain[..end]);
        // A text that ends with a line break has an empty last line.
        let is_at_start = plain[..end].is_empty() || after.is_none() && plain.ends_with('\n');
        let insert = if is_at_start { text.to_owned() } else { format!("\n{text}") };
        self.splice(run, Splice { at, delete: 0, insert, like: None });
    }

    fn delete_line(&mut self, found: &Found) {
        let Some(run) = self.runs.get(found.run) else { return };
        let from = run.plain[..found.from].rfind('\n').map_or(0, |line| line + 1);
        let to = run.plain[found.to..].find('\n').map(|line| found.to + line + 1);
        // The last line has no line break of its own: that before it goes.
        let from = if to.is_none() { from.saturating_sub(1) } else { from };
        let to = to.unwrap_or(run.plain.len());
        let (at, delete) = (units(&run.plain[..from]), units(&run.plain[from..to]));
        self.splice(found.run, Splice { at, delete, insert: String::new(), like: None });
    }

    fn delete_block(&mut self, found: &Found) {
        let Some(run) = self.runs.get(found.run) else { return };
        match &run.level {
            Some(level) => self.deleted.push(Rc::clone(level)),
            None => {
                let delete = units(&run.plain);
                let splice = Splice { at: 0, delete, insert: String::new(), like: None };
                self.splice(found.run, splice);
            }
        }
    }

    fn add_block<T: ReadTxn>(
        &mut self,
        root: &XmlFragmentRef,
        after: Option<Found>,
        text: &str,
        heading: Option<u32>,
        txn: &T,
    ) {
        let mut around = Vec::new();
        let mut within = None;
        let (parent, index) = match after.and_then(|found| self.runs.get(found.run)) {
            Some(Run { level: Some(level), .. }) => {
                let mut place = level;
                // In a list, a new paragraph is a new item.
                while let Some(outer) = place.outer.as_ref().filter(|it| is_wrapper(&it.tag)) {
                    around.insert(0, outer.tag.clone());
                    place = outer;
                }
                within.clone_from(&place.outer);
                (place.parent.clone(), place.index + 1)
            }
            _ => match children(root, txn).as_slice() {
                [Node::Element(group)] if kind(group) == "blockgroup" => {
                    around.push("blockContainer".to_owned());
                    let group: &XmlFragmentRef = group.as_ref();
                    (group.clone(), group.len(txn))
                }
                _ => (root.clone(), root.len(txn)),
            },
        };
        for text in text.lines().filter(|line| !line.trim().is_empty()) {
            self.added.push(Added {
                within: within.clone(),
                parent: parent.clone(),
                index,
                around: around.clone(),
                heading,
                text: text.to_owned(),
            });
        }
    }

    fn splice(&mut self, run: usize, splice: Splice) {
        self.splices.entry(run).or_default().push(splice);
    }

    /// The offset in UTF-16 of a byte of a run.
    fn units(&self, found: &Found, byte: usize) -> u32 {
        self.runs.get(found.run).map_or(0, |run| units(run.plain.get(..byte).unwrap_or_default()))
    }

    fn check_overlaps(&mut self) -> Result<(), ToolError> {
        let overlap = || {
            let message = "two edits change the same words: make them one edit, or two calls. Nothing was changed";
            ToolError::new("overlapping-edits", message)
        };
        let changed = self.splices.keys().filter_map(|&run| self.runs.get(run)?.level.as_ref());
        let added = self.added.iter().filter_map(|one| one.within.as_ref());
        let mut touched = changed.chain(added);
        if touched.any(|level| self.deleted.iter().any(|deleted| level.is_within(deleted))) {
            return Err(overlap());
        }
        for (at, one) in self.deleted.iter().enumerate() {
            let mut before = self.deleted.iter().take(at);
            if before.any(|other| one.is_within(other) || other.is_within(one)) {
                return Err(overlap());
            }
        }
        for splices in self.splices.values_mut() {
            splices.sort_by_key(|splice| (splice.at, splice.delete));
            let meets = |pair: &[Splice]| match pair {
                [first, second] => first.at + first.delete > second.at,
                _ => false,
            };
            if splices.windows(2).any(meets) {
                return Err(overlap());
            }
        }
        Ok(())
    }

    /// Deletes whole elements instead of all their children, unless something is added to them.
    fn delete_what_gets_empty(&mut self) {
        let Plan { deleted, added, .. } = self;
        let gets_empty = |deleted: &[Rc<Level>], level: &Rc<Level>| {
            let outer = level.outer.as_ref()?;
            let is_child = |one: &&Rc<Level>| one.parent == level.parent;
            let is_added_to = |one: &Added| one.parent == level.parent;
            let gets_empty = deleted.iter().filter(is_child).count() == level.siblings;
            (gets_empty && !added.iter().any(is_added_to)).then(|| Rc::clone(outer))
        };
        while let Some(outer) = deleted.iter().find_map(|level| gets_empty(deleted, level)) {
            deleted.retain(|level| !is_in(level, &outer));
            deleted.push(outer);
        }
    }

    /// Makes the changes. Returns what others see as this program's selection.
    pub(super) fn apply(mut self, txn: &mut TransactionMut<'_>) -> Option<Selection> {
        self.delete_what_gets_empty();
        let Plan { runs, splices, mut deleted, mut added } = self;
        let mut selection = None;
        for (run, splices) in splices.into_iter().rev() {
            let Some(run) = runs.get(run) else { continue };
            // From the end, so that the offsets before stay valid.
            for splice in splices.into_iter().rev() {
                run.change(&splice, txn);
                selection = select(&run.text, splice.at, units(&splice.insert), txn);
            }
        }
        // Structural changes likewise. What is deleted stands before what is added behind it.
        deleted.sort_by_key(|level| Reverse(level.index));
        // Elements with the same place are inserted from the last to the first.
        added.reverse();
        added.sort_by_key(|one| Reverse(one.index));
        let mut deleted = deleted.into_iter().peekable();
        for one in added {
            while let Some(level) = deleted.next_if(|level| level.index >= one.index) {
                level.parent.remove_range(txn, level.index, 1);
            }
            selection = one.insert(txn);
        }
        for level in deleted {
            level.parent.remove_range(txn, level.index, 1);
        }
        selection
    }
}

impl Added {
    fn insert(self, txn: &mut TransactionMut<'_>) -> Option<Selection> {
        let Added { mut parent, mut index, around, heading, text, .. } = self;
        for tag in around {
            let element = parent.insert(txn, index, XmlElementPrelim::empty(tag));
            parent = AsRef::<XmlFragmentRef>::as_ref(&element).clone();
            index = 0;
        }
        let tag = if heading.is_some() { "heading" } else { "paragraph" };
        let block: XmlElementRef = parent.insert(txn, index, XmlElementPrelim::empty(tag));
        if let Some(level) = heading {
            block.insert_attribute(txn, "level", Any::from(level));
        }
        let leaf = block.insert(txn, 0, XmlTextPrelim::new(text.as_str()));
        select(leaf.as_ref(), 0, units(&text), txn)
    }
}

/// Elements that hold one paragraph each, so that a paragraph below is one more of them.
fn is_wrapper(tag: &str) -> bool {
    ["listitem", "taskitem", "blockcontainer"].contains(&kind_of(tag).as_str())
}

/// True if the element is a child of the other.
fn is_in(level: &Level, outer: &Rc<Level>) -> bool {
    level.outer.as_ref().is_some_and(|it| Rc::ptr_eq(it, outer))
}

/// In editors of blocks a line break is a new block.
fn check_line(is_blocks: bool, text: &str) -> Result<(), ToolError> {
    if is_blocks && text.contains('\n') {
        return Err(ToolError::argument(
            "this text consists of paragraphs: use add_paragraph for new lines. Nothing was changed",
        ));
    }
    Ok(())
}

fn select<T: ReadTxn>(text: &TextRef, at: u32, length: u32, txn: &T) -> Option<Selection> {
    let place = |index| {
        // At the end of a text there is no unit to hold on to.
        let end = || StickyIndex::from_type(txn, text, Assoc::After);
        text.sticky_index(txn, index, Assoc::After).unwrap_or_else(end)
    };
    Some((place(at), place(at + length)))
}

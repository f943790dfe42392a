//! Replica and editor together, without a room.

use std::time::Duration;

use groupwire_client::{GapReason, Incoming};
use serde_json::json;
use yrs::updates::decoder::Decode;
use yrs::{
    Doc, Map, ReadTxn, Text, Transact, WriteTxn, XmlElementPrelim, XmlFragment, XmlTextPrelim,
};

use super::edit::Edit;
use super::editor::{Editor, Reading};
use super::replica::{Post, Replica};
use crate::arguments::TextKind;
use crate::buffer::tests::message;

/// A `Y.XmlHook` of this name, as the recorded documents have it.
const HOOK: &[u8] = b"\x05\x04hook";

/// A time that no test reaches.
const PATIENCE: Duration = Duration::from_secs(60);

fn incoming(bytes: &[u8], text: bool, own: bool) -> Incoming {
    Incoming { bytes: bytes.to_vec(), text, own, ..message(0) }
}

/// Updates that Yjs has written: one list for each of some documents.
fn recorded() -> Vec<Vec<Vec<u8>>> {
    let lines = include_str!("../../../yjs/tests/vectors/documents.txt").lines();
    let lines = lines.filter_map(|line| line.strip_prefix("updates "));
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    let bytes = |hex: &str| hex.as_bytes().chunks_exact(2).map(byte).collect();
    lines.map(|line| line.split(' ').map(bytes).collect()).collect()
}

async fn names(editor: &Editor) -> Result<usize, String> {
    match editor.read(None).answer(PATIENCE).await {
        Ok(Reading::Names(names)) => {
            for (name, _) in &names {
                // A text, or the reason why it is none.
                let _ = editor.read(Some(name.clone())).answer(PATIENCE).await;
            }
            Ok(names.len())
        }
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error.code),
    }
}

#[tokio::test]
async fn what_yjs_writes_is_read() {
    let mut read = 0;
    for updates in recorded() {
        let mut replica = Replica::new(1 << 20);
        let editor = Editor::start(Vec::new()).unwrap();
        for update in &updates {
            replica.take(&incoming(update, false, false)).updates.into_iter().for_each(|update| {
                editor.apply(update);
            });
        }
        assert!(!replica.lacks_content());
        // The only type that `yrs` does not read, and that no editor uses.
        if updates.concat().windows(HOOK.len()).any(|bytes| bytes == HOOK) {
            assert_eq!(names(&editor).await, Err("unreadable".to_owned()));
            continue;
        }
        read += 1;
        assert!(names(&editor).await.unwrap() > 0);
        // As a late joiner gets it.
        let snapshot = replica.snapshot().unwrap();
        let mut late = Replica::new(1 << 20);
        late.load(&snapshot);
        assert_eq!(late.content(), replica.content());
        assert!(names(&Editor::start(late.content().unwrap()).unwrap()).await.unwrap() > 0);
    }
    assert!(read > 0);
}

#[tokio::test]
async fn damaged_updates_are_refused_or_end_in_an_error() {
    let rounds = std::env::var("HOSTILE_ROUNDS").map_or(6, |rounds| rounds.parse().unwrap());
    let recorded = recorded();
    let mut state = 7_u64;
    let mut below = |limit: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    let (mut refused, mut broken, mut read) = (0, 0, 0);
    for _ in 0..rounds {
        for updates in &recorded {
            let mut replica = Replica::new(1 << 20);
            let editor = Editor::start(Vec::new()).unwrap();
            for update in updates {
                let mut damaged = update.clone();
                if below(4) == 0 {
                    for _ in 0..=below(2) {
                        let at = below(damaged.len());
                        damaged[at] = [damaged[at] ^ (1 << below(8)), below(256) as u8][below(2)];
                    }
                }
                let news = replica.take(&incoming(&damaged, false, false));
                // A document is unreadable from the first malformed update on. Here the next ones
                // are tried nevertheless.
                if replica.check().is_err() {
                    refused += 1;
                    break;
                }
                news.updates.into_iter().for_each(|update| editor.apply(update));
            }
            match names(&editor).await {
                Ok(_) => read += 1,
                Err(code) => {
                    assert_eq!(code, "unreadable");
                    broken += 1;
                }
            }
        }
    }
    println!("{refused} were refused, {broken} broke the editor, {read} were read");
    assert!(refused > 0 && read > 0);
}

#[test]
fn what_is_nested_too_deep_is_not_given_to_the_editor() {
    // In each update a map in the map before, all of one client.
    let doc = Doc::new();
    let mut map = doc.get_or_insert_map("m");
    let mut txn = doc.transact_mut();
    for _ in 0..200 {
        map = map.insert(&mut txn, "a", yrs::MapPrelim::default());
    }
    let update = txn.encode_update_v1();
    let mut replica = Replica::new(1 << 20);
    let news = replica.take(&incoming(&update, false, false));
    assert!(news.changed && news.updates.is_empty());
    assert_eq!(replica.content().unwrap_err().code, "unreadable");
    assert_eq!(replica.snapshot(), None);
}

#[test]
fn a_document_has_a_limit_and_missing_content_is_waited_for() {
    let doc = Doc::new();
    let text = doc.get_or_insert_text("t");
    let write = |words: &str| {
        let mut txn = doc.transact_mut();
        text.insert(&mut txn, 0, words);
        txn.encode_update_v1()
    };
    let (first, second) = (write("one"), write("two"));
    let mut replica = Replica::new(100);
    assert!(!replica.take(&incoming(&second, false, false)).changed);
    assert!(replica.lacks_content() && replica.snapshot().is_none());
    let news = replica.take(&incoming(&first, false, false));
    assert_eq!(news.updates.len(), 2);
    assert!(!replica.lacks_content() && replica.snapshot().is_some());
    assert!(replica.take(&incoming(&first, false, false)).updates.is_empty(), "it is there");
    replica.take(&incoming(&write(&"x".repeat(100)), false, false));
    assert_eq!(replica.content().unwrap_err().code, "too-large");
}

#[tokio::test]
async fn own_changes_outlast_the_rooms_loss_and_large_ones_travel_in_pieces() {
    let mut replica = Replica::new(1 << 20);
    let editor = Editor::start(Vec::new()).unwrap();
    let edit = |text: &str| {
        let edit =
            Edit::AddParagraph { after: None, occurrence: None, text: text.into(), heading: None };
        editor.edit("t".to_owned(), Some(TextKind::Text), vec![edit])
    };
    let edited = edit("hello").answer(PATIENCE).await.unwrap();
    let posts = replica.publish(edited.update.unwrap(), 1000);
    let [Post::Update(update)] = &posts[..] else { panic!("{posts:?}") };
    let news = replica.take(&incoming(update, false, true));
    assert!(news.changed && news.updates.is_empty(), "the editor has it");

    let long = edit(&"long ".repeat(20_000)).answer(PATIENCE).await.unwrap().update.unwrap();
    let posts = replica.publish(long.clone(), 60_000);
    let texts = posts.iter().map(|post| match post {
        Post::Text(text) => text.as_str(),
        Post::Update(_) => panic!("it is too large for one message"),
    });
    let texts: Vec<&str> = texts.collect();
    assert_eq!(texts.len(), 3);
    // After the loss of the session all pieces are sent again, with a new number.
    let (again, is_new) = replica.gap(GapReason::Session, 60_000);
    assert!(!is_new && again.len() == 3 && again != posts);

    // The room is lost before it has ordered the update.
    assert_eq!(replica.gap(GapReason::Incarnation, 60_000), (vec![], true));
    let sent = replica.synced(1 << 20);
    let [Post::Update(sent)] = &sent[..] else { panic!("{}", sent.len()) };
    let news = replica.take(&incoming(sent, false, true));
    assert_eq!(news.updates.len(), 1, "the new editor lacks it");
    assert!(replica.content().unwrap().len() > 100_000);
    assert!(replica.synced(1 << 20).is_empty());
}

/// An editor with the document of [`as_tiptap`].
fn tiptap() -> Editor {
    Editor::start(as_tiptap()).unwrap()
}

/// A document as Tiptap stores it.
fn as_tiptap() -> Vec<u8> {
    let doc = Doc::new();
    let mut txn = doc.transact_mut();
    let root = txn.get_or_insert_xml_fragment("default");
    let heading = root.push_back(&mut txn, XmlElementPrelim::empty("heading"));
    yrs::Xml::insert_attribute(&heading, &mut txn, "level", yrs::Any::from(2));
    heading.push_back(&mut txn, XmlTextPrelim::new("Plan"));
    let paragraph = root.push_back(&mut txn, XmlElementPrelim::empty("paragraph"));
    let text = paragraph.push_back(&mut txn, XmlTextPrelim::new("We buy milk and bread."));
    let bold = |name: &str| {
        [(name.into(), yrs::Any::from(std::collections::HashMap::<String, yrs::Any>::new()))].into()
    };
    text.format(&mut txn, 7, 4, bold("bold"));
    let list = root.push_back(&mut txn, XmlElementPrelim::empty("bulletList"));
    for task in ["Ann asks", "Bo pays"] {
        let item = list.push_back(&mut txn, XmlElementPrelim::empty("listItem"));
        let paragraph = item.push_back(&mut txn, XmlElementPrelim::empty("paragraph"));
        paragraph.push_back(&mut txn, XmlTextPrelim::new(task));
    }
    drop(txn);
    doc.transact().encode_state_as_update_v1(&yrs::StateVector::default())
}

async fn shown(editor: &Editor, name: &str) -> String {
    match editor.read(Some(name.to_owned())).answer(PATIENCE).await.unwrap() {
        Reading::Text(shown) => shown.text,
        other => panic!("{other:?}"),
    }
}

async fn edit(editor: &Editor, name: &str, edits: serde_json::Value) -> Result<bool, String> {
    let edits: Vec<Edit> = serde_json::from_value(edits).unwrap();
    let edited = editor.edit(name.to_owned(), None, edits).answer(PATIENCE).await;
    edited.map(|edited| edited.update.is_some()).map_err(|error| error.code)
}

#[tokio::test]
async fn an_editors_document_is_markdown_and_is_edited_in_its_own_elements() {
    let editor = tiptap();
    let before = "## Plan\n\nWe buy **milk** and bread.\n\n- Ann asks\n- Bo pays";
    assert_eq!(shown(&editor, "default").await, before);
    let edits = json!([
        { "do": "replace", "quote": "milk and", "text": "oat milk and" },
        { "do": "insert_after", "quote": "bread", "text": ", fresh" },
        { "do": "add_paragraph", "after": "Ann asks", "text": "Cy carries\nDi drives" },
        { "do": "add_paragraph", "text": "The end", "heading": 3 },
        { "do": "delete_paragraph", "quote": "Bo pays" },
        { "do": "replace", "quote": "Plan", "text": "Our plan" },
    ]);
    assert_eq!(edit(&editor, "default", edits).await, Ok(true));
    let after = "## Our plan\n\nWe buy **oat milk** and bread, fresh.\n\n- Ann asks\n- Cy carries\n- Di drives\n\n### The end";
    assert_eq!(shown(&editor, "default").await, after);
    assert!(editor.undo().answer(PATIENCE).await.unwrap().update.is_some());
    assert_eq!(shown(&editor, "default").await, before);
    assert!(editor.undo().answer(PATIENCE).await.unwrap().update.is_none(), "there is no more");
}

#[tokio::test]
async fn an_edit_that_cannot_be_made_changes_nothing() {
    let editor = tiptap();
    let before = shown(&editor, "default").await;
    for (edits, code) in [
        (json!([{ "do": "delete", "quote": "tea" }]), "no-such-quote"),
        (
            json!([{ "do": "delete", "quote": "milk" }, { "do": "delete", "quote": "tea" }]),
            "no-such-quote",
        ),
        (json!([{ "do": "delete", "quote": "a" }]), "ambiguous-quote"),
        (json!([{ "do": "delete", "quote": "milk", "occurrence": 2 }]), "no-such-quote"),
        (
            json!([{ "do": "delete", "quote": "milk and" }, { "do": "delete", "quote": "and bread" }]),
            "overlapping-edits",
        ),
        (
            json!([{ "do": "delete_paragraph", "quote": "milk" }, { "do": "delete", "quote": "bread" }]),
            "overlapping-edits",
        ),
        (json!([{ "do": "insert_after", "quote": "milk", "text": "\n" }]), "invalid-argument"),
        (json!([{ "do": "delete", "quote": "" }]), "invalid-argument"),
        (json!([{ "do": "add_paragraph", "text": "x", "heading": 7 }]), "invalid-argument"),
    ] {
        assert_eq!(edit(&editor, "default", edits.clone()).await, Err(code.to_owned()), "{edits}");
        assert_eq!(shown(&editor, "default").await, before);
    }
    assert_eq!(edit(&editor, "other", json!([])).await, Err("no-such-text".to_owned()));
}

#[tokio::test]
async fn what_is_deleted_together_takes_only_its_own_elements() {
    // A paragraph with a line break: two texts of one element.
    let doc = Doc::new();
    let mut txn = doc.transact_mut();
    let root = txn.get_or_insert_xml_fragment("default");
    let broken = root.push_back(&mut txn, XmlElementPrelim::empty("paragraph"));
    broken.push_back(&mut txn, XmlTextPrelim::new("first line"));
    broken.push_back(&mut txn, XmlElementPrelim::empty("hardBreak"));
    broken.push_back(&mut txn, XmlTextPrelim::new("second line"));
    let neighbour = root.push_back(&mut txn, XmlElementPrelim::empty("paragraph"));
    neighbour.push_back(&mut txn, XmlTextPrelim::new("neighbour"));
    drop(txn);
    let content = doc.transact().encode_state_as_update_v1(&yrs::StateVector::default());
    let editor = Editor::start(content).unwrap();
    let first = json!({ "do": "delete_paragraph", "quote": "first" });
    for second in [
        json!({ "do": "delete_paragraph", "quote": "second" }),
        json!({ "do": "insert_after", "quote": "second", "text": " too" }),
    ] {
        let edits = json!([first, second]);
        assert_eq!(edit(&editor, "default", edits).await, Err("overlapping-edits".to_owned()));
    }
    assert_eq!(edit(&editor, "default", json!([first])).await, Ok(true));
    assert_eq!(shown(&editor, "default").await, "neighbour");
}

#[tokio::test]
async fn a_list_goes_with_its_last_items_and_stays_for_new_ones() {
    for (one, other) in [("Ann asks", "Bo pays"), ("Bo pays", "Ann asks")] {
        let doc = Doc::new();
        let root = doc.get_or_insert_xml_fragment("default");
        let apply = |update: &[u8]| {
            let update = yrs::Update::decode_v1(update).unwrap();
            doc.transact_mut().apply_update(update).unwrap();
        };
        let before = as_tiptap();
        apply(&before);
        let delete = |quote: &str| Edit::DeleteParagraph { quote: quote.into(), occurrence: None };
        let edits = vec![delete(one), delete(other)];
        let editor = Editor::start(before).unwrap();
        let edited = editor.edit("default".to_owned(), None, edits).answer(PATIENCE).await;
        apply(&edited.unwrap().update.unwrap());
        assert_eq!(root.len(&doc.transact()), 2, "the heading and the paragraph");
    }
    let editor = tiptap();
    let edits = json!([
        { "do": "delete_paragraph", "quote": "Ann asks" },
        { "do": "delete_paragraph", "quote": "Bo pays" },
        { "do": "add_paragraph", "after": "Bo pays", "text": "Cy does both" },
    ]);
    assert_eq!(edit(&editor, "default", edits).await, Ok(true));
    let after = "## Plan\n\nWe buy **milk** and bread.\n\n- Cy does both";
    assert_eq!(shown(&editor, "default").await, after);
}

#[tokio::test]
async fn a_plain_text_is_edited_by_lines() {
    let editor = Editor::start(Vec::new()).unwrap();
    let add = json!([{ "do": "add_paragraph", "text": "eggs 🥚\nmilk" }]);
    let edits: Vec<Edit> = serde_json::from_value(add).unwrap();
    editor.edit("t".to_owned(), Some(TextKind::Text), edits).answer(PATIENCE).await.unwrap();
    let edits = json!([
        { "do": "insert_after", "quote": "🥚", "text": "🥚" },
        { "do": "add_paragraph", "after": "eggs", "text": "rye" },
        { "do": "add_paragraph", "text": "tea" },
        { "do": "delete_paragraph", "quote": "milk" },
    ]);
    assert_eq!(edit(&editor, "t", edits).await, Ok(true));
    assert_eq!(shown(&editor, "t").await, "eggs 🥚🥚\nrye\ntea");
    // The same text is not written again.
    assert_eq!(
        edit(&editor, "t", json!([{ "do": "replace", "quote": "rye", "text": "rye" }])).await,
        Ok(false)
    );
    let last = json!([{ "do": "delete_paragraph", "quote": "tea" }, { "do": "insert_before", "quote": "rye", "text": "dark " }]);
    assert_eq!(edit(&editor, "t", last).await, Ok(true));
    assert_eq!(shown(&editor, "t").await, "eggs 🥚🥚\ndark rye");
}

#[tokio::test]
async fn a_step_is_taken_back_after_others_have_edited() {
    let theirs = Doc::new();
    let text = theirs.get_or_insert_text("notes");
    let written = |at: u32, chunk: &str| {
        let mut txn = theirs.transact_mut();
        text.insert(&mut txn, at, chunk);
        txn.encode_update_v1()
    };
    let editor = Editor::start(written(0, "We buy milk and bread.")).unwrap();
    let edits = json!([
        { "do": "replace", "quote": "milk", "text": "oat milk" },
        { "do": "insert_after", "quote": "bread", "text": " today" },
    ]);
    assert_eq!(edit(&editor, "notes", edits).await, Ok(true));
    assert_eq!(shown(&editor, "notes").await, "We buy oat milk and bread today.");
    editor.apply(written(0, "So: "));
    assert!(editor.undo().answer(PATIENCE).await.unwrap().update.is_some());
    assert_eq!(shown(&editor, "notes").await, "So: We buy milk and bread.");
}

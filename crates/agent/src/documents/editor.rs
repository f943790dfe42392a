//! A document of the CRDT `yrs`, on a thread of its own.
//!
//! `yrs` was made for updates of well-meant programs: malformed ones can make it panic. The updates
//! that reach this thread have been checked by `groupwire-yjs`, refer only to content that is
//! there, and nest shared types at most as deep as the replica allows. If `yrs` panics
//! nevertheless, the thread leaves the document as it is, without dropping it, since its
//! transactions write when they are dropped, and answers only with errors from then on.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::timeout;
use yrs::undo::{self, UndoManager};
use yrs::updates::decoder::Decode;
use yrs::{ClientID, Doc, OffsetKind, Options, Transact, Update, WriteTxn};

use super::edit::Edit;
use super::markdown::{self, Shown};
use super::plan::Plan;
use super::view::{Root, root, roots};
use crate::arguments::TextKind;
use crate::error::ToolError;

/// Most steps that can be undone. At this number the steps are forgotten, so that what they deleted
/// does not fill the memory.
const MAX_UNDO: usize = 1000;

/// The origin of own changes.
const OWN: &str = "agent";

/// The thread of a document. Dropping this ends it.
pub(super) struct Editor {
    commands: mpsc::Sender<Command>,
    /// The client of the document as which it edits.
    pub(super) client: u64,
}

/// The answer to a question for a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// The names of the shared types, and their kinds.
    Names(Vec<(String, &'static str)>),
    Text(Shown),
}

/// What an edit or undo did.
#[derive(Debug)]
pub(super) struct Edited {
    /// The update that others have to get; `None` if nothing changed.
    pub(super) update: Option<Vec<u8>>,
    /// The selection for awareness.
    pub(super) selection: Option<Value>,
}

type Answer<T> = oneshot::Sender<Result<T, ToolError>>;

enum Command {
    Apply(Vec<u8>),
    Read { name: Option<String>, answer: Answer<Reading> },
    Edit { name: String, kind: Option<TextKind>, edits: Vec<Edit>, answer: Answer<Edited> },
    Undo { answer: Answer<Edited> },
}

impl Editor {
    /// Starts a thread with this document. `content` may be empty.
    pub(super) fn start(content: Vec<u8>) -> Result<Self, ToolError> {
        let (commands, receiver) = mpsc::channel();
        let mut options = Options { offset_kind: OffsetKind::Utf16, ..Options::default() };
        // As Yjs, which takes few bytes for such a number.
        options.client_id = ClientID::new(options.client_id.get() & u64::from(u32::MAX));
        let client = options.client_id.get();
        let run = move || Desk::new(options).run(&receiver);
        thread::Builder::new().name("yjs document".to_owned()).spawn(run).map_err(|error| {
            ToolError::new("not-now", format!("no thread for the document: {error}. Try again"))
        })?;
        let editor = Editor { commands, client };
        editor.apply(content);
        Ok(editor)
    }

    /// Applies an update of others.
    pub(super) fn apply(&self, update: Vec<u8>) {
        if !update.is_empty() {
            // If the thread has ended, the next question gets no answer.
            let _ = self.commands.send(Command::Apply(update));
        }
    }

    /// Asks for a text, or the names that there are.
    pub(super) fn read(&self, name: Option<String>) -> Question<Reading> {
        self.ask(|answer| Command::Read { name, answer })
    }

    /// Changes a text. `kind`: what it is if the document does not have it yet.
    pub(super) fn edit(
        &self,
        name: String,
        kind: Option<TextKind>,
        edits: Vec<Edit>,
    ) -> Question<Edited> {
        self.ask(|answer| Command::Edit { name, kind, edits, answer })
    }

    /// Takes back the last own step.
    pub(super) fn undo(&self) -> Question<Edited> {
        self.ask(|answer| Command::Undo { answer })
    }

    fn ask<T>(&self, command: impl FnOnce(Answer<T>) -> Command) -> Question<T> {
        let (answer, question) = oneshot::channel();
        let _ = self.commands.send(command(answer));
        Question(question)
    }
}

/// A question to the thread.
pub(super) struct Question<T>(oneshot::Receiver<Result<T, ToolError>>);

impl<T> Question<T> {
    /// Waits for the answer.
    pub(super) async fn answer(self, patience: Duration) -> Result<T, ToolError> {
        match timeout(patience, self.0).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(broken()),
            Err(_) => {
                Err(ToolError::new("timeout", "the document is too complex to be read in time"))
            }
        }
    }
}

/// The document, on its thread.
struct Desk {
    doc: Doc,
    undo: UndoManager<()>,
    /// The updates of the transactions since this was last emptied.
    updates: Rc<RefCell<Vec<Vec<u8>>>>,
}

impl Desk {
    fn new(options: Options) -> Self {
        let doc = Doc::with_options(options);
        let updates = Rc::<RefCell<Vec<Vec<u8>>>>::default();
        let seen = Rc::clone(&updates);
        doc.observe_update_v1(OWN, move |_, event| seen.borrow_mut().push(event.update.clone()))
            .expect("a new document has no transaction");
        let options = undo::Options { capture_timeout_millis: 0, ..undo::Options::default() };
        let mut undo = UndoManager::with_options(options);
        undo.include_origin(OWN);
        Desk { doc, undo, updates }
    }

    fn run(self, commands: &mpsc::Receiver<Command>) {
        let mut desk = ManuallyDrop::new(self);
        let mut is_broken = false;
        for command in commands {
            // The question of a broken document gets no answer.
            if is_broken {
                continue;
            }
            let carry_out = || match command {
                Command::Apply(update) => desk.apply(&update),
                Command::Read { name, answer } => reply(answer, desk.read(name.as_deref())),
                Command::Edit { name, kind, edits, answer } => {
                    reply(answer, desk.edit(&name, kind, &edits));
                }
                Command::Undo { answer } => reply(answer, Ok(desk.undo())),
            };
            if catch_unwind(AssertUnwindSafe(carry_out)).is_err() {
                tracing::error!("the library for Yjs documents has failed on a document");
                is_broken = true;
            }
        }
        if !is_broken {
            let end = || drop(ManuallyDrop::into_inner(desk));
            let _ = catch_unwind(AssertUnwindSafe(end));
        }
    }

    fn apply(&self, update: &[u8]) {
        let update = Update::decode_v1(update).expect("the replica has checked it");
        let mut txn = ManuallyDrop::new(self.doc.transact_mut());
        txn.apply_update(update).expect("the replica has checked it");
        txn.commit();
        drop(ManuallyDrop::into_inner(txn));
        self.updates.borrow_mut().clear();
    }

    fn read(&self, name: Option<&str>) -> Result<Reading, ToolError> {
        let txn = self.doc.transact();
        let Some(name) = name else {
            let names = roots(&txn).into_iter().map(|(name, root)| (name, root.kind()));
            return Ok(Reading::Names(names.collect()));
        };
        match root(&txn, name) {
            Some(Root::Text(text)) => Ok(Reading::Text(markdown::of_text(&text, &txn))),
            Some(Root::Blocks(root)) => Ok(Reading::Text(markdown::of_blocks(&root, &txn))),
            Some(Root::Empty) => {
                Ok(Reading::Text(Shown { text: String::new(), is_markdown: false }))
            }
            Some(Root::Other) => Err(no_text(name, "is no text, but a map or an array")),
            None => Err(no_text(name, "is not there")),
        }
    }

    fn edit(
        &mut self,
        name: &str,
        kind: Option<TextKind>,
        edits: &[Edit],
    ) -> Result<Edited, ToolError> {
        let root = self.root_for(name, kind)?;
        match &root {
            Root::Text(text) => self.undo.expand_scope(&self.doc, text),
            Root::Blocks(blocks) => self.undo.expand_scope(&self.doc, blocks),
            Root::Empty | Root::Other => {}
        }
        self.undo.reset();
        self.updates.borrow_mut().clear();
        let plan = Plan::new(&root, edits, &self.doc.transact())?;
        let mut txn = ManuallyDrop::new(self.doc.transact_mut_with(OWN));
        let selection = plan.apply(&mut txn);
        txn.commit();
        drop(ManuallyDrop::into_inner(txn));
        if self.undo.undo_stack().len() > MAX_UNDO {
            self.undo.clear_all();
        }
        let selection = selection.map(|(from, to)| json!({ "anchor": from, "head": to }));
        Ok(Edited { update: self.update(), selection })
    }

    fn undo(&mut self) -> Edited {
        self.updates.borrow_mut().clear();
        let is_undone = self.undo.undo_blocking();
        // Nothing is redone.
        self.undo.clear_redo();
        Edited { update: self.update().filter(|_| is_undone), selection: None }
    }

    /// The text of this name, which is made if there is none. A type that came from others has no
    /// kind in `yrs` until it is asked for as one, and changes of it are no steps for undo.
    fn root_for(&self, name: &str, kind: Option<TextKind>) -> Result<Root, ToolError> {
        let kind = match root(&self.doc.transact(), name) {
            Some(Root::Text(_)) => Some(TextKind::Text),
            Some(Root::Blocks(_)) => Some(TextKind::Blocks),
            Some(Root::Other) => return Err(no_text(name, "is no text, but a map or an array")),
            Some(Root::Empty) | None => kind,
        };
        let mut txn = self.doc.transact_mut_with(OWN);
        match kind {
            Some(TextKind::Text) => Ok(Root::Text(txn.get_or_insert_text(name))),
            Some(TextKind::Blocks) => Ok(Root::Blocks(txn.get_or_insert_xml_fragment(name))),
            None => Err(no_text(name, "is empty or not there. To begin it, give its kind")),
        }
    }

    /// The update of the transactions since the buffer was emptied.
    fn update(&self) -> Option<Vec<u8>> {
        let updates = std::mem::take(&mut *self.updates.borrow_mut());
        let parsed = updates.iter().filter_map(|update| groupwire_yjs::Update::parse(update).ok());
        let parsed: Vec<_> = parsed.filter(|update| !update.is_empty()).collect();
        (!parsed.is_empty()).then(|| groupwire_yjs::merge(&parsed))
    }
}

fn reply<T>(answer: Answer<T>, outcome: Result<T, ToolError>) {
    // Nobody waits any more if the tool was cancelled.
    let _ = answer.send(outcome);
}

fn no_text(name: &str, what: &str) -> ToolError {
    let message = format!("{name:?} {what}: read_text without a name lists what there is");
    ToolError::new("no-such-text", message)
}

fn broken() -> ToolError {
    let message = "this agent cannot read the document, whose updates its library does not understand. Tell the operator";
    ToolError::new("unreadable", message)
}

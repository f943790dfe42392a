//! One document of a room: connects the replica, the editor and the awareness with the room's
//! channels.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use groupwire_client::limits::MAX_TRANSACTION;
use groupwire_client::{
    Channel, ChannelId, Durability, Event, GapReason, Qos, Room, SendOptions, Sent,
};
use tokio::time::sleep;

use super::edit::Edit;
use super::editor::{Edited, Editor, Question, Reading};
use super::presence::{Keyed, Presence};
use super::replica::{News, Post, Replica};
use crate::arguments::TextKind;
use crate::config::Config;
use crate::error::ToolError;

/// The largest message of a room in memory. In a stored room it is [`MAX_TRANSACTION`].
const MAX_MESSAGE: usize = 60_000;

/// What the name of the channel of awareness has after the name of the document.
pub(crate) const AWARENESS: &str = "/awareness";

/// How long the selection of an edit is shown: long enough that a person sees it.
const SHOWN: Duration = Duration::from_secs(10);

/// A document that tools have opened.
pub(crate) struct Document {
    name: String,
    room: Room,
    channel: Channel,
    awareness: Channel,
    /// The name of the agent.
    agent: String,
    patience: Duration,
    state: Mutex<State>,
    /// Lets one change after the other pass, so that they are published as they were made.
    changing: tokio::sync::Mutex<()>,
}

struct State {
    replica: Replica,
    editor: Option<Editor>,
    presence: Presence,
    /// True once the document's late-joiner state has been complete.
    is_synced: bool,
    /// Messages that the client has not taken yet.
    unsent: VecDeque<Post>,
    /// Counts edits, so that the selection of the newest one stays its time.
    edits: u64,
}

impl Document {
    /// Opens the document of this name.
    pub(crate) fn open(room: &Room, name: &str, config: &Config) -> Result<Arc<Self>, ToolError> {
        let channel = room.channel(name, Qos::transaction().departures())?;
        let awareness =
            room.channel(&format!("{name}{AWARENESS}"), Qos::awareness().rate(0, 25))?;
        room.provide(name, &[&channel])?;
        let state = State {
            replica: Replica::new(config.limits.document_bytes),
            editor: None,
            presence: Presence::default(),
            is_synced: false,
            unsent: VecDeque::new(),
            edits: 0,
        };
        Ok(Arc::new(Document {
            name: name.to_owned(),
            room: room.clone(),
            channel,
            awareness,
            agent: config.name.clone(),
            patience: config.limits.answer,
            state: Mutex::new(state),
            changing: tokio::sync::Mutex::default(),
        }))
    }

    /// The channel of its updates.
    pub(crate) fn channel(&self) -> ChannelId {
        self.channel.id()
    }

    /// Takes an event of the room. True if the document has changed.
    pub(crate) fn take(&self, event: &Event) -> bool {
        let mut state = self.state();
        match event {
            Event::Message(message) if message.channel == self.channel.id() => {
                let news = state.replica.take(message);
                // The agent knows of its own changes.
                state.take(news) && !message.own
            }
            Event::Snapshot { part, bytes, .. } if *part == self.name => {
                let news = state.replica.load(bytes);
                state.take(news)
            }
            Event::SnapshotWanted { part, as_of } if *part == self.name => {
                if let Some(snapshot) = state.replica.snapshot()
                    && let Err(error) = self.room.snapshot(part, *as_of, &snapshot)
                {
                    tracing::warn!(%error, "no snapshot of a document");
                }
                false
            }
            Event::Gap { reason, missing, .. } => {
                let is_here = missing.is_some_and(|(channel, _)| channel == self.channel.id());
                let concerns_it = match reason {
                    GapReason::Incarnation | GapReason::Session => true,
                    GapReason::Reset | GapReason::History => is_here,
                };
                if !concerns_it {
                    return false;
                }
                let (posts, is_new) = state.replica.gap(*reason, self.largest());
                if is_new {
                    self.show(state.end_editor(false));
                }
                self.post(&mut state, posts);
                true
            }
            // After a break only the room's event comes. It does not concern a document that was
            // opened after the join began, until the document's own event has come once.
            Event::Synced { channel }
                if channel.map_or(state.is_synced, |one| one == self.channel.id()) =>
            {
                state.is_synced = true;
                let posts = state.replica.synced(self.largest());
                self.post(&mut state, posts);
                false
            }
            // The room may have forgotten this participant meanwhile.
            Event::Joined { .. } => {
                self.show(state.presence.all());
                false
            }
            Event::Drain => {
                self.post(&mut state, Vec::new());
                false
            }
            _ => false,
        }
    }

    /// True if the room no longer has a part of the document.
    pub(crate) fn lacks_content(&self) -> bool {
        self.state().replica.lacks_content()
    }

    /// True if content from before the server lost the room is not in the room again.
    pub(crate) fn is_restoring(&self) -> bool {
        let state = self.state();
        // The room may have refused it.
        let waits = !state.unsent.is_empty() || self.room.pending() > 0;
        waits && state.replica.is_restoring()
    }

    /// True if the client has taken all changes.
    pub(crate) fn is_sent(&self) -> bool {
        self.state().unsent.is_empty()
    }

    /// Reads a text, or the names that there are.
    pub(crate) async fn read(&self, name: Option<String>) -> Result<Reading, ToolError> {
        let question = self.with_editor(|editor| editor.read(name))?;
        self.answer(question).await
    }

    /// Changes a text, for all participants. True if something has changed. It goes on when the
    /// future is dropped, so that no change stays here alone.
    pub(crate) async fn edit(
        self: &Arc<Self>,
        name: String,
        kind: Option<TextKind>,
        edits: Vec<Edit>,
    ) -> Result<bool, ToolError> {
        self.change(move |editor| editor.edit(name, kind, edits)).await
    }

    /// Takes back the last own step. False: there is none.
    pub(crate) async fn undo(self: &Arc<Self>) -> Result<bool, ToolError> {
        self.change(Editor::undo).await
    }

    /// Forgets changes that the room has refused.
    pub(crate) fn refused(&self) {
        let mut state = self.state();
        self.show(state.end_editor(true));
    }

    async fn change(
        self: &Arc<Self>,
        ask: impl FnOnce(&Editor) -> Question<Edited> + Send + 'static,
    ) -> Result<bool, ToolError> {
        let document = Arc::clone(self);
        let task = tokio::spawn(async move {
            let _turn = document.changing.lock().await;
            let question = document.with_editor(ask)?;
            let edited = document.answer(question).await?;
            document.publish(edited)
        });
        task.await.unwrap_or_else(|error| Err(ToolError::new("unreadable", error.to_string())))
    }

    fn publish(self: &Arc<Self>, edited: Edited) -> Result<bool, ToolError> {
        let mut state = self.state();
        let Some(editor) = &state.editor else {
            let message = "the document was replaced meanwhile: read it again";
            return Err(ToolError::new("not-now", message));
        };
        let client = editor.client;
        let Some(update) = edited.update else { return Ok(false) };
        let posts = state.replica.publish(update, self.largest());
        state.unsent.extend(posts);
        if let Err(error) = self.flush(&mut state) {
            self.show(state.end_editor(true));
            return Err(error);
        }
        self.show(state.presence.show(client, &self.agent));
        self.show(state.presence.select(edited.selection.as_ref()));
        state.edits += 1;
        tokio::spawn(deselect(Arc::downgrade(self), state.edits));
        Ok(true)
    }

    fn with_editor<T>(&self, ask: impl FnOnce(&Editor) -> T) -> Result<T, ToolError> {
        let mut state = self.state();
        if state.editor.is_none() {
            let content = state.replica.content()?;
            state.editor = Some(Editor::start(content)?);
        }
        // The replica may have found an update that cannot be read.
        state.replica.check()?;
        state.editor.as_ref().map(ask).ok_or_else(|| ToolError::new("not-now", "try again"))
    }

    async fn answer<T>(&self, question: Question<T>) -> Result<T, ToolError> {
        question.answer(self.patience).await
    }

    /// Sends messages, as far as the client takes them.
    fn post(&self, state: &mut State, posts: Vec<Post>) {
        state.unsent.extend(posts);
        if let Err(error) = self.flush(state) {
            tracing::warn!(%error, "an update of a document cannot be sent");
            self.show(state.end_editor(true));
        }
    }

    fn flush(&self, state: &mut State) -> Result<(), ToolError> {
        while let Some(post) = state.unsent.front() {
            let options = SendOptions::default();
            let sent = match post {
                Post::Update(update) => self.channel.send(update.as_slice(), options)?,
                Post::Text(text) => self.channel.send(text.as_str(), options)?,
            };
            if sent == Sent::NotNow {
                return Ok(());
            }
            state.unsent.pop_front();
        }
        Ok(())
    }

    /// Sends values of awareness. Somebody who may not publish them edits without a cursor.
    fn show(&self, values: Vec<Keyed>) {
        for Keyed { key, text } in values {
            let options = SendOptions { key: Some(key.as_bytes()), ..SendOptions::default() };
            if let Err(error) = self.awareness.send(text.as_str(), options) {
                tracing::debug!(%error, "the agent's awareness is not shown");
            }
        }
    }

    fn largest(&self) -> usize {
        match self.room.durability() {
            None | Some(Durability::Memory) => MAX_MESSAGE,
            Some(_) => MAX_TRANSACTION,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The state is consistent between its calls.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take(&mut self, news: News) -> bool {
        if let Some(editor) = &self.editor {
            news.updates.into_iter().for_each(|update| editor.apply(update));
        }
        news.changed
    }

    /// Ends the editor; the next tool begins anew. What was not sent is dropped. Returns values of
    /// awareness.
    fn end_editor(&mut self, refused: bool) -> Vec<Keyed> {
        self.editor = None;
        self.unsent.clear();
        self.replica.editor_is_new(refused);
        self.presence.hide()
    }
}

/// Hides the selection of an edit after a while, unless there was another edit.
async fn deselect(document: Weak<Document>, edit: u64) {
    sleep(SHOWN).await;
    let Some(document) = document.upgrade() else { return };
    let mut state = document.state();
    if state.edits == edit {
        let values = state.presence.select(None);
        document.show(values);
    }
}

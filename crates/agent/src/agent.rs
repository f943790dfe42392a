//! The agent: its rooms, and what each tool does. Clones share the rooms.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use groupwire_client::limits::{MAX_CHANNEL_NAME, MAX_KEY, MAX_PRESENCE};
use groupwire_client::{Channel, Payload};
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use crate::arguments::{
    JoinRoom, OneRoom, Participants, ReadMessages, SendMessage, SetPresence, WaitForChanges,
};
use crate::config::Config;
use crate::documents::is_document_channel;
use crate::error::ToolError;
use crate::inbox::{Connection, Inbox};
use crate::limits::{Bucket, Limits};
use crate::results::{self, Page};
use crate::session::{Outgoing, Session};

/// What a tool returns.
pub(crate) type Outcome = Result<Value, ToolError>;

/// An agent. Clones are handles of the same agent: all hosts that are connected with it act as one
/// participant.
#[derive(Clone)]
pub struct Agent {
    inner: Arc<Inner>,
}

struct Inner {
    config: Config,
    sessions: Mutex<BTreeMap<String, Arc<Session>>>,
    bucket: Mutex<Bucket>,
    waits: Semaphore,
    started: Instant,
}

impl Agent {
    /// An agent that is in no room yet.
    ///
    /// ```
    /// use groupwire_agent::{Agent, Config};
    ///
    /// let config = Config::new("ws://127.0.0.1:8080", "Tidy bot", ["plan"]);
    /// let agent = Agent::new(config)?;
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Config::check`].
    pub fn new(config: Config) -> Result<Self, String> {
        config.check()?;
        let inner = Inner {
            sessions: Mutex::default(),
            bucket: Mutex::new(Bucket::new(&config.limits)),
            waits: Semaphore::new(config.limits.waits),
            started: Instant::now(),
            config,
        };
        Ok(Agent { inner: Arc::new(inner) })
    }

    /// Leaves all rooms.
    pub async fn leave_all(&self) {
        let sessions = std::mem::take(&mut *self.sessions());
        for session in sessions.into_values() {
            session.leave(Duration::from_secs(2)).await;
        }
    }

    pub(crate) fn list_rooms_now(&self) -> Outcome {
        let Config { server, name, rooms, any_room, .. } = &self.inner.config;
        let sessions = self.sessions();
        let others = sessions.keys().filter(|room| !rooms.contains(room));
        let list = rooms.iter().chain(others).map(|room| match sessions.get(room) {
            Some(session) => state(room, &session.inbox()),
            None => json!({ "room": room, "state": "not-joined" }),
        });
        let list: Vec<Value> = list.collect();
        Ok(json!({ "server": server, "name": name, "rooms": list, "may_join_others": any_room }))
    }

    pub(crate) async fn join(&self, JoinRoom { room, channels }: JoinRoom) -> Outcome {
        if !self.inner.config.may_join(&room) {
            let message = format!(
                "the operator of this agent has not named the room {room:?}: list_rooms shows which rooms it may join"
            );
            return Err(ToolError::new("unknown-room", message));
        }
        channels.iter().try_for_each(|name| check_channel_name(name))?;
        let limits = &self.inner.config.limits;
        if channels.len() > limits.channels {
            return Err(ToolError::argument(format!("name at most {} channels", limits.channels)));
        }
        let session = self.session_or_start(&room).await?;
        if let Err(error) = session.joined(limits.answer).await {
            self.forget(&room, &session);
            return Err(error);
        }
        let mut refused = Vec::new();
        for name in channels {
            if let Err(error) = self.open(&session, &name, Default::default()).await {
                refused.push(json!({ "channel": name, "error": error }));
            }
        }
        let mut result = state(&room, &session.inbox());
        if !refused.is_empty() {
            result["channels_not_opened"] = refused.into();
        }
        Ok(result)
    }

    pub(crate) async fn leave(&self, OneRoom { room }: OneRoom) -> Outcome {
        let session = self.sessions().remove(&room).ok_or_else(|| not_joined(&room))?;
        session.leave(self.inner.config.limits.answer).await;
        Ok(json!({ "room": room, "state": "not-joined" }))
    }

    pub(crate) async fn list_participants(&self, arguments: Participants) -> Outcome {
        let Participants { room, after, limit } = arguments;
        let session = self.session(&room)?;
        session.check_joined()?;
        let limits = &self.inner.config.limits;
        if session.inbox().large.is_some() {
            // The server announces only some participants of a large room unless it is asked.
            let seen = session.inbox().participants_changed;
            session.want_page(after.into());
            let came = |inbox: &Inbox| (inbox.participants_changed > seen).then_some(());
            let _ = timeout(limits.answer, session.until(came)).await;
        }
        let inbox = session.inbox();
        let mut page = Page::new(limits, limit, 100);
        let mut next_after = None;
        let mut last = after;
        for (id, change) in inbox.participants.range(groupwire_client::ParticipantId::from(after)..)
        {
            if id.get() <= after {
                continue;
            }
            if !page.push(results::participant(change, inbox.me)) {
                next_after = Some(last);
                break;
            }
            last = id.get();
        }
        let count = inbox.large.map_or(inbox.participants.len(), |count| count as usize);
        Ok(json!({
            "participants": page.into_items(),
            "count": count,
            "next_after": next_after,
            "newest": inbox.newest,
        }))
    }

    pub(crate) fn change_presence(&self, SetPresence { room, presence }: SetPresence) -> Outcome {
        let session = self.session(&room)?;
        session.check_joined()?;
        let bytes = self.presence(presence);
        if bytes.len() > MAX_PRESENCE {
            let message = format!(
                "the presence has {} bytes of JSON; the limit is {MAX_PRESENCE}",
                bytes.len()
            );
            return Err(ToolError::new("too-large", message));
        }
        self.take_change()?;
        session.set_presence(&bytes)?;
        Ok(json!({ "set": true }))
    }

    pub(crate) async fn send(&self, arguments: SendMessage) -> Outcome {
        let SendMessage { room, channel, text, json, key, to, kind } = arguments;
        let session = self.session(&room)?;
        let limits = &self.inner.config.limits;
        let text = match (text, json) {
            (Some(text), None) => text,
            (None, Some(json)) => json.to_string(),
            _ => return Err(ToolError::argument("give either text or json")),
        };
        if text.len() > limits.message_bytes {
            let message = format!(
                "the message has {} bytes; the limit is {}",
                text.len(),
                limits.message_bytes
            );
            return Err(ToolError::new("too-large", message));
        }
        if key.as_ref().is_some_and(|key| key.len() > MAX_KEY) {
            return Err(ToolError::argument(format!("a key has at most {MAX_KEY} bytes")));
        }
        session.check_joined()?;
        self.take_change()?;
        let channel = self.open(&session, &channel, kind).await?;
        let outgoing = Outgoing {
            payload: Payload::Text(&text),
            key: key.as_ref().map(String::as_bytes),
            to: to.map(Into::into),
        };
        let confirmed = session.send(&channel, outgoing, limits.answer).await?;
        Ok(json!({ "sent": true, "confirmed": confirmed, "newest": session.inbox().newest }))
    }

    pub(crate) async fn read(&self, arguments: ReadMessages) -> Outcome {
        let ReadMessages { room, channel: name, after, limit, kind } = arguments;
        let session = self.session(&room)?;
        let limits = &self.inner.config.limits;
        // Messages that have arrived can be read during a break, too.
        if session.inbox().channel(&name).is_none_or(|(_, channel)| channel.qos.is_none()) {
            session.check_joined()?;
        }
        let channel = self.open(&session, &name, kind).await?;
        let complete = session.synced(&channel, limits.answer).await;
        let inbox = session.inbox();
        let Some((_, channel)) = inbox.channel(&name) else { return Err(not_joined(&room)) };
        let mut page = Page::new(limits, limit, 50);
        let (mut last, mut more) = (after, false);
        for stored in channel.messages.after(after) {
            if !page.push(results::message(stored, limits.result_bytes)) {
                more = true;
                break;
            }
            last = stored.number;
        }
        Ok(json!({
            "messages": page.into_items(),
            "next_after": last,
            "more": more,
            "older_dropped": channel.messages.has_dropped(after),
            "complete": complete,
        }))
    }

    pub(crate) async fn wait(&self, arguments: WaitForChanges) -> Outcome {
        let WaitForChanges { room, after, timeout_seconds } = arguments;
        let session = self.session(&room)?;
        let limits = &self.inner.config.limits;
        let Ok(_permit) = self.inner.waits.try_acquire() else {
            let message = format!("{} calls of wait_for_changes wait already", limits.waits);
            return Err(ToolError::new("too-many-waits", message));
        };
        let wait = Duration::from_secs(timeout_seconds.unwrap_or(30).into()).min(limits.wait);
        let after = after.unwrap_or_else(|| session.inbox().newest);
        let changed = |inbox: &Inbox| (inbox.newest > after).then_some(());
        let has_changed = timeout(wait, session.until(changed)).await.is_ok();
        let inbox = session.inbox();
        let channels = inbox.channels.values().filter_map(|channel| {
            let new = channel.messages.after(after).count();
            (new > 0 || channel.messages.has_dropped(after))
                .then(|| json!({ "channel": channel.name, "new_messages": new }))
        });
        let channels: Vec<Value> = channels.collect();
        let documents = inbox.documents_changed.iter().filter(|(_, number)| **number > after);
        let documents: Vec<&str> = documents.map(|(name, _)| name.as_str()).collect();
        let mut result = json!({
            "changed": has_changed,
            "newest": inbox.newest,
            "channels": channels,
            "participants_changed": inbox.participants_changed > after,
            "shared_data_changed": inbox.data_changed > after,
            "documents_changed": documents,
            "connection": inbox.connection.name(),
        });
        if inbox.lost > after {
            let note = "the room or a part of its history was lost: read again what matters to you";
            result["lost"] = note.into();
        }
        if let Some(error) = inbox.connection.error() {
            result["error"] = json!(error);
        }
        Ok(result)
    }

    pub(crate) fn config(&self) -> &Config {
        &self.inner.config
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.inner.config.limits
    }

    /// Takes one change from the agent's rate.
    pub(crate) fn take_change(&self) -> Result<(), ToolError> {
        let Inner { bucket, config, started, .. } = &*self.inner;
        let mut bucket = bucket.lock().unwrap_or_else(PoisonError::into_inner);
        bucket.take(&config.limits, started.elapsed()).map_err(|wait| {
            let message = format!(
                "this agent may change things {} times per second: wait {} ms, then try again",
                config.limits.changes_per_second,
                wait.as_millis()
            );
            ToolError::new("rate-limited", message)
        })
    }

    /// The session in a room that the agent has joined.
    pub(crate) fn session(&self, room: &str) -> Result<Arc<Session>, ToolError> {
        self.sessions().get(room).cloned().ok_or_else(|| not_joined(room))
    }

    /// The session in a room. It is started if there is none, or if it has ended.
    async fn session_or_start(&self, room: &str) -> Result<Arc<Session>, ToolError> {
        let usable =
            |session: &Arc<Session>| !matches!(session.inbox().connection, Connection::Closed(_));
        if let Some(session) = self.sessions().get(room).filter(|session| usable(session)) {
            return Ok(Arc::clone(session));
        }
        let config = &self.inner.config;
        let token = config.token.read().await.map_err(|why| {
            ToolError::new("no-token", format!("{why}: tell the operator of this agent"))
        })?;
        let mut sessions = self.sessions();
        // A concurrent call may have started the session meanwhile.
        if let Some(session) = sessions.get(room).filter(|session| usable(session)) {
            return Ok(Arc::clone(session));
        }
        sessions.remove(room);
        let limit = config.limits.rooms;
        if sessions.len() >= limit {
            let message = format!("an agent is in at most {limit} rooms: call leave_room first");
            return Err(ToolError::new("too-many-rooms", message));
        }
        let session = Session::start(config, room, token, self.presence(Map::new()))?;
        let session = Arc::new(session);
        sessions.insert(room.to_owned(), Arc::clone(&session));
        Ok(session)
    }

    /// Forgets a session that could not join.
    fn forget(&self, room: &str, session: &Arc<Session>) {
        let mut sessions = self.sessions();
        if sessions.get(room).is_some_and(|known| Arc::ptr_eq(known, session)) {
            sessions.remove(room);
        }
    }

    async fn open(
        &self,
        session: &Session,
        name: &str,
        kind: crate::arguments::ChannelKind,
    ) -> Result<Channel, ToolError> {
        check_channel_name(name)?;
        let Config { limits, shared, .. } = &self.inner.config;
        let is_shared = |shared: &String| name == shared || *name == format!("{shared}/preview");
        if shared.as_ref().is_some_and(is_shared) {
            let message = format!(
                "{name:?} is the channel of shared data: use read_shared and change_shared"
            );
            return Err(ToolError::argument(message));
        }
        if is_document_channel(name) || session.has_document(name) {
            let message =
                format!("{name:?} belongs to a Yjs document: use read_text and edit_text");
            return Err(ToolError::argument(message));
        }
        session.channel(name, kind.qos(), limits.answer, limits.channels).await
    }

    /// The agent's presence. A model cannot pose as a person, or under another name.
    fn presence(&self, mut fields: Map<String, Value>) -> Vec<u8> {
        fields.insert("name".to_owned(), self.inner.config.name.as_str().into());
        fields.insert("agent".to_owned(), true.into());
        Value::Object(fields).to_string().into_bytes()
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Session>>> {
        self.inner.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn state(room: &str, inbox: &Inbox) -> Value {
    let mut state = json!({
        "room": room,
        "state": inbox.connection.name(),
        "participants": inbox.large.map_or(inbox.participants.len(), |count| count as usize),
        "newest": inbox.newest,
    });
    if let Some(me) = inbox.me {
        state["me"] = me.get().into();
    }
    if let Some(error) = inbox.connection.error() {
        state["error"] = json!(error);
    }
    state
}

fn not_joined(room: &str) -> ToolError {
    ToolError::new("not-joined", format!("the agent is not in the room {room:?}: call join_room"))
}

fn check_channel_name(name: &str) -> Result<(), ToolError> {
    if (1..=MAX_CHANNEL_NAME).contains(&name.len()) {
        return Ok(());
    }
    Err(ToolError::argument(format!("the name of a channel has 1 to {MAX_CHANNEL_NAME} bytes")))
}

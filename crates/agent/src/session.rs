//! One room that the agent is in: a task reads its events into the inbox, and tools wait for what
//! they need there.

mod documents;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use groupwire_client::data::{Definitions, SharedData, SharedOptions, Update};
use groupwire_client::{
    Channel, ChannelId, Event, Events, Options, ParticipantId, Payload, Qos, Recipient, Room,
    SendOptions, Sent,
};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};

use crate::config::Config;
use crate::documents::Document;
use crate::error::ToolError;
use crate::inbox::{ChannelState, Connection, Inbox};
use crate::token::TokenSource;

/// How long to wait before reading the token once more, after the server wanted another one and
/// there was none.
const TOKEN_RETRY: Duration = Duration::from_secs(2);

/// A room that the agent is in, or is joining. Dropping it leaves the room.
pub(crate) struct Session {
    room: Room,
    data: Option<(SharedData, ChannelId)>,
    documents: Arc<Mutex<Documents>>,
    inbox: Arc<Mutex<Inbox>>,
    /// Counts events, to wake tools that wait.
    changes: watch::Sender<u64>,
    task: JoinHandle<()>,
}

/// The Yjs documents that tools have opened, by name.
type Documents = BTreeMap<String, Arc<Document>>;

/// A message that the agent sends.
pub(crate) struct Outgoing<'a> {
    pub(crate) payload: Payload<'a>,
    pub(crate) key: Option<&'a [u8]>,
    pub(crate) to: Option<ParticipantId>,
}

impl Session {
    /// Begins to join a room. Has to be called within a tokio runtime.
    pub(crate) fn start(
        config: &Config,
        room: &str,
        token: Vec<u8>,
        presence: Vec<u8>,
    ) -> Result<Self, ToolError> {
        let mut options = Options::new(room);
        options.token.clone_from(&token);
        options.presence = presence;
        let (room, events) = Room::connect_trusting(&config.server, config.trust.clone(), options)?;
        let mut inbox = Inbox::new(config.limits.clone());
        let data = match &config.shared {
            None => None,
            Some(name) => {
                let options = SharedOptions {
                    name: name.clone(),
                    previews: None,
                    ..SharedOptions::default()
                };
                let data = room.shared(Definitions::new(), options)?;
                // The channel is open already, and keeps its QoS.
                let channel = room.channel(name, Qos::transaction().departures())?.id();
                inbox.channels.insert(channel, ChannelState::new(name, false));
                Some((data, channel))
            }
        };
        let inbox = Arc::new(Mutex::new(inbox));
        let documents = Arc::<Mutex<Documents>>::default();
        let changes = watch::Sender::new(0);
        let reader = Reader {
            room: room.clone(),
            data: data.as_ref().map(|(data, _)| data.clone()),
            documents: Arc::clone(&documents),
            inbox: Arc::clone(&inbox),
            changes: changes.clone(),
            source: config.token.clone(),
            token,
        };
        let task = tokio::spawn(reader.run(events));
        Ok(Session { room, data, documents, inbox, changes, task })
    }

    pub(crate) fn inbox(&self) -> MutexGuard<'_, Inbox> {
        lock(&self.inbox)
    }

    /// Waits until the agent is in the room.
    pub(crate) async fn joined(&self, patience: Duration) -> Result<ParticipantId, ToolError> {
        let in_room = |inbox: &Inbox| match &inbox.connection {
            Connection::Joined => inbox.me.map(Ok),
            Connection::Connecting => None,
            Connection::LacksToken(error) | Connection::Closed(error) => Some(Err(error.clone())),
        };
        let waiting = async {
            tokio::select! {
                outcome = self.until(in_room) => outcome,
                // An unreachable server is no event: the client keeps trying.
                error = async {
                    match self.room.joined().await {
                        Ok(_) => std::future::pending().await,
                        Err(error) => error,
                    }
                } => Err(self.inbox().connection.error().cloned().unwrap_or(error.into())),
            }
        };
        timeout(patience, waiting).await.unwrap_or_else(|_| {
            let obstacle = self.inbox().obstacle.clone();
            Err(obstacle.unwrap_or_else(|| no_answer("let the agent into the room")))
        })
    }

    /// Checks that the agent is in the room now.
    pub(crate) fn check_joined(&self) -> Result<(), ToolError> {
        let inbox = self.inbox();
        match &inbox.connection {
            Connection::Joined => Ok(()),
            Connection::Connecting => Err(ToolError::new(
                "reconnecting",
                "the connection broke and is being restored: try again in some seconds",
            )),
            Connection::LacksToken(error) | Connection::Closed(error) => Err(error.clone()),
        }
    }

    /// Opens a channel, if it is not open yet, and waits until the server has opened it.
    pub(crate) async fn channel(
        &self,
        name: &str,
        qos: Qos,
        patience: Duration,
        limit: usize,
    ) -> Result<Channel, ToolError> {
        let channel = {
            // The lock keeps the reader from taking events of the channel before it is known.
            let mut inbox = self.inbox();
            let opened = inbox.channels.values().filter(|channel| channel.keeps).count();
            if inbox.channel(name).is_none() && opened >= limit {
                let message = format!("an agent opens at most {limit} channels of a room");
                return Err(ToolError::new("too-many-channels", message));
            }
            let channel = self.room.channel(name, qos)?;
            let state = inbox.channels.entry(channel.id());
            state.or_insert_with(|| ChannelState::new(name, true));
            channel
        };
        self.opened(channel.id(), patience).await?;
        Ok(channel)
    }

    /// Waits until the server has opened a channel.
    async fn opened(&self, id: ChannelId, patience: Duration) -> Result<(), ToolError> {
        let is_open = |inbox: &Inbox| {
            let channel = inbox.channels.get(&id)?;
            match (&channel.qos, &channel.error, &inbox.connection) {
                (Some(_), ..) => Some(Ok(())),
                (None, Some((_, error)), _)
                | (None, None, Connection::LacksToken(error) | Connection::Closed(error)) => {
                    Some(Err(error.clone()))
                }
                (None, None, _) => None,
            }
        };
        let waiting = timeout(patience, self.until(is_open));
        waiting.await.unwrap_or_else(|_| Err(no_answer("opened the channel")))
    }

    /// Waits until the late-joiner state of a channel is complete. The messages that are there
    /// after `patience` are read without the rest.
    pub(crate) async fn synced(&self, channel: &Channel, patience: Duration) -> bool {
        let id = channel.id();
        let is_synced =
            |inbox: &Inbox| inbox.channels.get(&id).is_none_or(|c| c.synced).then_some(());
        timeout(patience, self.until(is_synced)).await.is_ok()
    }

    /// Sends a message, and waits until the server has confirmed it, if it is a transaction. False:
    /// no confirmation came in time; the client keeps trying.
    pub(crate) async fn send(
        &self,
        channel: &Channel,
        message: Outgoing<'_>,
        patience: Duration,
    ) -> Result<bool, ToolError> {
        let before = self.inbox().newest;
        let to = message.to.map(|participant| Recipient { participant, tag: 0 });
        let options = SendOptions { key: message.key, priority: None, to };
        if channel.send(message.payload, options)? == Sent::NotNow {
            let message = "too many messages wait to be sent: wait some seconds, then try again";
            return Err(ToolError::new("not-now", message));
        }
        self.confirmed(channel.id(), before, patience).await
    }

    /// Waits until the server has confirmed all transactions of this agent. `before` is the newest
    /// number before the transaction was sent. False: no confirmation came in time.
    async fn confirmed(
        &self,
        id: ChannelId,
        before: u64,
        patience: Duration,
    ) -> Result<bool, ToolError> {
        let outcome = |inbox: &Inbox| {
            let error = inbox.channels.get(&id).and_then(|channel| channel.error.clone());
            match (error, &inbox.connection) {
                (Some((number, error)), _) if number > before => Some(Err(error)),
                (_, Connection::LacksToken(error) | Connection::Closed(error)) => {
                    Some(Err(error.clone()))
                }
                _ => self.is_settled(inbox).then_some(Ok(())),
            }
        };
        match timeout(patience, self.until(outcome)).await {
            Ok(outcome) => outcome.map(|()| true),
            Err(_) => Ok(false),
        }
    }

    /// True if no transaction of this agent waits for its confirmation, and the last one is in the
    /// inbox, which the next tool may read: the client knows of a confirmation before that.
    fn is_settled(&self, inbox: &Inbox) -> bool {
        // The number of the last transaction becomes smaller when the client gives up one that it
        // has not sent, and numbers begin again after a loss.
        self.room.pending() == 0 && inbox.ordered >= self.room.submitted().get()
    }

    /// The shared data of the room, once its late-joiner state is complete.
    pub(crate) async fn data(&self, patience: Duration) -> Result<&SharedData, ToolError> {
        let Some((data, channel)) = &self.data else {
            let message = "the operator of this agent has switched shared data off";
            return Err(ToolError::new("no-shared-data", message));
        };
        self.ready(*channel, "sent the shared data", patience).await?;
        Ok(data)
    }

    /// Waits until the server has opened a channel and its late-joiner state is complete. `what`
    /// says in the error what has not come.
    async fn ready(&self, id: ChannelId, what: &str, patience: Duration) -> Result<(), ToolError> {
        let is_ready = |inbox: &Inbox| {
            let channel = inbox.channels.get(&id)?;
            match (channel.synced, &channel.error, &inbox.connection) {
                (_, _, Connection::LacksToken(error) | Connection::Closed(error)) => {
                    Some(Err(error.clone()))
                }
                (_, Some((_, error)), _) if channel.qos.is_none() => Some(Err(error.clone())),
                (synced, ..) => synced.then_some(Ok(())),
            }
        };
        let waiting = timeout(patience, self.until(is_ready));
        waiting.await.unwrap_or_else(|_| Err(no_answer(what)))
    }

    /// Changes the shared data, and waits until the server has confirmed it. False: no confirmation
    /// came in time; the client keeps trying.
    pub(crate) async fn change_data<T>(
        &self,
        patience: Duration,
        change: impl FnOnce(&SharedData) -> Result<T, ToolError>,
    ) -> Result<(T, bool), ToolError> {
        let data = self.data(patience).await?;
        self.check_joined()?;
        let before = self.inbox().newest;
        let result = change(data)?;
        let Some((_, channel)) = &self.data else { return Ok((result, true)) };
        let confirmed = self.confirmed(*channel, before, patience).await?;
        Ok((result, confirmed))
    }

    pub(crate) fn set_presence(&self, presence: &[u8]) -> Result<(), ToolError> {
        Ok(self.room.set_presence(presence)?)
    }

    pub(crate) fn want_page(&self, after: ParticipantId) {
        self.room.want_page(after);
    }

    /// Leaves the room, and waits until the server knows.
    pub(crate) async fn leave(&self, patience: Duration) {
        // A server that does not answer finds out by itself.
        let _ = timeout(patience, self.room.leave()).await;
    }

    /// Waits until `wanted` finds something in the inbox.
    pub(crate) async fn until<T>(&self, wanted: impl Fn(&Inbox) -> Option<T>) -> T {
        let mut changes = self.changes.subscribe();
        loop {
            changes.borrow_and_update();
            if let Some(found) = wanted(&self.inbox()) {
                return found;
            }
            // The sender lives as long as this session.
            let _ = changes.changed().await;
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // The task holds a handle of the room, which would keep the agent in it.
        self.task.abort();
    }
}

fn no_answer(what: &str) -> ToolError {
    let message = format!("the server has not {what} in time: try again in some seconds");
    ToolError::new("timeout", message)
}

fn lock<T>(state: &Mutex<T>) -> MutexGuard<'_, T> {
    // The state is consistent between its calls.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads the events of a room into its inbox, and gives the server new tokens.
struct Reader {
    room: Room,
    data: Option<SharedData>,
    documents: Arc<Mutex<Documents>>,
    inbox: Arc<Mutex<Inbox>>,
    changes: watch::Sender<u64>,
    source: TokenSource,
    token: Vec<u8>,
}

impl Reader {
    async fn run(mut self, mut events: Events) {
        // At most one task, which waits for a new token. It ends with this one.
        let mut renewal = JoinSet::new();
        loop {
            let next = async {
                match &self.data {
                    Some(data) => data.next(&mut events).await,
                    None => events.next().await.map(Update::Room),
                }
            };
            let update = tokio::select! {
                update = next => update,
                Some(Ok(token)) = renewal.join_next() => {
                    self.token = token;
                    continue;
                }
            };
            match update {
                None => return,
                Some(Update::Room(Event::TokenWanted)) if renewal.is_empty() => {
                    let (room, source) = (self.room.clone(), self.source.clone());
                    renewal.spawn(renew(room, source, self.token.clone()));
                }
                Some(Update::Room(event)) => self.take(event),
                Some(Update::Data(event)) => lock(&self.inbox).take_data(event),
            }
            self.changes.send_modify(|count| *count += 1);
        }
    }

    fn take(&self, event: Event) {
        let documents = lock(&self.documents);
        let changed: Vec<_> = documents.iter().filter(|(_, one)| one.take(&event)).collect();
        let mut inbox = lock(&self.inbox);
        changed.into_iter().for_each(|(name, _)| inbox.document_changed(name));
        inbox.take(event);
    }
}

/// Reads the token until there is another one than before, hands it to the server and returns it.
async fn renew(room: Room, source: TokenSource, old: Vec<u8>) -> Vec<u8> {
    loop {
        match source.read().await {
            Ok(token) if token != old => match room.set_token(&token) {
                Ok(()) => return token,
                Err(error) => tracing::warn!(%error, "the token was not taken"),
            },
            Ok(_) => tracing::debug!("the token source still gives the old token"),
            Err(why) => tracing::warn!(why, "no new token"),
        }
        sleep(TOKEN_RETRY).await;
    }
}

//! What the agent knows of a room: its state, its participants, and the newest messages of its
//! channels. Pure: a fold over the events of the native client.

use std::collections::{BTreeMap, BTreeSet};

use groupwire_client::data::{DataEvent, Kind};
use groupwire_client::{
    ChannelId, Event, GapReason, ParticipantChange, ParticipantId, PresenceState, Qos, Status,
};

use crate::buffer::Buffer;
use crate::error::ToolError;
use crate::limits::Limits;

/// Most names of shared data that are kept: others may make up any number.
const MAX_NAMES: usize = 200;

/// What the agent knows of a room.
#[derive(Debug)]
pub(crate) struct Inbox {
    limits: Limits,
    pub(crate) connection: Connection,
    /// Why the agent is not in the room yet, if the server has said so.
    pub(crate) obstacle: Option<ToolError>,
    /// The agent's own number, once it has joined.
    pub(crate) me: Option<ParticipantId>,
    pub(crate) participants: BTreeMap<ParticipantId, ParticipantChange>,
    /// The number of participants, in a large room of which not all are announced.
    pub(crate) large: Option<u32>,
    pub(crate) channels: BTreeMap<ChannelId, ChannelState>,
    /// The number of the newest message or change. Participants and the connection share it with
    /// messages, so that one number says what an agent has seen.
    pub(crate) newest: u64,
    /// The number of the newest change of participants.
    pub(crate) participants_changed: u64,
    /// The number of the newest change of shared data.
    pub(crate) data_changed: u64,
    /// For each Yjs document that has changed, the number of the newest change.
    pub(crate) documents_changed: BTreeMap<String, u64>,
    /// The names of shared data that have been seen.
    pub(crate) data_names: BTreeSet<(String, &'static str)>,
    /// The number of the newest loss of messages or of the room's state.
    pub(crate) lost: u64,
    /// The number, among own transactions, of the newest one that the room has ordered.
    pub(crate) ordered: u32,
}

/// The state of the connection with a room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Connection {
    /// For the first time, or again.
    Connecting,
    Joined,
    /// The server wants another token.
    LacksToken(ToolError),
    /// The session has ended for good.
    Closed(ToolError),
}

/// A channel that the agent has opened.
#[derive(Debug)]
pub(crate) struct ChannelState {
    pub(crate) name: String,
    /// The QoS in force, once the server has opened the channel.
    pub(crate) qos: Option<Qos>,
    /// True if the late-joiner state is complete.
    pub(crate) synced: bool,
    /// False for channels of shared data and of Yjs documents, whose changes are no messages for
    /// the agent.
    pub(crate) keeps: bool,
    pub(crate) messages: Buffer,
    /// The newest error of the channel, with its number.
    pub(crate) error: Option<(u64, ToolError)>,
}

impl ChannelState {
    pub(crate) fn new(name: &str, keeps: bool) -> Self {
        ChannelState {
            name: name.to_owned(),
            qos: None,
            synced: false,
            keeps,
            messages: Buffer::default(),
            error: None,
        }
    }
}

impl Connection {
    /// A word for the agent.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Connection::Connecting => "connecting",
            Connection::Joined => "joined",
            Connection::LacksToken(_) => "lacks-token",
            Connection::Closed(_) => "closed",
        }
    }

    pub(crate) fn error(&self) -> Option<&ToolError> {
        match self {
            Connection::LacksToken(error) | Connection::Closed(error) => Some(error),
            Connection::Connecting | Connection::Joined => None,
        }
    }
}

impl Inbox {
    pub(crate) fn new(limits: Limits) -> Self {
        Inbox {
            limits,
            connection: Connection::Connecting,
            obstacle: None,
            me: None,
            participants: BTreeMap::new(),
            large: None,
            channels: BTreeMap::new(),
            newest: 0,
            participants_changed: 0,
            data_changed: 0,
            documents_changed: BTreeMap::new(),
            data_names: BTreeSet::new(),
            lost: 0,
            ordered: 0,
        }
    }

    /// Takes an event of the room.
    pub(crate) fn take(&mut self, event: Event) {
        match event {
            // A session that lacks a token hangs up, which must not hide the reason.
            Event::Status(Status::Connecting | Status::Reconnecting)
                if self.connection == Connection::Joined =>
            {
                self.connect_state(Connection::Connecting);
            }
            Event::Status(Status::Closed) if !matches!(self.connection, Connection::Closed(_)) => {
                self.connect_state(Connection::Closed(groupwire_client::Error::Over.into()));
            }
            Event::Joined { participant, .. } => {
                self.me = Some(participant);
                self.obstacle = None;
                self.connect_state(Connection::Joined);
            }
            Event::Opened { channel, qos } | Event::Changed { channel, qos } => {
                if let Some(channel) = self.channels.get_mut(&channel) {
                    channel.qos = Some(qos);
                }
            }
            Event::Message(message) | Event::Direct(message) => {
                if message.own {
                    self.ordered = self.ordered.max(message.index.get());
                }
                let kept = self.channels.get(&message.channel).is_some_and(|channel| channel.keeps);
                if !kept {
                    return;
                }
                let number = self.next();
                if let Some(channel) = self.channels.get_mut(&message.channel) {
                    channel.messages.push(&self.limits, number, message);
                }
            }
            // The event of the whole room follows those of its channels, and does not concern a
            // channel that was opened after the join began.
            Event::Synced { channel: Some(channel) } => {
                if let Some(channel) = self.channels.get_mut(&channel) {
                    channel.synced = true;
                }
            }
            Event::Participants { complete, changes } => {
                if complete {
                    self.participants.clear();
                }
                self.participants_changed(changes);
            }
            Event::Page { participants, .. } => self.participants_changed(participants),
            Event::Count { count, everybody } => {
                self.large = (!everybody).then_some(count);
                self.participants_changed = self.next();
            }
            Event::Gap { reason, missing, .. } => {
                self.lost = self.next();
                if matches!(reason, GapReason::Incarnation | GapReason::Session) {
                    self.ordered = 0;
                }
                // The room's state comes anew.
                if reason == GapReason::Incarnation {
                    self.channels.values_mut().for_each(|channel| channel.synced = false);
                }
                if let (GapReason::Reset, Some((channel, _))) = (reason, missing)
                    && let Some(channel) = self.channels.get_mut(&channel)
                {
                    channel.messages.clear();
                }
            }
            Event::Error { error, channel: Some(channel), fatal: false } => {
                let number = self.next();
                if let Some(channel) = self.channels.get_mut(&channel) {
                    channel.error = Some((number, error.into()));
                }
            }
            Event::Error { error, fatal: true, .. } => {
                self.connect_state(Connection::Closed(error.into()));
            }
            Event::Error { error, .. } if matches!(error.name(), "expired" | "revoked") => {
                self.connect_state(Connection::LacksToken(error.into()));
            }
            Event::Error { error, .. } => self.obstacle = Some(error.into()),
            _ => {}
        }
    }

    /// Takes news of the shared data.
    pub(crate) fn take_data(&mut self, event: DataEvent) {
        match event {
            DataEvent::Changed(changes) => {
                for change in changes {
                    let kind = match change.kind {
                        Kind::Cells => "map or list",
                        Kind::Counter => "counter",
                        _ => continue,
                    };
                    if self.data_names.len() < MAX_NAMES {
                        self.data_names.insert((change.name.to_string_lossy().into_owned(), kind));
                    }
                }
                self.data_changed = self.next();
            }
            DataEvent::Lost(_) => self.lost = self.next(),
            _ => {}
        }
    }

    /// Notes that a Yjs document has changed.
    pub(crate) fn document_changed(&mut self, name: &str) {
        let number = self.next();
        self.documents_changed.insert(name.to_owned(), number);
    }

    /// The channel of this name, if the agent has opened it.
    pub(crate) fn channel(&self, name: &str) -> Option<(ChannelId, &ChannelState)> {
        let mut channels = self.channels.iter();
        let (id, channel) = channels.find(|(_, channel)| channel.name == name)?;
        Some((*id, channel))
    }

    fn connect_state(&mut self, connection: Connection) {
        if self.connection != connection {
            self.connection = connection;
            self.next();
        }
    }

    fn participants_changed(&mut self, changes: Vec<ParticipantChange>) {
        for change in changes {
            if change.state == PresenceState::Left {
                self.participants.remove(&change.id);
            } else if self.participants.len() < self.limits.participants
                || self.participants.contains_key(&change.id)
            {
                self.participants.insert(change.id, change);
            }
        }
        self.participants_changed = self.next();
    }

    fn next(&mut self) -> u64 {
        self.newest += 1;
        self.newest
    }
}

#[cfg(test)]
mod tests {
    use groupwire_client::{Incoming, Index, SessionError};

    use super::*;
    use crate::buffer::tests::message;

    fn inbox() -> Inbox {
        let limits = Limits { participants: 2, ..Limits::default() };
        let mut inbox = Inbox::new(limits);
        inbox.channels.insert(ChannelId(0), ChannelState::new("chat", true));
        inbox.take(Event::Joined { participant: 7.into(), resumed: false });
        inbox
    }

    #[test]
    fn a_reset_empties_the_channel_and_a_loss_shows() {
        let mut inbox = inbox();
        inbox.take(Event::Message(message(3)));
        let (id, channel) = inbox.channel("chat").unwrap();
        assert_eq!(channel.messages.after(0).count(), 1);
        let missing = Some((id, Default::default()));
        inbox.take(Event::Gap { reason: GapReason::Reset, uncertain: 0, missing });
        assert_eq!(inbox.channel("chat").unwrap().1.messages.after(0).count(), 0);
        assert_eq!(inbox.lost, inbox.newest);
        // A message of a channel that the agent has not opened is not kept.
        inbox.channels.clear();
        inbox.take(Event::Message(message(3)));
    }

    #[test]
    fn the_rooms_state_is_not_that_of_a_channel_opened_meanwhile() {
        let mut inbox = inbox();
        inbox.take(Event::Synced { channel: None });
        assert!(!inbox.channel("chat").unwrap().1.synced);
        inbox.take(Event::Synced { channel: Some(ChannelId(0)) });
        assert!(inbox.channel("chat").unwrap().1.synced);
    }

    #[test]
    fn after_the_server_has_lost_the_room_its_state_has_to_come_again() {
        let mut inbox = inbox();
        inbox.take(Event::Synced { channel: Some(ChannelId(0)) });
        inbox.take(Event::Message(Incoming { own: true, index: Index(4), ..message(3) }));
        assert_eq!(inbox.ordered, 4);
        let gap = |reason| Event::Gap { reason, uncertain: 0, missing: None };
        inbox.take(gap(GapReason::Session));
        assert_eq!((inbox.ordered, inbox.channel("chat").unwrap().1.synced), (0, true));
        inbox.take(gap(GapReason::Incarnation));
        assert!(!inbox.channel("chat").unwrap().1.synced);
    }

    #[test]
    fn an_expired_token_stays_the_reason_until_the_agent_is_in_the_room_again() {
        let mut inbox = inbox();
        let error = SessionError::Expired;
        inbox.take(Event::Error { error, channel: None, fatal: false });
        inbox.take(Event::Status(Status::Reconnecting));
        assert_eq!(inbox.connection.name(), "lacks-token");
        inbox.take(Event::Joined { participant: 7.into(), resumed: true });
        assert_eq!(inbox.connection.error(), None);
        inbox.take(Event::Error { error: SessionError::Replaced, channel: None, fatal: true });
        inbox.take(Event::Status(Status::Closed));
        assert_eq!(inbox.connection.error().unwrap().code, "replaced");
    }
}

//! Makes inputs of the shared data from the events of a room.

use groupwire_session::PresenceState;
use groupwire_session::client::{Event, GapReason, Incoming, ParticipantChange, Status};
use groupwire_shared::{Gap, Input};

use super::{Inner, State};

impl Inner {
    /// Passes an event of the room to the data.
    pub(super) fn take(&self, state: &mut State, event: &Event) {
        match event {
            Event::Message(message) if message.channel == self.operations => {
                let sender = u64::from(message.sender);
                state.data.handle_input(match message.departed {
                    Some(participant) => Input::Departed(participant.into()),
                    None => Input::Message { sender, text: text_of(message) },
                });
            }
            Event::Message(message) if Some(message.channel) == self.previews => {
                let Some(key) = &message.key else { return };
                state.data.handle_input(Input::Preview {
                    sender: message.sender.into(),
                    key: &String::from_utf8_lossy(key),
                    text: text_of(message),
                    is_stale: message.stale,
                });
            }
            Event::SnapshotWanted { part, as_of } if *part == self.name => {
                if let Some(snapshot) = state.data.snapshot() {
                    // If this participant may not upload snapshots, others upload them.
                    let _ = self.room.snapshot(part, *as_of, snapshot.as_bytes());
                }
            }
            Event::Snapshot { part, bytes, .. } if *part == self.name => {
                state.data.handle_input(Input::Snapshot(bytes));
            }
            Event::Gap { reason, missing, .. } => {
                let is_ours = missing.is_some_and(|(channel, _)| channel == self.operations);
                let gap = match reason {
                    GapReason::Incarnation => Gap::Incarnation,
                    GapReason::History if is_ours => Gap::History,
                    GapReason::Reset if is_ours => Gap::Reset,
                    _ => return,
                };
                state.data.handle_input(Input::Gap(gap));
            }
            Event::Synced { channel: None } => state.data.handle_input(Input::Synced),
            Event::Joined { participant, .. } => {
                state.me = Some(*participant);
                state.others.remove(&u64::from(*participant));
                state.participants();
            }
            Event::Participants { complete, changes } => {
                if *complete {
                    state.others.clear();
                }
                changes.iter().for_each(|change| state.change(change));
                state.participants();
            }
            Event::Status(status) => {
                state.is_connected = *status == Status::Connected;
                state.participants();
            }
            Event::Drain => state.data.handle_input(Input::Drain),
            Event::Pending { count: 0 } => state.is_confirmed = true,
            _ => {}
        }
    }

    /// True if an event concerns only this data.
    pub(super) fn owns(&self, event: &Event) -> bool {
        let is_ours = |channel| channel == self.operations || Some(channel) == self.previews;
        match event {
            Event::Message(message) | Event::Direct(message) => is_ours(message.channel),
            Event::Snapshot { part, .. } | Event::SnapshotWanted { part, .. } => *part == self.name,
            Event::Opened { channel, .. }
            | Event::Changed { channel, .. }
            | Event::Closed { channel }
            | Event::Synced { channel: Some(channel) } => is_ours(*channel),
            Event::Contract(news) => is_ours(news.channel),
            _ => false,
        }
    }
}

impl State {
    fn change(&mut self, change: &ParticipantChange) {
        let id = u64::from(change.id);
        if change.state == PresenceState::Left || Some(change.id) == self.me {
            self.others.remove(&id);
        } else {
            self.others.insert(id, change.state == PresenceState::Here);
        }
    }

    /// Tells the data which participants are here, and which are away.
    pub(super) fn participants(&mut self) {
        let (me, others) = (self.me.map(u64::from), &self.others);
        let is_connected = self.is_connected;
        self.data.handle_input(Input::Participants { me, others, is_connected });
    }
}

fn text_of(message: &Incoming) -> Option<&str> {
    if message.text { std::str::from_utf8(&message.bytes).ok() } else { None }
}

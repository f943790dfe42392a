//! The events of the client as the runner wants them.

use groupwire_client::{Event, GapReason, Incoming, PresenceState, Receipt, Status};
use serde_json::{Value, json};

use crate::driver::{Driver, Failure};

impl Driver {
    /// Notes an event.
    pub(crate) fn take(&mut self, event: Event) {
        match event {
            Event::Message(message) => self.note("message", &message),
            Event::Direct(message) => self.note("direct", &message),
            Event::Joined { .. } => self.joined = true,
            Event::Status(status) => {
                self.status = word_of(status);
                self.log.push(json!({ "event": "status", "status": self.status }));
            }
            Event::Participants { complete, changes } => {
                if complete {
                    self.people.clear();
                }
                for change in changes {
                    if change.state == PresenceState::Left {
                        self.people.remove(&change.id.0);
                    } else {
                        self.people.insert(change.id.0, change);
                    }
                }
            }
            Event::Receipt { to, receipt, .. } => {
                self.receipts.insert(to.tag, outcome_of(receipt));
            }
            Event::Gap { reason, .. } => {
                self.log.push(json!({ "event": "gap", "reason": reason_of(reason) }));
            }
            Event::TokenWanted => self.log.push(json!({ "event": "token" })),
            Event::Error { error, .. } => {
                self.log.push(json!({ "event": "error", "code": error.name() }));
                // A server that does not answer in time is tried again.
                if error.name() != "silent" {
                    self.failed.get_or_insert(Failure::new(error.name(), error));
                }
            }
            _ => {}
        }
    }

    /// The others, for the command `state`.
    pub(crate) fn others(&self) -> Vec<Value> {
        let own = self.room.as_ref().and_then(|room| room.participant());
        let others = self.people.values().filter(|one| Some(one.id) != own);
        others
            .map(|one| {
                let presence = String::from_utf8_lossy(&one.presence);
                let away = one.state == PresenceState::Away;
                json!({ "id": one.id.0, "away": away, "presence": presence })
            })
            .collect()
    }

    fn note(&mut self, event: &str, message: &Incoming) {
        let named = self.channels.iter().find(|(_, channel)| channel.id() == message.channel);
        // Shared data has channels of its own.
        let Some((channel, _)) = named else { return };
        let mut noted = json!({
            "event": event,
            "channel": channel,
            "text": String::from_utf8_lossy(&message.bytes),
            "sender": message.sender.0,
            "own": message.own,
            "state": message.state,
        });
        if let Some(key) = &message.key {
            noted["key"] = String::from_utf8_lossy(key).into();
        }
        self.log.push(noted);
    }
}

fn word_of(status: Status) -> &'static str {
    match status {
        Status::Connecting => "connecting",
        Status::Connected => "connected",
        Status::Reconnecting => "reconnecting",
        Status::Closed => "closed",
    }
}

fn outcome_of(receipt: Receipt) -> &'static str {
    match receipt {
        Receipt::Delivered => "delivered",
        Receipt::Gone => "gone",
        Receipt::NotOpen => "not-open",
        Receipt::Full => "full",
        _ => "unknown",
    }
}

fn reason_of(reason: GapReason) -> &'static str {
    match reason {
        GapReason::Incarnation => "incarnation",
        GapReason::Session => "session",
        GapReason::History => "history",
        GapReason::Reset => "reset",
    }
}

//! The commands of the runner.

use groupwire_client::{Channel, Options, ParticipantId, Qos, Recipient, Room, SendOptions, Sent};
use serde_json::{Value, json};

use crate::driver::{Driver, Failure};

impl Driver {
    /// Runs one command; an error is an answer, too.
    pub(crate) async fn run(&mut self, command: &Value) -> Value {
        match self.try_run(command).await {
            Ok(answer) => answer,
            Err(Failure { code, text }) => json!({ "error": code, "text": text }),
        }
    }

    async fn try_run(&mut self, command: &Value) -> Result<Value, Failure> {
        let text = |name| text_of(command, name);
        match text("do") {
            "hello" => return Ok(json!({ "language": "Rust", "can": ["shared"] })),
            "join" => return self.join(command).await,
            "open" => {
                let is_awareness = text("kind") == "awareness";
                let qos = if is_awareness { Qos::awareness() } else { Qos::transaction() };
                let channel = self.room()?.channel(text("channel"), qos)?;
                self.channels.insert(text("channel").to_owned(), channel);
            }
            "send" => {
                let key = command["key"].as_str().map(str::as_bytes);
                let options = SendOptions { key, ..SendOptions::default() };
                let sent = match self.channel(command)?.send(text("text"), options)? {
                    Sent::NotNow => "not-now",
                    Sent::Conflated => "conflated",
                    Sent::Accepted => "accepted",
                };
                return Ok(json!({ "sent": sent }));
            }
            "sendTo" => return self.send_to(command).await,
            "confirm" => {
                while self.room()?.pending() > 0 {
                    self.pump().await;
                }
            }
            "presence" => self.room()?.set_presence(text("presence").as_bytes())?,
            "token" => self.room()?.set_token(text("token").as_bytes())?,
            "state" => return self.state(),
            "events" => return Ok(json!({ "events": std::mem::take(&mut self.log) })),
            "data" => return self.shown(),
            "leave" => self.room()?.leave().await,
            _ => self.change_data(command)?,
        }
        Ok(json!({}))
    }

    /// Joins, and answers with the id, or with the first error of the room.
    async fn join(&mut self, command: &Value) -> Result<Value, Failure> {
        let mut options = Options::new(text_of(command, "room"));
        options.token = text_of(command, "token").into();
        options.presence = text_of(command, "presence").into();
        let (room, events) = Room::connect(text_of(command, "url"), options)?;
        (self.room, self.events) = (Some(room), Some(events));
        while !self.joined && self.failed.is_none() && self.events.is_some() {
            self.pump().await;
        }
        match (self.room()?.participant(), &self.failed) {
            (Some(id), _) if self.joined => Ok(json!({ "id": id.0 })),
            (_, Some(failed)) => Err(failed.clone()),
            _ => Err(Failure::new("closed", "the room is closed")),
        }
    }

    async fn send_to(&mut self, command: &Value) -> Result<Value, Failure> {
        self.last_tag += 1;
        let tag = self.last_tag;
        let participant = ParticipantId(number_of(command, "to"));
        let to = Some(Recipient { participant, tag });
        let options = SendOptions { to, ..SendOptions::default() };
        self.channel(command)?.send(text_of(command, "text"), options)?;
        loop {
            if let Some(outcome) = self.receipts.remove(&tag) {
                return Ok(json!({ "outcome": outcome }));
            }
            self.pump().await;
        }
    }

    fn state(&self) -> Result<Value, Failure> {
        let room = self.room()?;
        let id = room.participant().map_or(0, |id| id.0);
        let (status, pending) = (self.status, room.pending());
        Ok(json!({ "id": id, "status": status, "pending": pending, "people": self.others() }))
    }

    pub(crate) fn room(&self) -> Result<&Room, Failure> {
        self.room.as_ref().ok_or_else(|| Failure::new("closed", "join first"))
    }

    fn channel(&self, command: &Value) -> Result<&Channel, Failure> {
        let channel = self.channels.get(text_of(command, "channel"));
        channel.ok_or_else(|| Failure::new("unknown-channel", "open the channel first"))
    }
}

pub(crate) fn text_of<'a>(command: &'a Value, name: &str) -> &'a str {
    command[name].as_str().unwrap_or_default()
}

fn number_of(command: &Value, name: &str) -> u32 {
    command[name].as_u64().and_then(|number| u32::try_from(number).ok()).unwrap_or(0)
}

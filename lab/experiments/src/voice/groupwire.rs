//! People who talk over a room of Groupwire.

use std::sync::Arc;
use std::time::Duration;

use groupwire_session::Qos;
use groupwire_session::client::{ChannelId, Client, Config, Event, Outgoing, Sent};

use super::talk::{HEADER, Talk, header};
use crate::drawing::random::Random;
use crate::sim::random::derive;
use crate::sim::{App, ClientNode, Lane};

/// A person who talks and listens, or one who only listens.
pub(super) struct Person {
    talk: Arc<Talk>,
    who: usize,
    next: usize,
    channel: ChannelId,
    /// Opus frames look random.
    random: Random,
    buffer: Vec<u8>,
    /// When each frame of the other person came, in a call of two.
    pub(super) came: Vec<Option<Duration>>,
    /// The frames that came, of all people.
    pub(super) frames: u64,
    pub(super) failure: Option<String>,
}

/// The node of a person, who is in the room whose node is 0.
pub(super) fn person(
    talk: &Arc<Talk>,
    who: usize,
    qos: Qos,
    lane: Lane,
    seed: u64,
) -> ClientNode<Person> {
    let config = Config { seed: derive(seed, who as u64), ..Config::new("voice") };
    let mut client = Client::new(Duration::ZERO, config).expect("the name is short");
    let channel = client.channel("voice", qos).expect("the QoS is sound");
    let others = talk.frames.get(1 - who.min(1)).map_or(0, Vec::len);
    let person = Person {
        talk: Arc::clone(talk),
        who,
        next: 0,
        channel,
        random: Random::new(derive(seed, 1000 + who as u64)),
        buffer: Vec::new(),
        came: vec![None; others],
        frames: 0,
        failure: None,
    };
    ClientNode::new(0, lane, client, person)
}

impl App for Person {
    fn event(&mut self, now: Duration, _: &mut Client, event: Event) {
        match event {
            Event::Message(message) => {
                self.frames += 1;
                if self.talk.frames.len() > 2 {
                    return;
                }
                match self.talk.find(1 - self.who, &message.bytes) {
                    Some(number) if self.came[number].is_none() => self.came[number] = Some(now),
                    Some(_) => _ = self.failure.get_or_insert("a frame came twice".into()),
                    None => _ = self.failure.get_or_insert("what came was never sent".into()),
                }
            }
            Event::Error { error, .. } => _ = self.failure.get_or_insert(error.to_string()),
            _ => {}
        }
    }

    fn act(&mut self, now: Duration, client: &mut Client) -> Option<Duration> {
        let talk = Arc::clone(&self.talk);
        let frames = talk.frames.get(self.who)?;
        while let Some(frame) = frames.get(self.next).filter(|frame| frame.at() <= now) {
            self.next += 1;
            self.buffer.clear();
            self.buffer.extend_from_slice(&header(frame, 0));
            for _ in HEADER..HEADER + frame.size {
                self.buffer.push(self.random.below(256) as u8);
            }
            let message = Outgoing { bytes: &self.buffer, ..Outgoing::default() };
            match client.send(now, self.channel, message) {
                Ok(Sent::NotNow) => _ = self.failure.get_or_insert("a frame was not taken".into()),
                Ok(_) => {}
                Err(error) => _ = self.failure.get_or_insert(error.to_string()),
            }
        }
        frames.get(self.next).map(|frame| frame.at())
    }
}

//! The participants of a replay, and how they join the room.

use std::collections::{HashMap, HashSet, VecDeque};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use groupwire_client::{Channel, ChannelId, Event, Events, Options, ParticipantId, Qos, Room};
use tokio::time::timeout;

use super::channels::Open;
use super::options::Args;

/// The most time for a participant to join after the one before it has joined. A loaded server
/// takes seconds.
const JOIN_PATIENCE: Duration = Duration::from_secs(30);

/// Participants that have joined, opened all channels and received the earlier content of the room.
pub(super) struct Clients {
    pub(super) all: Vec<Client>,
    /// The index of each participant in `all`, by its number in the room.
    pub(super) numbers: Arc<HashMap<ParticipantId, usize>>,
}

pub(super) struct Client {
    pub(super) room: Room,
    /// One channel for each kind of message in the trace, in the order of the kinds.
    pub(super) channels: Vec<Channel>,
    pub(super) events: Events,
}

impl Clients {
    pub(super) async fn join(
        args: &Args,
        channels: &[Open],
        count: usize,
    ) -> Result<Self, Box<dyn Error>> {
        let mut all = Vec::with_capacity(count);
        for number in 0..count {
            let mut options = Options::new(&args.room);
            options.presence = format!(r#"{{"name":"Replay {}"}}"#, number + 1).into_bytes();
            options.token = args.token.clone().unwrap_or_default().into_bytes();
            let trust = args.trust.clone().unwrap_or_default();
            let (room, events) = Room::connect_trusting(&args.url, trust, options)?;
            let open = |open: &Open| room.channel(&open.name, open.qos);
            let channels = channels.iter().map(open).collect::<Result<_, _>>()?;
            all.push(Client { room, channels, events });
        }
        let mut numbers = HashMap::new();
        for (at, client) in all.iter_mut().enumerate() {
            let number = timeout(JOIN_PATIENCE, client.ready())
                .await
                .map_err(|_| format!("participant {} of {count} could not join", at + 1))??;
            numbers.insert(number, at);
        }
        Ok(Clients { all, numbers: Arc::new(numbers) })
    }

    /// The QoS that the room gave each channel.
    pub(super) fn qos(&self) -> Vec<Qos> {
        let channels = self.all.first().map_or(&[][..], |client| &client.channels);
        channels.iter().filter_map(Channel::qos).collect()
    }
}

impl Client {
    /// Waits until this participant has joined and received the earlier content of all channels,
    /// which is ignored.
    async fn ready(&mut self) -> Result<ParticipantId, Box<dyn Error>> {
        let number = self.room.joined().await?;
        let mut waiting: HashSet<ChannelId> = self.channels.iter().map(Channel::id).collect();
        let mut batch = VecDeque::new();
        while !waiting.is_empty() {
            if !self.events.next_batch(&mut batch).await {
                return Err("the session ended while joining".into());
            }
            for event in batch.drain(..) {
                match event {
                    Event::Synced { channel: Some(channel) } => {
                        waiting.remove(&channel);
                    }
                    Event::Error { error, .. } => return Err(error.into()),
                    _ => {}
                }
            }
        }
        Ok(number)
    }
}

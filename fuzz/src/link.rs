//! An encoder, its decoders and what is between them. What comes undamaged is what was sent.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use groupwire_gmc::{AckError, Config, DecodeError, Delivery, EncodeError, Encoder};

use crate::watched::{check_memory, size};
use crate::{Input, Messages, Sent, Watched};

/// An encoder and its decoders: one, or two in a room.
pub struct Link {
    /// The configuration of both ends.
    pub config: Config,
    encoder: Encoder,
    ends: Vec<End>,
    messages: Messages,
    /// The number of the newest packet.
    newest: u32,
    sent: BTreeMap<u32, Vec<Sent>>,
    /// Bytes that the largest packet may take.
    largest: usize,
    /// Whether an end accepted a packet or an acknowledgement that the other end never sent. Later
    /// packets may then decode to anything.
    deceived: bool,
    /// Whether the encoder started anew. What was acknowledged before may then seem to be damaged.
    anew: bool,
    /// Whether so much was sent without an answer that the encoder may have started anew by itself.
    long: bool,
}

/// A decoder, and what is on its way to and from it.
struct End {
    decoder: Watched,
    packets: VecDeque<Packet>,
    lost: Vec<Packet>,
    acknowledgements: VecDeque<Vec<u8>>,
    /// The newest packet that it is known to have.
    top: u32,
}

type Packet = (u32, Rc<[u8]>);

/// A decoder does not tell packets that are older than this from those that came.
const SEEN: u32 = 128;
/// The number of packets without an acknowledgement after which an encoder starts anew.
const UNANSWERED_MAX: u32 = 1024;
/// The number of exchanges within which the ends settle. They settle after twice as many as there
/// were packets without an acknowledgement, too.
const SETTLED: u32 = 24;

impl Link {
    /// New ends.
    pub fn new(config: Config) -> Self {
        let decoders = if config.delivery == Delivery::Room { 2 } else { 1 };
        let end = |_| End {
            decoder: Watched::new(&config),
            packets: VecDeque::new(),
            lost: Vec::new(),
            acknowledgements: VecDeque::new(),
            top: 0,
        };
        Self {
            encoder: Encoder::new(config.clone()),
            ends: (0..decoders).map(end).collect(),
            messages: Messages::default(),
            newest: 0,
            sent: BTreeMap::new(),
            largest: 0,
            deceived: false,
            anew: false,
            long: false,
            config,
        }
    }

    /// Sends a packet.
    pub fn send(&mut self, input: &mut Input<'_>) {
        let messages = self.messages.packet(input, self.config.fields);
        self.send_messages(messages);
    }

    /// Sends many packets that resemble each other.
    pub fn send_many(&mut self, count: u32) {
        for _ in 0..count {
            let message = self.messages.pointer(self.config.fields);
            self.send_messages(vec![message]);
        }
    }

    fn send_messages(&mut self, messages: Vec<Sent>) {
        let mut packet = Vec::new();
        let result = self.encoder.encode_packet(messages.iter().map(Sent::message), &mut packet);
        if let Err(error) = result {
            let config = &self.config;
            let (count, bytes) =
                (messages.len(), messages.iter().map(|message| message.bytes.len()));
            assert!(match error {
                EncodeError::MessageTooLarge => bytes.max() > Some(config.max_message),
                EncodeError::TooManyMessages => count > config.max_messages_per_packet,
                EncodeError::PacketTooLarge => bytes.sum::<usize>() > config.max_packet,
                _ => false,
            });
            assert!(packet.is_empty(), "on an error nothing is appended");
            return;
        }
        self.newest += 1;
        if self.config.delivery != Delivery::Ordered {
            assert_eq!(self.encoder.newest(), self.newest);
        }
        self.largest = self.largest.max(size(&messages));
        self.long |= self.ends.iter().any(|end| self.newest - end.top >= UNANSWERED_MAX);
        self.sent.insert(self.newest, messages);
        let packet: Rc<[u8]> = packet.into();
        for end in &mut self.ends {
            end.packets.push_back((self.newest, Rc::clone(&packet)));
        }
        self.check_memory();
    }

    /// How many packets are on their way to the decoder at `end`.
    pub fn under_way(&self, end: usize) -> usize {
        self.ends[end % self.ends.len()].packets.len()
    }

    /// Brings the packet at this place of those on their way. It may come again.
    pub fn deliver(&mut self, end: usize, place: usize, again: bool) {
        let end = end % self.ends.len();
        let ordered = self.config.delivery == Delivery::Ordered;
        let packets = &mut self.ends[end].packets;
        let place = if ordered { 0 } else { place };
        let packet =
            if again && !ordered { packets.get(place).cloned() } else { packets.remove(place) };
        if let Some(packet) = packet {
            let _ = self.bring(end, packet);
        }
    }

    fn bring(&mut self, end: usize, (number, packet): Packet) -> Result<(), DecodeError> {
        let result = self.ends[end].decoder.decode(&packet);
        if self.deceived {
            return result.map(drop);
        }
        match result {
            Ok(messages) => {
                assert!(messages == self.sent[&number], "packet {number} is not what was sent");
                Ok(())
            }
            Err(error @ (DecodeError::UnknownEpoch | DecodeError::Duplicate))
                if self.config.delivery != Delivery::Ordered =>
            {
                Err(error)
            }
            Err(error) => panic!("packet {number}: {error}"),
        }
    }

    /// Loses the packet at this place of those on their way.
    pub fn lose(&mut self, end: usize, place: usize) {
        let end = end % self.ends.len();
        if self.config.delivery != Delivery::Ordered
            && let Some(packet) = self.ends[end].packets.remove(place)
        {
            self.ends[end].lost.push(packet);
        }
    }

    /// Brings what was lost after all.
    pub fn resend(&mut self, end: usize) {
        let end = end % self.ends.len();
        for packet in std::mem::take(&mut self.ends[end].lost) {
            let _ = self.bring(end, packet);
        }
    }

    /// Brings a packet that the encoder did not make.
    pub fn forge(&mut self, end: usize, packet: &[u8]) {
        let end = end % self.ends.len();
        self.deceived |= self.ends[end].decoder.decode(packet).is_ok();
        if self.config.delivery == Delivery::Ordered {
            self.start_over();
        }
    }

    /// Brings a packet of those on their way with another byte, shortened or with bytes behind it.
    pub fn damage(&mut self, end: usize, place: usize, input: &mut Input<'_>) {
        let end = end % self.ends.len();
        let Some((_, packet)) = self.ends[end].packets.get(place) else { return };
        let damaged = damaged(packet, input);
        if damaged[..] != packet[..] {
            self.forge(end, &damaged);
        }
    }

    /// A decoder acknowledges.
    pub fn acknowledge(&mut self, end: usize) {
        let end = end % self.ends.len();
        let end = &mut self.ends[end];
        let acknowledgement = end.decoder.acknowledge();
        end.acknowledgements.push_back(acknowledgement);
    }

    /// Brings the acknowledgement at this place of those on their way. It may come again.
    pub fn bring_acknowledgement(&mut self, end: usize, place: usize, again: bool) {
        let end = end % self.ends.len();
        let waiting = &mut self.ends[end].acknowledgements;
        let acknowledgement =
            if again { waiting.get(place).cloned() } else { waiting.remove(place) };
        let Some(acknowledgement) = acknowledgement else { return };
        match self.encoder.acknowledge(&acknowledgement) {
            Ok(top) => self.hear(end, top),
            Err(AckError::OrderedLink) if self.config.delivery == Delivery::Ordered => {}
            Err(AckError::NeverSent | AckError::Contradictory) => {}
            Err(AckError::Diverged) if self.deceived || self.anew || self.long => {
                self.started_anew()
            }
            Err(error) => panic!("{error}"),
        }
        self.check_memory();
    }

    /// Brings an acknowledgement that no decoder made.
    pub fn forge_acknowledgement(&mut self, end: usize, acknowledgement: &[u8]) {
        let end = end % self.ends.len();
        match self.encoder.acknowledge(acknowledgement) {
            Ok(top) => {
                self.deceived |= top.is_some_and(|top| top > self.ends[end].top);
                self.hear(end, top);
            }
            Err(AckError::Diverged) if self.config.delivery == Delivery::Datagrams => {
                self.started_anew();
            }
            Err(_) => {}
        }
        self.check_memory();
    }

    /// Brings an acknowledgement of those on their way with another byte, shortened or with bytes
    /// behind it.
    pub fn damage_acknowledgement(&mut self, end: usize, place: usize, input: &mut Input<'_>) {
        let end = end % self.ends.len();
        if let Some(acknowledgement) = self.ends[end].acknowledgements.get(place) {
            let damaged = damaged(acknowledgement, input);
            self.forge_acknowledgement(end, &damaged);
        }
    }

    /// What an acknowledgement said: what the decoder has, or that it has nothing.
    fn hear(&mut self, end: usize, top: Option<u32>) {
        let is_room = self.config.delivery == Delivery::Room;
        let Some(top) = top else {
            if is_room {
                self.encoder.restart();
            }
            return self.started_anew();
        };
        self.ends[end].top = self.ends[end].top.max(top);
        if is_room && let Some(all) = self.ends.iter().map(|end| end.top).min() {
            self.encoder.advance(all);
        }
    }

    /// The encoder starts anew. On an ordered link so does the decoder.
    pub fn restart(&mut self) {
        if self.config.delivery == Delivery::Ordered {
            return self.start_over();
        }
        self.encoder.restart();
        self.started_anew();
    }

    fn started_anew(&mut self) {
        self.anew = true;
        for end in &mut self.ends {
            end.top = self.newest;
        }
    }

    /// Resets both ends: the encoder restarts, and the decoders are new.
    fn start_over(&mut self) {
        self.encoder.restart();
        self.deceived = false;
        for end in &mut self.ends {
            end.decoder = Watched::new(&self.config);
            end.packets.clear();
        }
    }

    /// All that is under way comes, and one packet more; all is acknowledged.
    pub fn exchange(&mut self, input: &mut Input<'_>) {
        self.send(input);
        for end in 0..self.ends.len() {
            let _ = self.exchange_with(end);
        }
    }

    /// Delivers the pending packets. Returns whether the newest one was decoded.
    fn exchange_with(&mut self, end: usize) -> Result<(), DecodeError> {
        let mut result = Ok(());
        while let Some(packet) = self.ends[end].packets.pop_front() {
            result = self.bring(end, packet);
        }
        self.acknowledge(end);
        while !self.ends[end].acknowledgements.is_empty() {
            self.bring_acknowledgement(end, 0, false);
        }
        result
    }

    /// Ends all interference, and checks that within [`SETTLED`] exchanges packets are decoded and
    /// acknowledged again.
    pub fn settle(mut self) {
        let newest = self.newest;
        let missing = self.ends.iter().flat_map(|end| end.packets.iter().chain(&end.lost));
        let oldest = missing.map(|&(number, _)| newest - number).max();
        // In a room, decoding cannot go on without the packets that were lost.
        let is_room = self.config.delivery == Delivery::Room;
        if self.deceived || self.long || is_room && oldest >= Some(SEEN / 2) {
            return;
        }
        for end in 0..self.ends.len() {
            if is_room {
                self.resend(end);
            }
        }
        let unanswered = self.ends.iter().map(|end| newest - end.top).max().unwrap_or(0);
        let mut results = Vec::new();
        for _ in 0..SETTLED + 2 * unanswered {
            self.send_many(1);
            results = (0..self.ends.len()).map(|end| self.exchange_with(end)).collect();
            if self.is_settled() && results.iter().all(Result::is_ok) {
                return;
            }
        }
        let tops: Vec<u32> = self.ends.iter().map(|end| end.top).collect();
        panic!("{results:?}, acknowledged {tops:?} of {}", self.newest);
    }

    /// Whether everything is acknowledged.
    fn is_settled(&self) -> bool {
        // Little memory may be full of what was lost, until the encoder starts anew.
        let is_small = self.config.memory < 8 << 10;
        self.config.delivery == Delivery::Ordered
            || is_small
            || self.ends.iter().all(|end| end.top == self.newest)
    }

    fn check_memory(&self) {
        if !self.deceived {
            check_memory(&self.config, self.encoder.memory(), self.largest);
        }
    }
}

/// The bytes with another byte, shortened or with bytes behind them.
fn damaged(bytes: &[u8], input: &mut Input<'_>) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let at = input.place(bytes.len());
    match input.byte() {
        0..20 => bytes.truncate(at),
        20..40 => bytes.extend(input.piece()),
        bits => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= bits - 39;
            }
        }
    }
    bytes
}

//! Over a link that loses, repeats and reorders packets and acknowledgements, every message that
//! arrives is the one that was sent.

use std::collections::{BTreeMap, VecDeque};

use groupwire_gmc::{AckError, Config, DecodeError, Decoder, Delivery, Encoder, Message};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::common::message;

/// A step of a session.
#[derive(Debug, Clone)]
enum Step {
    /// Sends a packet of these messages.
    Send(Vec<Vec<u8>>),
    /// Delivers one of the packets in flight. The packet is removed from the link, or kept so that
    /// it arrives again.
    Deliver(usize, bool),
    Lose(usize),
    Acknowledge,
    /// Delivers one of the acknowledgements in flight. It is removed from the link, or kept so that
    /// it arrives again.
    BringAck(usize, bool),
    LoseAck(usize),
    /// Delivers a damaged packet or acknowledgement.
    Damage(usize, usize, u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let pointer = (0u8..4, 0i32..2000, 0i32..1000).prop_map(|(who, x, y)| {
        format!(r#"{{"who":"user-{who}","x":{x},"y":{y}.0}}"#).into_bytes()
    });
    let messages = prop_oneof![
        6 => pointer.prop_map(|message| vec![message]),
        1 => vec(message(), 0..4),
    ];
    let step = prop_oneof![
        20 => messages.prop_map(Step::Send),
        14 => (0usize..4, any::<bool>()).prop_map(|(at, keep)| Step::Deliver(at, keep && at == 0)),
        3 => (0usize..4).prop_map(Step::Lose),
        12 => Just(Step::Acknowledge),
        10 => (0usize..3, any::<bool>()).prop_map(|(at, keep)| Step::BringAck(at, keep)),
        2 => (0usize..3).prop_map(Step::LoseAck),
        1 => (0usize..4, any::<usize>(), 1u8..).prop_map(|(at, byte, bits)| Step::Damage(at, byte, bits)),
    ];
    vec(step, 1..400)
}

/// An encoder, a decoder, and the packets and acknowledgements between them.
struct Link {
    config: Config,
    encoder: Encoder,
    decoder: Decoder,
    sent: BTreeMap<u32, Vec<Vec<u8>>>,
    packets: VecDeque<(u32, Vec<u8>)>,
    acks: VecDeque<Vec<u8>>,
}

impl Link {
    fn new(config: Config) -> Self {
        Self {
            encoder: Encoder::new(config.clone()),
            decoder: Decoder::new(config.clone()),
            config,
            sent: BTreeMap::new(),
            packets: VecDeque::new(),
            acks: VecDeque::new(),
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Send(messages) => self.send(messages),
            Step::Deliver(at, keep) => {
                if let Some((number, packet)) = self.take(*at, *keep) {
                    self.deliver(number, &packet);
                }
            }
            Step::Lose(at) => drop(self.take(*at, false)),
            Step::Acknowledge => {
                let mut ack = Vec::new();
                self.decoder.acknowledge(&mut ack);
                assert!(ack.len() <= 140);
                self.acks.push_back(ack);
            }
            Step::BringAck(at, keep) => {
                if let Some(ack) = self.acks.get(*at).cloned() {
                    if !keep {
                        self.acks.remove(*at);
                    }
                    match self.encoder.acknowledge(&ack) {
                        Ok(_)
                        | Err(AckError::NeverSent | AckError::Contradictory | AckError::Diverged) =>
                            {}
                        Err(error) => panic!("{error}"),
                    }
                }
            }
            Step::LoseAck(at) => drop(self.acks.remove(*at)),
            Step::Damage(at, byte, bits) => self.damage(*at, *byte, *bits),
        }
        assert!(self.encoder.memory() <= self.config.memory, "{}", self.encoder.memory());
        assert!(self.decoder.memory() <= self.config.memory, "{}", self.decoder.memory());
    }

    fn send(&mut self, messages: &[Vec<u8>]) {
        let batch = messages.iter().map(|bytes| Message { fields: &[], bytes });
        let mut packet = Vec::new();
        self.encoder.encode_packet(batch, &mut packet).expect("within the limits");
        let number = self.encoder.newest();
        self.sent.insert(number, messages.to_vec());
        self.packets.push_back((number, packet));
    }

    fn take(&mut self, at: usize, keep: bool) -> Option<(u32, Vec<u8>)> {
        if keep { self.packets.get(at).cloned() } else { self.packets.remove(at) }
    }

    fn deliver(&mut self, number: u32, packet: &[u8]) {
        let mut decoded = Vec::new();
        match self.decoder.decode_packet(packet, |message| decoded.push(message.bytes.to_vec())) {
            Ok(()) => assert!(decoded == self.sent[&number], "packet {number}"),
            Err(DecodeError::UnknownEpoch | DecodeError::Duplicate) => {}
            Err(error) => panic!("packet {number}: {error}"),
        }
    }

    /// Damage must not make either end panic. An encoder that refused a damaged acknowledgement
    /// must still work. If one passes its check by chance, it may tell the encoder anything, so its
    /// effect is discarded.
    fn damage(&mut self, at: usize, byte: usize, bits: u8) {
        if let Some((_, packet)) = self.packets.get(at) {
            let mut packet = packet.clone();
            let byte = byte % packet.len();
            packet[byte] ^= bits;
            let mut decoder = Decoder::new(self.config.clone());
            let _ = decoder.decode_packet(&packet, |_| {});
        }
        if let Some(ack) = self.acks.get(at) {
            let mut ack = ack.clone();
            let byte = byte % ack.len();
            ack[byte] ^= bits;
            let mut encoder = self.encoder.clone();
            if encoder.acknowledge(&ack).is_err() {
                self.encoder = encoder;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn messages_arrive_unchanged(
        steps in steps(),
        memory in prop_oneof![Just(16usize << 10), Just(64 << 10)],
        check: bool,
    ) {
        let config = Config { delivery: Delivery::Datagrams, memory, check, ..Config::default() };
        let mut link = Link::new(config);
        for step in &steps {
            link.step(step);
        }
    }

    #[test]
    fn any_bytes_are_harmless(
        packets in vec(vec(any::<u8>(), 0..60), 1..40),
        acks in vec(vec(any::<u8>(), 0..20), 1..40),
        room: bool,
    ) {
        let delivery = if room { Delivery::Room } else { Delivery::Datagrams };
        let config = Config { delivery, ..Config::default() };
        let mut link = Link::new(config);
        for (packet, ack) in packets.iter().zip(&acks) {
            link.send(std::slice::from_ref(packet));
            let _ = link.encoder.acknowledge(ack);
            let _ = link.decoder.decode_packet(packet, |_| {});
            link.decoder.acknowledge(&mut Vec::new());
        }
    }
}

fn pointer(index: u32) -> Vec<u8> {
    format!(r#"{{"type":"pointer","who":"b81d6e04","t":{},"x":{}}}"#, index * 33, 700 - index % 500)
        .into_bytes()
}

/// Sends messages, each acknowledged `delay` messages later; every `lose`-th packet is lost.
/// Returns the bytes of the last hundred.
fn run(config: Config, delay: usize, lose: usize) -> usize {
    let mut link = Link::new(config);
    let mut late = VecDeque::new();
    let mut bytes = 0;
    for index in 0..400 {
        link.send(&[pointer(index)]);
        let (number, packet) = link.packets.pop_front().expect("a packet was sent");
        if index >= 300 {
            bytes += packet.len();
        }
        if index as usize % lose == lose - 1 {
            continue;
        }
        let mut decoded = Vec::new();
        link.decoder.decode(&packet, &mut decoded).expect("every packet can be decoded");
        assert_eq!(decoded, link.sent[&number][0]);
        let mut ack = Vec::new();
        link.decoder.acknowledge(&mut ack);
        late.push_back(ack);
        if late.len() > delay
            && let Some(ack) = late.pop_front()
        {
            link.encoder.acknowledge(&ack).expect("an honest acknowledgement");
        }
    }
    bytes
}

#[test]
fn packets_become_small() {
    let config = Config { delivery: Delivery::Datagrams, ..Config::default() };
    assert!(run(config.clone(), 10, usize::MAX) <= 300);
    assert!(run(config.clone(), 10, 5) <= 350);
    assert!(run(config, 40, usize::MAX) <= 400);
}

#[test]
fn a_new_decoder_makes_the_encoder_start_anew() {
    let config = Config { delivery: Delivery::Datagrams, ..Config::default() };
    let mut link = Link::new(config.clone());
    let exchange = |link: &mut Link, index| {
        link.send(&[pointer(index)]);
        let (_, packet) = link.packets.pop_front().unwrap();
        let result = link.decoder.decode_packet(&packet, |_| {});
        let mut ack = Vec::new();
        link.decoder.acknowledge(&mut ack);
        link.encoder.acknowledge(&ack).unwrap();
        result
    };
    for index in 0..20 {
        exchange(&mut link, index).unwrap();
    }
    link.decoder = Decoder::new(config);
    assert_eq!(exchange(&mut link, 20), Err(DecodeError::UnknownEpoch));
    for index in 21..40 {
        exchange(&mut link, index).unwrap();
    }
}

#[test]
fn a_room_advances_when_all_decoders_have_a_packet() {
    let config = Config { delivery: Delivery::Room, ..Config::default() };
    let mut encoder = Encoder::new(config.clone());
    let mut decoders = [Decoder::new(config.clone()), Decoder::new(config)];
    let mut missing = Vec::new();
    let mut last = 0;
    for index in 0..200 {
        let mut packet = Vec::new();
        encoder.encode(&pointer(index), &mut packet).unwrap();
        last = packet.len();
        for (number, decoder) in decoders.iter_mut().enumerate() {
            // Every seventh packet to one of the decoders is lost and sent again later.
            if number == 1 && index % 7 == 6 {
                missing.push((index, packet.clone()));
            } else {
                let mut decoded = Vec::new();
                decoder.decode(&packet, &mut decoded).unwrap();
                assert_eq!(decoded, pointer(index));
            }
        }
        if index % 7 == 2 {
            for (index, packet) in missing.drain(..) {
                let mut decoded = Vec::new();
                decoders[1].decode(&packet, &mut decoded).unwrap();
                assert_eq!(decoded, pointer(index));
            }
        }
        let mut tops = decoders.iter_mut().map(|decoder| {
            let mut ack = Vec::new();
            decoder.acknowledge(&mut ack);
            encoder.acknowledge(&ack).unwrap().unwrap()
        });
        let all = tops.next().unwrap().min(tops.next().unwrap());
        encoder.advance(all);
    }
    assert!(last <= 6, "{last}");
}

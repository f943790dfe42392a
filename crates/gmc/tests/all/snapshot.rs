//! A decoder from a snapshot goes on like one that had all packets.

use std::collections::VecDeque;

use groupwire_gmc::{Config, DecodeError, Decoder, Delivery, Encoder, Message, SnapshotError};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::common::message;

/// A word for a number: words of different numbers differ in their first letter or soon after.
fn word(number: u32) -> String {
    let letter =
        |shift: u32| char::from(b'a' + (number.wrapping_mul(0x9e37_79b1) >> shift & 15) as u8);
    [4, 9, 14, 19, 24, 28].map(letter).iter().collect()
}

/// A message of one of three people, of a type with this number. `who` is the key: it tells whose
/// `x` and `y` follow.
fn keyed(kind: u32, nth: u32) -> Vec<u8> {
    let who = [0, 2, 1, 2, 2, 1, 0, 2, 1][nth as usize % 9];
    let (x, y) = (20_000 * who + 3 * nth, 50_000 * who + 7 * nth + nth % 3);
    let (name, id) = (word(kind), ["ann", "bob", "carl"][who as usize]);
    match kind % 3 {
        0 => format!(r#"{{"{name}who":"{id}","{name}x":{x},"{name}y":{y}}}"#),
        1 => format!(r#"{{"x":{x},"{name}":"{id}","y":{y}}}"#),
        _ => format!(r#"{{"type":"{name}","who":{},"x":{x},"y":{y}}}"#, 7 * who + 3),
    }
    .into_bytes()
}

/// A message of many words, which make a template that saves much: templates that save less have to
/// go. Of the second and later messages of a type only the number at the end differs.
fn wordy(kind: u32, nth: u32) -> Vec<u8> {
    let words: String = (0..20 + kind % 30).map(|at| word(kind * 100 + at + 1000)).collect();
    format!("{words} = {nth}").into_bytes()
}

/// Keys go on when their templates are gone.
#[derive(Debug, Clone)]
struct Phase {
    kind: u32,
    /// How many messages of the kind there are, and then how many types of wordy ones, and messages
    /// of each.
    keyed: u32,
    wordy: u32,
    times: u32,
    then: Step,
}

fn phases() -> impl Strategy<Value = Vec<Phase>> {
    let then = prop_oneof![
        4 => Just(Step::Join),
        2 => (0u32..12).prop_map(Step::Advance),
        1 => Just(Step::Compact),
    ];
    let wordy = prop_oneof![(0u32..6, 1u32..4), (0u32..30, 1u32..30)];
    let phase = (0u32..12, 0u32..130, wordy, then);
    let phase = phase.prop_map(|(kind, keyed, (wordy, times), then)| Phase {
        kind,
        keyed,
        wordy,
        times,
        then,
    });
    vec(phase, 1..8)
}

/// A step of a session.
#[derive(Debug, Clone)]
enum Step {
    /// Sends a packet of these messages.
    Send(Vec<Vec<u8>>),
    /// In a room, all decoders acknowledge, and the encoder advances to this many packets before
    /// the newest.
    Advance(u32),
    Compact,
    /// A new decoder joins by snapshot.
    Join,
}

fn messages() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let pointer = (0u8..4, 0i32..2000, 0i32..1000).prop_map(|(who, x, y)| {
        format!(r#"{{"who":"user-{who}","x":{x},"y":{}.5}}"#, y / 3).into_bytes()
    });
    let scaled =
        (0i32..2000).prop_map(|x| format!("<x> {} </x>", f64::from(x) * 1.1375 + 3.2).into_bytes());
    prop_oneof![
        6 => pointer.prop_map(|message| vec![message]),
        2 => scaled.prop_map(|message| vec![message]),
        3 => vec(message(), 0..4),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        60 => messages().prop_map(Step::Send),
        20 => (0u32..12).prop_map(Step::Advance),
        2 => Just(Step::Compact),
        3 => Just(Step::Join),
    ];
    vec(step, 1..300)
}

fn config(delivery: Delivery, memory: usize, check: bool, fields: usize) -> Config {
    Config { delivery, memory, check, fields, ..Config::default() }
}

/// An encoder and all decoders of its packets.
struct Session {
    config: Config,
    encoder: Encoder,
    decoders: Vec<Decoder>,
    /// The number of senders that take turns, besides the different senders within one packet.
    senders: u32,
    packets: u32,
}

impl Session {
    fn new(config: Config) -> Self {
        Self {
            encoder: Encoder::new(config.clone()),
            decoders: vec![Decoder::new(config.clone())],
            config,
            senders: 1,
            packets: 0,
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Send(messages) => self.send(messages),
            Step::Advance(back) => self.advance(*back),
            Step::Compact => self.encoder.compact(),
            Step::Join => self.join(),
        }
    }

    fn send(&mut self, messages: &[Vec<u8>]) {
        let fields: Vec<u32> = (0..self.config.fields as u32).collect();
        let turn = self.packets % self.senders;
        self.packets += 1;
        let fields = |index: usize| {
            let mut fields = fields.clone();
            fields.iter_mut().for_each(|field| *field += index as u32 % 3);
            if let Some(sender) = fields.get_mut(1) {
                *sender += turn;
            }
            fields
        };
        let fields: Vec<_> = (0..messages.len()).map(fields).collect();
        let batch = messages.iter().zip(&fields).map(|(bytes, fields)| Message { fields, bytes });
        let mut packet = Vec::new();
        self.encoder.encode_packet(batch, &mut packet).expect("they are within the limits");
        for decoder in &mut self.decoders {
            let mut decoded = Vec::new();
            decoder
                .decode_packet(&packet, |message| decoded.push(message.bytes.to_vec()))
                .expect("it has all packets");
            assert!(decoded == messages);
        }
    }

    /// All decoders acknowledge the same packets, except that with little memory some may have
    /// dropped packets that others have. So the encoder advances to the least.
    fn advance(&mut self, back: u32) {
        if self.config.delivery != Delivery::Room {
            return;
        }
        let mut tops = Vec::new();
        for decoder in &mut self.decoders {
            let mut ack = Vec::new();
            decoder.acknowledge(&mut ack);
            match self.encoder.acknowledge(&ack) {
                Ok(top) => tops.push(top.expect("it knows something")),
                Err(error) => panic!("{error}"),
            }
        }
        let least = tops.iter().copied().min().unwrap_or(0);
        assert!(self.config.memory < 64 << 10 || tops[0] == least, "{tops:?}");
        self.encoder.advance(least.saturating_sub(back));
    }

    fn join(&mut self) {
        let snapshot = self.snapshot();
        let newcomer = Decoder::from_snapshot(self.config.clone(), &snapshot);
        self.decoders.push(newcomer.expect("the snapshot was just made"));
    }

    fn snapshot(&self) -> Vec<u8> {
        let mut snapshot = Vec::new();
        self.encoder.snapshot(&mut snapshot);
        snapshot
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_new_decoder_decodes_like_the_others(
        steps in steps(),
        room: bool,
        memory in prop_oneof![Just(16usize << 10), Just(64 << 10)],
        check: bool,
        fields in prop_oneof![Just(0usize), Just(3)],
    ) {
        let delivery = if room { Delivery::Room } else { Delivery::Ordered };
        let mut session = Session::new(config(delivery, memory, check, fields));
        for step in &steps {
            session.step(step);
        }
    }

    /// New decoders compact their models like all others. The model holds more than compaction
    /// keeps, so that all must forget the same, and few messages are sent between a snapshot and
    /// the next compaction, so that the content of the snapshot decides.
    #[test]
    fn new_decoders_forget_the_same_as_others(
        rounds in vec((vec(messages(), 0..80), vec(messages(), 0..6)), 1..5),
        room: bool,
        senders in 20u32..200,
    ) {
        let delivery = if room { Delivery::Room } else { Delivery::Ordered };
        let mut session = Session::new(config(delivery, 64 << 10, true, 3));
        session.senders = senders;
        for (before, between) in &rounds {
            before.iter().for_each(|messages| session.send(messages));
            session.advance(2);
            session.join();
            between.iter().for_each(|messages| session.send(messages));
            session.step(&Step::Compact);
            session.send(&[b"{}".to_vec()]);
            session.advance(0);
        }
    }

    #[test]
    fn a_snapshot_can_be_read_whatever_templates_are_gone(
        phases in phases(),
        room: bool,
        memory in prop_oneof![Just(16usize << 10), Just(32 << 10), Just(64 << 10)],
        fields in prop_oneof![Just(0usize), Just(2)],
    ) {
        let delivery = if room { Delivery::Room } else { Delivery::Ordered };
        let mut session = Session::new(config(delivery, memory, true, fields));
        for Phase { kind, keyed: count, wordy: types, times, then } in &phases {
            let before = session.packets;
            let messages = (0..*count).map(|nth| keyed(*kind, before + nth));
            let others = (0..times * types).map(|nth| wordy(before + nth / times, nth));
            for message in messages.chain(others) {
                session.send(&[message]);
                if session.packets.is_multiple_of(16) {
                    session.advance(session.packets % 5);
                }
            }
            session.step(then);
            // Two of the decoders that joined are enough.
            if session.decoders.len() > 3 {
                session.decoders.remove(1);
            }
        }
        session.join();
        session.send(&[keyed(phases[0].kind, 0)]);
    }

    #[test]
    fn the_content_of_a_snapshot_can_be_written_again(
        steps in steps(),
        memory in prop_oneof![Just(16usize << 10), Just(64 << 10)],
    ) {
        let mut session = Session::new(config(Delivery::Ordered, memory, false, 2));
        for step in &steps {
            session.step(step);
        }
        session.join();
        let before = session.snapshot();
        session.step(&Step::Compact);
        session.send(&[b"{}".to_vec()]);
        let after = session.snapshot();
        let newcomer = Decoder::from_snapshot(session.config.clone(), &before);
        prop_assert!(newcomer.is_ok());
        prop_assert!(after.len() <= 4096, "{}", after.len());
    }

    #[test]
    fn any_bytes_are_harmless(bytes in vec(any::<u8>(), 0..2000), room: bool) {
        let delivery = if room { Delivery::Room } else { Delivery::Ordered };
        let result = Decoder::from_snapshot(config(delivery, 16 << 10, false, 0), &bytes);
        prop_assert!(result.is_err());
    }

    #[test]
    fn damage_is_noticed(at: usize, bits in 1u8..) {
        let mut session = Session::new(config(Delivery::Room, 16 << 10, false, 0));
        for x in 0..20 {
            session.send(&[format!(r#"{{"x":{x}}}"#).into_bytes()]);
        }
        session.advance(3);
        let mut snapshot = session.snapshot();
        let at = at % snapshot.len();
        snapshot[at] ^= bits;
        let result = Decoder::from_snapshot(session.config.clone(), &snapshot);
        let expected = match at {
            0 => SnapshotError::OtherVersion,
            1..5 => SnapshotError::OtherConfig,
            _ => SnapshotError::Damaged,
        };
        prop_assert_eq!(result.err(), Some(expected));
    }
}

#[test]
fn a_new_decoder_acknowledges_like_the_others() {
    let mut session = Session::new(config(Delivery::Room, 64 << 10, false, 0));
    for x in 0..100 {
        session.send(&[format!(r#"{{"x":{x},"y":{}}}"#, x % 7).into_bytes()]);
        if x % 30 == 7 {
            session.join();
        }
        let mut tops = session.decoders.iter_mut().map(|decoder| {
            let mut ack = Vec::new();
            decoder.acknowledge(&mut ack);
            session.encoder.acknowledge(&ack).unwrap().unwrap()
        });
        assert!(tops.all(|top| top == x + 1));
        session.encoder.advance(session.encoder.newest().saturating_sub(5));
    }
}

/// A reader of a snapshot has the strings of a key only later if the key's template is gone.
#[test]
fn a_key_outlives_its_template() {
    for kind in [0, 4] {
        let mut session = Session::new(config(Delivery::Ordered, 16 << 10, true, 0));
        (0..20 * 11).for_each(|nth| session.send(&[wordy(nth / 11, nth)]));
        (220..289).for_each(|nth| session.send(&[keyed(kind, nth)]));
        session.send(&[wordy(289, 0)]);
        session.join();
        (0..20).for_each(|nth| session.send(&[keyed(kind, nth)]));
    }
}

#[test]
fn settings_must_agree() {
    let base = config(Delivery::Room, 16 << 10, false, 2);
    let mut snapshot = Vec::new();
    Encoder::new(base.clone()).snapshot(&mut snapshot);
    assert!(Decoder::from_snapshot(base.clone(), &snapshot).is_ok());
    for other in [
        Config { delivery: Delivery::Ordered, ..base.clone() },
        Config { memory: 17 << 10, ..base.clone() },
        Config { check: true, ..base.clone() },
        Config { fields: 1, ..base.clone() },
        Config { max_message: 7, ..base.clone() },
    ] {
        let result = Decoder::from_snapshot(other, &snapshot);
        assert_eq!(result.err(), Some(SnapshotError::OtherConfig));
    }
}

/// In a room with delays and losses, a decoder that cannot go on gets a snapshot.
#[test]
fn a_snapshot_helps_a_decoder_that_missed_a_packet() {
    let config = config(Delivery::Room, 64 << 10, true, 0);
    let mut encoder = Encoder::new(config.clone());
    let mut decoders = [Decoder::new(config.clone()), Decoder::new(config.clone())];
    let mut acked = [0; 2];
    let mut late: VecDeque<(u32, Vec<u8>)> = VecDeque::new();
    let mut snapshots = 0;
    for index in 0..2000u32 {
        if index % 500 == 400 {
            encoder.compact();
        }
        let message = format!(r#"{{"who":"{}","x":{}}}"#, index % 3, index * 7 % 1000);
        let mut packet = Vec::new();
        encoder.encode(message.as_bytes(), &mut packet).unwrap();
        decoders[0].decode(&packet, &mut Vec::new()).unwrap();
        // The second decoder gets packets eight packets later, and every fifth one ten packets
        // later still.
        let delay = if index % 5 == 2 { 18 } else { 8 };
        late.push_back((index + delay, packet));
        while let Some(at) = late.iter().position(|&(at, _)| at <= index) {
            let Some((_, packet)) = late.remove(at) else { break };
            match decoders[1].decode(&packet, &mut Vec::new()) {
                Ok(()) => {}
                Err(DecodeError::UnknownEpoch) => {
                    let mut snapshot = Vec::new();
                    encoder.snapshot(&mut snapshot);
                    decoders[1] = Decoder::from_snapshot(config.clone(), &snapshot).unwrap();
                    snapshots += 1;
                    // All earlier packets are in the snapshot.
                    late.clear();
                }
                Err(error) => panic!("{index}: {error}"),
            }
        }
        for (decoder, acked) in decoders.iter_mut().zip(&mut acked) {
            let mut ack = Vec::new();
            decoder.acknowledge(&mut ack);
            *acked = encoder.acknowledge(&ack).unwrap().unwrap();
        }
        encoder.advance(acked[0].min(acked[1]));
    }
    assert!(snapshots <= 40, "{snapshots}");
    assert!(encoder.newest() - acked[1] <= 40, "{acked:?}");
}

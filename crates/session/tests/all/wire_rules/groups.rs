//! Payloads that are coded, read by gmc with the settings that the documents state
//! (docs/wire/compression.md and groups.md).

use groupwire_gmc as gmc;
use groupwire_session::client::{Config as ClientConfig, Event};
use groupwire_session::{Compress, Qos, room};

use crate::conversation::{MS, Network, Talk, demo, stories};
use crate::grammar::{Fields, Frame, From, Meaning, Numbers, STREAM_RECORD, read_packet};

/// W27: the encoder of a direction of a transport, and of a group on the stream (W62).
fn settings() -> gmc::Config {
    gmc::Config {
        delivery: gmc::Delivery::Ordered,
        memory: 64 << 10,
        fields: 6,
        max_message: 65_536,
        check: false,
        ..gmc::Config::default()
    }
}

fn decode(decoder: &mut gmc::Decoder, coded: &[u8]) -> Vec<Fields> {
    let mut records = Vec::new();
    let each = |message: gmc::Message<'_>| {
        let numbers = STREAM_RECORD.into_iter().zip(message.fields);
        records.push(
            numbers.fold(Fields::default(), |to, (name, number)| to.num(name, (*number).into())),
        );
    };
    decoder.decode_packet(coded, each).expect("a packet of these settings");
    records
}

/// The frames of a transport towards the client, in order.
fn frames_to(talk: &Talk, link: u64) -> Vec<Frame> {
    let packets =
        talk.sent.iter().filter(|sent| sent.link == link && !sent.is_up && !sent.is_datagram);
    packets
        .flat_map(|sent| read_packet(From::Server, sent.is_first, &sent.bytes).unwrap())
        .collect()
}

/// The positions of all transactions that a client was told of.
fn positions(talk: &Talk, client: usize) -> Vec<u64> {
    let events = talk.events(client).iter();
    let positions = events.filter_map(|event| match event {
        Event::Message(message) if u64::from(message.position) > 0 => Some(message.position.into()),
        _ => None,
    });
    positions.collect()
}

/// W27: numbers count over all payloads of a transport, coded by these settings or plain.
#[test]
fn w27_coded_payloads_have_the_records_that_plain_ones_have() {
    let stories = stories::all();
    let (_, talk) = stories.iter().find(|(name, _)| *name == "coded").unwrap();
    let (mut numbers, mut decoder) = (Numbers::new(1, 0, 0), gmc::Decoder::new(settings()));
    let mut counted = Vec::new();
    for frame in frames_to(talk, 1) {
        numbers.pass(&frame);
        let records = match frame.name {
            "CODED" => decode(&mut decoder, frame.fields.bytes("rest")),
            "MESSAGES" => frame.list("records").to_vec(),
            _ => continue,
        };
        for record in records {
            // Channels 2 and 3 are of awareness.
            let is_awareness = [2, 3].contains(&record.number("channel"));
            if let Meaning::Transaction { position, .. } =
                numbers.read(&record, is_awareness, false)
            {
                counted.push(position);
            }
        }
    }
    assert_eq!(counted, positions(talk, 0));
    assert!(counted.len() > 5);
}

/// Seven people with a channel of transactions and one of awareness. The last one joins when the
/// others are in a group.
fn seven() -> Talk {
    let mut talk = Talk::new(room::Config { share_stream_above: 4, ..demo() });
    let join = |talk: &mut Talk, seed: u64| {
        let config = ClientConfig { seed, ..ClientConfig::new("demo") };
        let client = talk.client(config, Network { delay: MS * 5, ..Network::default() });
        talk.open(client, "draw", Qos::transaction(), Compress::Template);
        talk.open(client, "pointer", stories::POINTER, Compress::Template);
    };
    (0..6).for_each(|nth| join(&mut talk, nth));
    talk.run(MS * 1000);
    for step in 0..80 {
        if step == 40 {
            join(&mut talk, 6);
        }
        talk.send(step % 6, 0, &format!("line {step}"));
        talk.send(step % 6, 1, &format!("{{\"x\":{step}}}"));
        talk.run(MS * 60);
    }
    talk.run(MS * 500);
    talk
}

/// W61 to W63: a member reads its group's payloads from the model on, with numbers of the group's
/// own, which begin anew behind a payload without records.
#[test]
fn w63_numbers_of_a_group_begin_anew_behind_an_empty_payload() {
    let talk = seven();
    let mut renewed = 0;
    for link in 1..=7 {
        let (mut alone, mut group) = (Numbers::new(link, 0, 0), Numbers::default());
        let mut private = gmc::Decoder::new(settings());
        let (mut shared, mut model) = (None, Vec::new());
        let mut counted = Vec::new();
        for frame in frames_to(&talk, link) {
            alone.pass(&frame);
            let (numbers, records) = match frame.name {
                "MODEL" => {
                    model.extend(frame.fields.bytes("rest"));
                    if model.len() as u64 == frame.number("total") {
                        shared = Some(match model.is_empty() {
                            true => gmc::Decoder::new(settings()),
                            false => gmc::Decoder::from_snapshot(settings(), &model).unwrap(),
                        });
                        // W61: the private payloads begin anew, too.
                        (alone, group) = (Numbers::default(), Numbers::default());
                        private = gmc::Decoder::new(settings());
                        model.clear();
                    }
                    continue;
                }
                "SHARED" => {
                    let decoder = shared.as_mut().expect("a model came before");
                    let records = decode(decoder, frame.fields.bytes("rest"));
                    if records.is_empty() {
                        group = Numbers::default();
                        renewed += 1;
                    }
                    (&mut group, records)
                }
                "CODED" => (&mut alone, decode(&mut private, frame.fields.bytes("rest"))),
                "MESSAGES" => (&mut alone, frame.list("records").to_vec()),
                _ => continue,
            };
            for record in records {
                let is_awareness = record.number("channel") == 2;
                if let Meaning::Transaction { position, .. } =
                    numbers.read(&record, is_awareness, false)
                {
                    counted.push(position);
                }
            }
        }
        assert_eq!(counted, positions(&talk, link as usize - 1), "link {link}");
        assert!(shared.is_some(), "link {link} is in the group");
    }
    assert!(renewed > 0, "a newcomer came");
}

/// W66: frames before a SHARED payload are for one receiver alone. Of several SHARED frames, all
/// but the last have a length.
#[test]
fn w66_shared_stands_last_or_has_its_length() {
    let talk = seven();
    let mut shared = 0;
    for sent in talk.sent.iter().filter(|sent| !sent.is_up) {
        let frames = read_packet(From::Server, sent.is_first, &sent.bytes).unwrap();
        let Some(first) = frames.iter().position(|frame| frame.name == "SHARED") else { continue };
        shared += 1;
        let (last, before) = frames[first..].split_last().unwrap();
        assert!(last.name == "SHARED" && last.is_last, "{frames:?}");
        assert!(before.iter().all(|frame| frame.name == "SHARED" && !frame.is_last), "{frames:?}");
    }
    assert!(shared > 100);
    // All members were sent the same bytes.
    let bodies = |link: u64| -> Vec<Vec<u8>> {
        let frames = frames_to(&talk, link).into_iter().filter(|frame| frame.name == "SHARED");
        frames.map(|frame| frame.fields.bytes("rest").to_vec()).collect()
    };
    let (first, second) = (bodies(1), bodies(2));
    assert_eq!(first[first.len() - 30..], second[second.len() - 30..]);
}

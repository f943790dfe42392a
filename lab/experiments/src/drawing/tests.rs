use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use proptest::prelude::*;

use super::*;
use crate::emulator::tests::skip;
use crate::trace::Trace;

/// The directory of the recorded session, which is not part of the project; `None` if it is not
/// there.
pub(crate) fn recorded() -> Option<PathBuf> {
    let folder =
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/groupware"));
    if !folder.exists() {
        skip("the session made of recordings", "data");
        return None;
    }
    Some(folder)
}

/// The events of the recorded session.
pub(crate) fn recorded_events() -> Option<Vec<Event>> {
    let file = std::fs::File::open(recorded()?.join("events.tsv.gz")).unwrap();
    let text = std::io::read_to_string(flate2::read::MultiGzDecoder::new(file)).unwrap();
    Some(read_events(&text).unwrap())
}

/// A strategy for any event.
pub(crate) fn any_event() -> impl Strategy<Value = Event> {
    let time = prop_oneof![9 => 0_u64..1 << 30, 1 => any::<u64>()];
    let sender = prop_oneof![9 => 0_u32..64, 1 => any::<u32>()];
    (time, sender, any_kind()).prop_map(|(time_ms, sender, kind)| Event { time_ms, sender, kind })
}

fn any_kind() -> impl Strategy<Value = Kind> {
    let shape = || prop::sample::select(Shape::ALL.to_vec());
    let colour = || prop::sample::select(Colour::ALL.to_vec());
    let number = || prop_oneof![9 => 0_u32..1024, 1 => any::<u32>()];
    let one = (number(), shape(), colour(), any_point(), any_point())
        .prop_map(|(object, shape, colour, from, to)| Object { object, shape, colour, from, to });
    prop_oneof![
        any_point().prop_map(Kind::Telepointer),
        (number(), shape(), colour(), any_point())
            .prop_map(|(object, shape, colour, at)| Kind::Create { object, shape, colour, at }),
        (number(), any_point()).prop_map(|(object, to)| Kind::Move { object, to }),
        (number(), any_point(), any_point()).prop_map(|(object, fixed, corner)| Kind::Resize {
            object,
            fixed,
            corner
        }),
        any_text().prop_map(|text| Kind::Chat { text }),
        (number(), number(), number(), any_text()).prop_map(
            |(object, position, deleted, inserted)| {
                Kind::Edit { object, position, deleted, inserted }
            }
        ),
        prop::collection::vec(one, 0..40).prop_map(|objects| Kind::Model { objects }),
    ]
}

fn any_point() -> impl Strategy<Value = Point> {
    let coordinate = || prop_oneof![9 => 0_u16..2048, 1 => any::<u16>()];
    (coordinate(), coordinate()).prop_map(|(x, y)| Point { x, y })
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![8 => ".{0,3}", 8 => "[ -~]{0,40}", 1 => "\\PC{100,400}"]
}

/// The ratio at which gzip compresses all messages together.
fn gzip_ratio(messages: &[Vec<u8>]) -> f64 {
    let all = messages.concat();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(&all).unwrap();
    gzip.finish().unwrap().len() as f64 / all.len() as f64
}

fn kinds(events: &[Event]) -> BTreeMap<&'static str, usize> {
    let mut kinds = BTreeMap::new();
    events.iter().for_each(|event| *kinds.entry(event.kind.name()).or_default() += 1);
    kinds
}

#[test]
fn recorded_traces_are_reproduced() {
    let (Some(folder), Some(events)) = (recorded(), recorded_events()) else { return };
    for format in [Format::Text, Format::Xml, Format::Java, Format::Json, Format::JsonFloat] {
        let path = folder.join(format!("{}.bin.gz", format.name()));
        let recorded = Trace::read(&path).unwrap().messages;
        let made = encode(format, &events);
        assert_eq!(recorded.len(), made.len());
        for (at, (recorded, made)) in recorded.iter().zip(&made).enumerate() {
            let [recorded, made] = [&*recorded.bytes, made].map(String::from_utf8_lossy);
            assert_eq!(recorded, made, "{format:?}, message {at}");
        }
    }
}

#[test]
fn a_generated_session_has_the_papers_mix() {
    for seed in 0..5 {
        let events = generate(seed, 12_850);
        let expected = [
            ("chat", 20),
            ("create", 97),
            ("edit", 916),
            ("model", 1),
            ("move", 265),
            ("resize", 958),
            ("tele", 10_593),
        ];
        assert_eq!(kinds(&events), BTreeMap::from(expected));
        let minutes = (events.last().unwrap().time_ms - events[0].time_ms) as f64 / 60_000.0;
        assert!((45.0..47.5).contains(&minutes), "{minutes}");
        assert!(events.is_sorted_by_key(|event| event.time_ms));
    }
}

#[test]
fn a_generated_session_is_as_compressible_as_the_papers() {
    // Section 5.1: gzip left 10.4 % of the text and 4.2 % of the XML. The motion was adjusted to
    // come near, so this only notices when it no longer does.
    for seed in 0..5 {
        let events = generate(seed, 12_850);
        let text = gzip_ratio(&encode(Format::Text, &events));
        assert!((0.095..0.11).contains(&text), "{text}");
        let xml = gzip_ratio(&encode(Format::Xml, &events));
        assert!((0.04..0.045).contains(&xml), "{xml}");
    }
}

/// Where this fails because the models were changed on purpose, sizes measured before are no longer
/// comparable: put the new checksum here and measure again. Where it fails on another machine,
/// arithmetic is not what [`random`] says.
#[test]
fn a_seed_makes_the_same_session_everywhere() {
    let mut checksum = flate2::Crc::new();
    encode(Format::Text, &generate(1, 12_850)).iter().for_each(|message| checksum.update(message));
    assert_eq!(checksum.sum(), 3_435_479_148);
}

#[test]
fn a_seed_makes_one_session() {
    assert_eq!(generate(7, 1000), generate(7, 1000));
    assert_ne!(generate(7, 1000), generate(8, 1000));
    for messages in 0..300 {
        assert_eq!(generate(7, messages).len(), messages);
    }
}

#[test]
fn people_point_before_they_do_anything_else() {
    for seed in 0..5 {
        let events = generate(seed, 12_850);
        let mut seen = std::collections::BTreeSet::new();
        let firsts = events.iter().filter(|event| seen.insert(event.sender));
        assert!(firsts.into_iter().all(|event| matches!(event.kind, Kind::Telepointer(_))));
    }
}

#[test]
fn only_objects_that_exist_are_changed() {
    let mut last = 41;
    for event in generate(3, 12_850) {
        match event.kind {
            Kind::Create { object, .. } => {
                assert_eq!(object, last + 1);
                last = object;
            }
            Kind::Move { object, .. } | Kind::Resize { object, .. } | Kind::Edit { object, .. } => {
                assert!((41..=last).contains(&object));
            }
            Kind::Model { objects } => assert_eq!(objects.len() as u32, last - 40),
            Kind::Telepointer(_) | Kind::Chat { .. } => {}
        }
    }
}

#[test]
fn self_describing_formats_say_the_same() {
    for event in generate(2, 500) {
        let of = |format| encode(format, std::slice::from_ref(&event)).remove(0);
        let json: serde_json::Value = serde_json::from_slice(&of(Format::Json)).unwrap();
        let msgpack: serde_json::Value = rmp_serde::from_slice(&of(Format::MessagePack)).unwrap();
        let cbor: serde_json::Value = ciborium::from_reader(&of(Format::Cbor)[..]).unwrap();
        assert_eq!((&json, &json), (&msgpack, &cbor));
    }
}

proptest! {
    #[test]
    fn any_event_has_a_message(event in any_event()) {
        for format in Format::ALL {
            prop_assert!(!encode(format, std::slice::from_ref(&event))[0].is_empty());
        }
    }
}

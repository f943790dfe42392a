//! Changes of state are `tracing` events: what a log shows of a short session.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};

use groupwire_session::Qos;
use groupwire_session::client::ChannelId;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::support::{Air, MS, World};

/// Keeps every event as a line: level, text, fields.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    /// The lines that contain one of these texts.
    fn lines(&self, texts: &[&str]) -> Vec<String> {
        let lines = self.0.lock().unwrap();
        let wanted = |line: &&String| texts.iter().any(|text| line.contains(text));
        lines.iter().filter(wanted).cloned().collect()
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("groupwire_session")
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        let level = event.metadata().level();
        self.0.lock().unwrap().push(format!("{level} {}{}", line.text, line.fields));
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[derive(Default)]
struct Line {
    text: String,
    fields: String,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        match field.name() {
            "message" => write!(self.text, "{value:?}").unwrap(),
            name => write!(self.fields, " {name}={value:?}").unwrap(),
        }
    }
}

/// Plays a session of two participants. The first one sends pointer positions. The path to the
/// second one becomes too slow for the deadline, until the second one switches to another
/// transport; in the end it leaves.
fn play() {
    let pointer = Qos::awareness().loss_per_mille(200).rate(10, 25).deadline(MS * 100);
    let mut world = World::with_tick(MS * 20);
    for person in 0..2 {
        let at = world.add();
        world.people[at].delay = MS * 10;
        world.channel(person, "pointer", pointer);
        world.run(MS * 500);
    }
    for (delay, steps) in [(10, 100), (200, 300), (10, 600)] {
        world.people[1].delay = MS * delay;
        for step in 0..steps {
            world.send(0, ChannelId(0), &format!("{{\"x\":{step}}}"));
            world.run(MS * 40);
        }
    }
    world.change_transport(1, Air::default());
    world.run(MS * 500);
    world.cut(0);
    world.run(MS * 500);
    world.people[1].client.leave();
    world.run(MS * 500);
}

#[test]
fn a_log_shows_the_changes_of_a_session() {
    let log = Log::default();
    tracing::subscriber::with_default(log.clone(), play);
    let participants = ["participant joined", "participant away", "participant left"];
    assert_eq!(
        log.lines(&participants),
        [
            "INFO participant joined participant=1 link=1 resumed=false",
            "INFO participant joined participant=2 link=2 resumed=false",
            "INFO participant joined participant=2 link=3 resumed=true",
            "INFO participant away participant=1",
            "INFO participant joined participant=1 link=4 resumed=true",
            "INFO participant left participant=2",
        ]
    );
    assert_eq!(
        log.lines(&["transport switched"]),
        ["DEBUG transport switched participant=2 link=2 to=3"]
    );
    let contract = log.lines(&["contract "]);
    let [missed, .., kept] = &contract[..] else { panic!("{contract:?}") };
    assert!(missed.starts_with("INFO contract "), "{missed}");
    assert!(missed.contains("room=\"demo\" name=\"pointer\" breach="), "{missed}");
    assert_eq!(kept, "INFO contract kept again room=\"demo\" name=\"pointer\"");
    let own = ["client joined", "client reconnects", "client leaves", "client closed"];
    assert_eq!(
        log.lines(&own),
        [
            "INFO client joined room=\"demo\" participant=1 resumed=false",
            "INFO client joined room=\"demo\" participant=2 resumed=false",
            "INFO client joined room=\"demo\" participant=2 resumed=true",
            "INFO client reconnects room=\"demo\"",
            "INFO client joined room=\"demo\" participant=1 resumed=true",
            "DEBUG client leaves room=\"demo\"",
            "DEBUG client closed room=\"demo\"",
        ]
    );
    let messages = 1000;
    assert!(log.0.lock().unwrap().len() < messages / 10, "no event per message");
}

use std::collections::HashSet;

use groupwire_session::client::{ChannelId, Client, Config, Event, Outgoing, Sent, Status};
use groupwire_session::{AllowAll, Qos, Room, room};

use super::*;
use crate::sim::link::LinkConfig;
use crate::sim::network::{Network, Node};
use crate::sim::random::derive;

const MS: Duration = Duration::from_millis(1);
const EACH: u64 = 200;

/// A participant that draws at times of its own, moves its pointer 25 times a second meanwhile, and
/// keeps all that it receives.
struct Person {
    seed: u64,
    draw: ChannelId,
    point: ChannelId,
    drawn: u64,
    next_draw: Duration,
    next_point: Duration,
    connected: bool,
    synced: Option<Duration>,
    document: Vec<String>,
    pointers: usize,
    gaps: usize,
}

impl App for Person {
    fn event(&mut self, now: Duration, _: &mut Client, event: Event) {
        match event {
            Event::Synced { channel: None } => self.synced = self.synced.or(Some(now)),
            Event::Status(status) => self.connected = status == Status::Connected,
            Event::Message(message) if message.channel == self.draw => {
                self.document.push(String::from_utf8(message.bytes).unwrap());
            }
            Event::Message(_) => self.pointers += 1,
            Event::Gap { .. } => self.gaps += 1,
            _ => {}
        }
    }

    fn act(&mut self, now: Duration, client: &mut Client) -> Option<Duration> {
        while self.drawn < EACH && self.next_draw <= now {
            let text = format!("{}/{}", self.seed, self.drawn);
            let message = Outgoing { bytes: text.as_bytes(), text: true, ..Outgoing::default() };
            assert_eq!(client.send(now, self.draw, message).unwrap(), Sent::Accepted);
            self.next_draw += MS * (derive(self.seed, self.drawn) % 300) as u32;
            self.drawn += 1;
        }
        if self.drawn == EACH {
            return None;
        }
        while self.next_point <= now {
            let bytes = now.as_micros().to_le_bytes();
            let message = Outgoing { bytes: &bytes, key: Some(b"me"), ..Outgoing::default() };
            client.send(now, self.point, message).unwrap();
            self.next_point += 40 * MS;
        }
        Some(self.next_draw.min(self.next_point))
    }
}

fn person(number: u64, lane: Lane, drawn: u64) -> ClientNode<Person> {
    let config = Config { seed: number, ..Config::new("demo") };
    let mut client = Client::new(Duration::ZERO, config).unwrap();
    let draw = client.channel("draw", Qos::transaction()).unwrap();
    let point = client.channel("pointer", Qos::awareness().rate(0, 25)).unwrap();
    let person = Person {
        seed: number,
        draw,
        point,
        drawn,
        next_draw: MS * (100 * number) as u32,
        next_point: Duration::ZERO,
        connected: false,
        synced: None,
        document: Vec::new(),
        pointers: 0,
        gaps: 0,
    };
    ClientNode::new(0, lane, client, person)
}

/// A link of this lane with 20 ms of delay.
fn link(lane: Lane, loss: &str) -> LinkConfig {
    LinkConfig {
        delay: 20 * MS,
        loss: loss.parse().unwrap(),
        header: lane.header(),
        ..LinkConfig::default()
    }
}

fn meet(
    lane: Lane,
    loss: &str,
    seed: u64,
    time: Duration,
) -> (RoomNode, Vec<ClientNode<Person>>, u64) {
    let room = Room::new(room::Config::new("demo", 7), Box::new(AllowAll));
    let mut server = RoomNode::new(room, seed);
    let mut people: Vec<_> = (1..=4).map(|number| person(number, lane, 0)).collect();
    let mut network: Network<&mut dyn Node> = Network::new();
    network.add(&mut server);
    for (number, person) in (1..).zip(&mut people) {
        network.add(person);
        network.join_both(0, number, link(lane, loss), derive(seed, number as u64));
    }
    network.run_until(time);
    let lost = (1..5).filter_map(|number| Some(network.link_stats(0, number)?.lost)).sum();
    (server, people, lost)
}

fn check(people: &[ClientNode<Person>], case: &str) {
    let document = &people[0].app().document;
    assert_eq!(document.len() as u64, 4 * EACH, "{case}: each transaction arrives");
    let distinct: HashSet<&String> = document.iter().collect();
    assert_eq!(distinct.len(), document.len(), "{case}: once");
    for person in people {
        let app = person.app();
        assert!(app.connected, "{case}: {}", app.seed);
        assert_eq!(&app.document, document, "{case}: all see the same order");
        assert_eq!((person.client().pending(), app.gaps), (0, 0), "{case}");
        let own = document.iter().filter(|text| text.starts_with(&format!("{}/", app.seed)));
        let expected = (0..EACH).map(|number| format!("{}/{number}", app.seed));
        assert!(own.cloned().eq(expected), "{case}: in the order they were sent");
    }
}

#[test]
fn four_people_see_each_transaction_once_and_in_order() {
    for (seed, loss) in (1..).zip(["rand0", "rand3", "rand3", "rand10", "ge5b3", "out200"]) {
        let (server, people, lost) = meet(Lane::WebSocket, loss, seed, 90_000 * MS);
        assert!(loss == "rand0" || lost > 50, "{loss}: {lost}");
        check(&people, loss);
        // The pointers of three others for 30 s at 25 per second; conflation drops many while TCP
        // waits.
        let pointers: Vec<_> = people.iter().map(|person| person.app().pointers).collect();
        assert!(pointers.iter().all(|count| *count > 500), "{loss}: {pointers:?}");
        assert!(server.log().len() >= 4);
    }
}

#[test]
fn over_quic_too_and_pointers_do_not_wait_for_what_was_lost() {
    for (seed, loss) in (1..).zip(["rand0", "rand10", "pb10@4", "out200"]) {
        let (_, people, _) = meet(Lane::WebTransport, loss, seed, 90_000 * MS);
        check(&people, loss);
        let pointers: Vec<_> = people.iter().map(|person| person.app().pointers).collect();
        assert!(pointers.iter().all(|count| *count > 1000), "{loss}: {pointers:?}");
    }
}

#[test]
fn a_long_outage_breaks_transports_and_loses_nothing() {
    // The outage is longer than keep-alive waits, so all come back over new transports. Within the
    // first minute there are two outages.
    let (_, people, _) = meet(Lane::WebSocket, "stepout12000/30000-0", 3, 180_000 * MS);
    assert!(people.iter().any(|person| person.client().stats().reconnects > 0));
    check(&people, "outage");
}

#[test]
fn a_minute_in_which_six_of_ten_packets_are_lost_breaks_no_transport() {
    // Participants send for half of the minute, and rest for the other half. Some need many
    // attempts to join.
    for seed in 1..6 {
        let (_, people, lost) = meet(Lane::WebTransport, "step60-0", seed, 90_000 * MS);
        assert!(lost > 1000, "{lost}");
        let reconnects = people.iter().map(|person| person.client().stats().reconnects);
        assert_eq!(reconnects.sum::<u64>(), 0, "{seed}");
        check(&people, "60 %");
    }
}

#[test]
fn half_a_minute_of_such_losses_that_begins_at_rest_breaks_no_transport() {
    // All participants have rested for half a minute when the losses begin, so that only pings
    // reveal them.
    for seed in 1..6 {
        let (_, people, lost) = meet(Lane::WebTransport, "step0-60", seed, 90_000 * MS);
        assert!(lost > 100, "{lost}");
        let reconnects = people.iter().map(|person| person.client().stats().reconnects);
        assert_eq!(reconnects.sum::<u64>(), 0, "{seed}");
        check(&people, "60 %");
    }
}

#[test]
fn on_a_bad_path_too_a_dead_peer_is_noticed_within_six_seconds() {
    for seed in 1..4 {
        let (server, people, _) = meet(Lane::WebTransport, "step60-100", seed, 66_000 * MS);
        assert!(people.iter().all(|person| !person.app().connected), "{seed}");
        let is_away = |event: &room::Event| matches!(event, room::Event::Away { .. });
        let noticed = server.log().iter().filter(|(at, event)| *at > 60_000 * MS && is_away(event));
        assert_eq!(noticed.count(), people.len(), "{seed}");
    }
}

/// How long joining an empty room takes with seeds from 1 to 20, the shortest time first, and the
/// bytes on the links to and from the client of the last seed.
fn join_times(loss: &str) -> (Vec<Duration>, [u64; 2]) {
    let mut bytes = [0; 2];
    let joins = (1..=20).map(|seed| {
        let room = Room::new(room::Config::new("demo", 7), Box::new(AllowAll));
        let mut server = RoomNode::new(room, seed);
        // This person neither draws nor points.
        let mut person = person(seed, Lane::WebTransport, EACH);
        let mut network: Network<&mut dyn Node> = Network::new();
        network.add(&mut server);
        network.add(&mut person);
        network.join_both(0, 1, link(Lane::WebTransport, loss), derive(seed, 1));
        network.run_until(1900 * MS);
        bytes = [(0, 1), (1, 0)].map(|(from, to)| network.link_stats(from, to).unwrap().bytes);
        network.run_until(60_000 * MS);
        person.app().synced.expect("it joins within a minute")
    });
    let mut times: Vec<_> = joins.collect();
    times.sort();
    (times, bytes)
}

#[test]
fn joining_takes_at_most_five_seconds_where_six_of_ten_packets_are_lost() {
    let (times, _) = join_times("rand60");
    assert!(times[18] <= 5000 * MS, "{times:?}");
    let (times, _) = join_times("rand40");
    assert!(times[19] <= 2000 * MS, "{times:?}");
}

#[test]
fn joining_over_a_good_path_costs_no_datagram() {
    let (times, bytes) = join_times("rand0");
    assert_eq!((times[0], times[19]), (40 * MS, 40 * MS));
    // Before clients asked for signs of life, these were the bytes, too.
    assert_eq!(bytes, [294, 270]);
}

//! Datagrams and reports, written by hand: how the room's datagrams react to a client's reports
//! (docs/wire/datagrams.md and reports.md).

use std::collections::BTreeMap;
use std::time::Duration;

use groupwire_session::Compress;
use groupwire_session::client::Config as ClientConfig;

use crate::conversation::hand::{ByHand, hello, messages, open, record};
use crate::conversation::{MS, Network, Sent, Talk, demo, stories};
use crate::grammar::{Fields, Frame, Value, read_datagram, write_datagram};

const ANN: u64 = 1;
const BOB: u64 = 2;

/// Ann has datagrams, Bob has a stream alone. He publishes on channel 1, which aggregates; 10 % may
/// miss.
struct Path {
    room: ByHand,
    /// Ann's next datagram and report.
    number: u64,
    report: u64,
    /// The datagrams that she was sent, with the time.
    came: Vec<(Duration, Fields)>,
}

impl Path {
    /// `deadline_ms`: with a long one asking is cheapest, with a short one it takes too long.
    fn new(deadline_ms: u64) -> Self {
        let mut room = ByHand::plain();
        let path = open(1, "path", true, 0);
        let qos = path.fields.fields("qos").clone();
        let qos = qos.num("overflow", 1).num("loss", 100).num("rate_max", 0);
        let qos = qos.num("deadline_ms", deadline_ms);
        let path = path.fields.with("qos", Value::Fields(qos));
        let opening = |capabilities| {
            [
                Frame::new("HELLO", hello().num("capabilities", capabilities)),
                Frame::new("OPEN", path.clone()),
            ]
        };
        room.max_datagram = 1200;
        room.say(ANN, &opening(2));
        room.max_datagram = 0;
        room.say(BOB, &opening(0));
        room.run(100);
        Path { room, number: 0, report: 0, came: Vec::new() }
    }

    /// Ann sends a datagram with a report and nothing else.
    fn report(&mut self, sections: Fields) {
        self.report = (self.report + 1) & 15;
        // The round trip is 100 ms.
        let sent = self.came.iter().rfind(|(at, _)| *at + MS * 100 <= self.room.now);
        let highest = sent.map_or(0, |(_, datagram)| datagram.number("number"));
        let numbers =
            Fields::default().num("number", self.report).num("highest", highest).num("hold", 0);
        let report = sections.0.into_iter().fold(numbers, |to, (name, value)| to.with(name, value));
        let sent = self.room.now.as_millis() as u16;
        let datagram = Fields::default()
            .num("ask", 0)
            .num("kind", 0)
            .num("number", self.number & 0xff)
            .num("sent", sent.into())
            .with("report", Value::Fields(report));
        self.number += 1;
        self.room.throw(ANN, &datagram);
    }

    /// Bob sends this many messages, one every 40 ms.
    fn talk(&mut self, count: usize) {
        for nth in 0..count {
            if nth % 50 == 0 {
                // A sign of life (W35).
                self.room.say(ANN, &[Frame::new("PING", Fields::default().num("time", 1))]);
            }
            self.room
                .say(BOB, &[messages(vec![record(1, 0, 0, None, &format!("step {nth:020}"))])]);
            for _ in 0..40 {
                self.room.run(1);
                let now = self.room.now;
                self.came.extend(self.room.catch(ANN).into_iter().map(|datagram| (now, datagram)));
            }
        }
    }

    /// The number of records from this datagram on, and of the repeated ones among them.
    fn records(&self, from: usize) -> (usize, usize) {
        let datagrams = self.came[from..].iter().map(|(_, datagram)| datagram);
        let records = datagrams
            .filter(|one| one.find("records").is_some())
            .flat_map(|one| one.list("records"));
        let repeated = records.clone().filter(|record| record.number("flags") & 256 != 0).count();
        (records.count(), repeated)
    }

    /// Bytes per second that the room sent in the last three seconds, with 58 of headers for each
    /// datagram (W89).
    fn rate(&self) -> usize {
        let since = self.room.now - Duration::from_secs(3);
        let last = self.came.iter().filter(|(at, _)| *at > since);
        last.map(|(_, datagram)| write_datagram(datagram).len() + 58).sum::<usize>() / 3
    }
}

/// A path that loses none, 10 % or 31 % of datagrams one by one, drawn from 1,024 (W88).
fn losses(code: u8) -> Fields {
    Fields::default().with("losses", Value::Bytes(vec![code, 2, 0x22, 0x22, 0x22, 0x2a]))
}

const NONE: u8 = 0;
const SOME: u8 = 178;
const MANY: u8 = 216;

fn part(of: Fields) -> Value {
    Value::List(vec![of])
}

/// W88: the sender repeats messages after losses are reported, and none before.
#[test]
fn w88_reported_losses_are_made_good() {
    let mut path = Path::new(180);
    path.talk(10);
    let mut repeated = [NONE, SOME, MANY].map(|code| {
        path.report(losses(code));
        // The messages of before the report are repeated in this time.
        path.talk(5);
        let from = path.came.len();
        path.talk(50);
        path.records(from).1
    });
    assert!(repeated[0] == 0 && repeated[1] > 10 && repeated[2] > repeated[1] + 20, "{repeated:?}");
    // The path is reported as free of losses again.
    path.report(losses(NONE));
    path.talk(5);
    let from = path.came.len();
    path.talk(50);
    repeated[0] = path.records(from).1;
    assert_eq!(repeated[0], 0);
}

#[test]
fn w89_a_reported_rate_holds_for_four_seconds() {
    let mut path = Path::new(400);
    path.talk(100);
    let free = path.rate();
    assert!(free > 2000, "{free}");
    // A rate below the floor of 500 counts as 500.
    for (rate, most) in [(1000, 1000), (1, 500)] {
        for _ in 0..5 {
            path.report(Fields::default().num("rate", rate));
            path.talk(25);
        }
        // A datagram of about 130 bytes may go every 200 ms in any case.
        assert!(path.rate() <= most.max(550) + 100, "{} of {most}", path.rate());
        assert!(path.rate() >= most / 2, "{} of {most}", path.rate());
    }
    path.talk(200);
    assert!(path.rate() >= free * 9 / 10, "{}: not told again, it is forgotten", path.rate());
    path.report(Fields::default().num("rate", 1000));
    path.talk(90);
    assert!(path.rate() < 1300, "{}", path.rate());
    path.report(Fields::default().num("rate", 0));
    path.talk(90);
    assert!(path.rate() >= free * 9 / 10, "{}: 0 is no limit", path.rate());
}

#[test]
fn w90_by_the_balance_more_is_repeated() {
    let repeated = |balance: i64| {
        let mut path = Path::new(180);
        path.talk(10);
        let told = Fields::default().num("channel", 1).with("balance", Value::Signed(balance * 4));
        path.report(losses(SOME).with("parts", part(told)));
        let from = path.came.len();
        path.talk(200);
        path.records(from).1
    };
    let [less, usual, more] = [-20, 0, 31].map(repeated);
    assert!(less <= usual && usual < more, "{less}, {usual}, {more}");
}

#[test]
fn w91_what_is_asked_for_is_sent_again() {
    let mut path = Path::new(800);
    path.talk(20);
    path.report(losses(MANY));
    path.talk(20);
    let (_, newest) = path.came.last().unwrap().clone();
    assert_eq!(newest.number("ask"), 1, "W68: who sends this wants to be asked");
    let last =
        newest.list("records").iter().map(|record| record.number("leg_index")).max().unwrap();
    // The first and the third of the three indices before the last one.
    let asks = Fields::default().num("channel", 1).num("first", last - 3).num("more", 0b10);
    path.report(Fields::default().with("parts", part(asks)));
    let from = path.came.len();
    path.talk(3);
    let datagrams = path.came[from..].iter().filter(|(_, one)| one.find("records").is_some());
    let again: Vec<u64> = datagrams
        .flat_map(|(_, one)| one.list("records"))
        .filter(|record| record.number("flags") & 256 != 0)
        .map(|record| record.number("leg_index"))
        .collect();
    assert!(again.contains(&(last - 3)) && again.contains(&(last - 1)), "{again:?} of {last}");
    assert!(!again.contains(&(last - 2)), "{again:?} of {last}");
}

/// The time that each direction takes. It is no multiple of the intervals of other events.
const DELAY: Duration = Duration::from_millis(23);

/// Two clients who point for four seconds over paths that lose nothing.
fn pointing() -> Talk {
    let mut talk = Talk::new(demo());
    let network = Network { delay: DELAY, max_datagram: 1200, lost: 0 };
    let config = |seed| ClientConfig { seed, ..ClientConfig::new("demo") };
    let people = [0, 1].map(|seed| talk.client(config(seed), network));
    for one in people {
        talk.open(one, "pointer", stories::POINTER, Compress::Template);
    }
    talk.run(MS * 200);
    for step in 0..100 {
        for one in people {
            talk.send(one, 0, &format!(r#"{{"x":{},"y":{step}}}"#, 100 + 3 * step));
        }
        talk.run(MS * 40);
    }
    talk
}

type Way = (u64, bool);

/// The datagrams of each direction of each transport.
fn by_way(talk: &Talk) -> BTreeMap<Way, Vec<(&Sent, Fields)>> {
    let mut ways: BTreeMap<Way, Vec<(&Sent, Fields)>> = BTreeMap::new();
    for sent in talk.sent.iter().filter(|sent| sent.is_datagram) {
        let datagram = read_datagram(&sent.bytes).unwrap();
        ways.entry((sent.link, sent.is_up)).or_default().push((sent, datagram));
    }
    ways
}

#[test]
fn w40_acknowledgements_come_soon_and_not_often() {
    let talk = pointing();
    let ways = by_way(&talk);
    assert_eq!(ways.len(), 4);
    for ((link, is_up), datagrams) in &ways {
        let acknowledges = |one: &&(&Sent, Fields)| one.1.find("acknowledgement").is_some();
        let times: Vec<Duration> =
            datagrams.iter().filter(acknowledges).map(|(sent, _)| sent.at).collect();
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= MS * 90), "not within 90 ms");
        for (_, datagram) in datagrams.iter().filter(acknowledges) {
            assert!(datagram.bytes("acknowledgement").len() <= 140);
        }
        // Each coded datagram that arrived is acknowledged by a datagram within 500 ms.
        let other = &ways[&(*link, !is_up)];
        let coded = other.iter().filter(|(_, datagram)| datagram.find("coded").is_some());
        for came in coded.map(|(sent, _)| sent.at + DELAY).filter(|at| *at + MS * 500 < talk.now) {
            let next = times.iter().find(|at| **at >= came);
            assert!(next.is_some_and(|at| *at <= came + MS * 500), "{came:?}: {next:?}");
        }
    }
}

#[test]
fn w87_reports_come_now_and_then() {
    let talk = pointing();
    for datagrams in by_way(&talk).values() {
        let reports: Vec<(Duration, bool)> = datagrams
            .iter()
            .filter(|(_, datagram)| datagram.find("report").is_some())
            .map(|(sent, datagram)| (sent.at, datagram.number("kind") == 0))
            .collect();
        assert!(reports.len() >= 3, "while messages come");
        let mut piggybacked = 0;
        for pair in reports.windows(2) {
            let ((before, _), (at, is_alone)) = (pair[0], pair[1]);
            assert!(at - before >= MS * 5 && at - before <= Duration::from_secs(5));
            // Some reports go at once with news. Most are piggybacked at least half a second after
            // the one before.
            piggybacked += usize::from(!is_alone && at - before >= MS * 500);
        }
        assert!(piggybacked * 2 >= reports.len() - 1, "{reports:?}");
    }
}

/// W68: the two datagrams after a report arrived say so, and how long ago that was.
#[test]
fn w68_the_next_two_datagrams_say_that_a_report_came() {
    let talk = pointing();
    let ways = by_way(&talk);
    let mut told = 0;
    for ((link, is_up), datagrams) in &ways {
        let other = ways[&(*link, !is_up)].iter();
        let reports = other.filter_map(|(sent, datagram)| match datagram.find("report") {
            Some(Value::Fields(report)) => Some((sent.at + DELAY, report.number("number"))),
            _ => None,
        });
        let reports: Vec<(Duration, u64)> = reports.collect();
        for (nth, (sent, datagram)) in datagrams.iter().enumerate() {
            let newest = reports.iter().rfind(|(came, _)| *came <= sent.at);
            if newest.is_some_and(|(came, _)| datagrams.iter().any(|(one, _)| one.at == *came)) {
                // Datagrams of the same instant have no known order.
                continue;
            }
            let since =
                |came: Duration| datagrams[..nth].iter().filter(|(one, _)| one.at >= came).count();
            let expected = newest.filter(|(came, _)| since(*came) < 2);
            let expected = expected.map(|(came, number)| {
                let ms = (sent.at - *came).as_millis() as u64 / 4 * 4;
                Value::Fields(Fields::default().num("ms", ms).num("report", number & 7))
            });
            told += usize::from(expected.is_some());
            assert_eq!(datagram.find("held").cloned(), expected, "at {:?}", sent.at);
        }
    }
    assert!(told > 10, "{told}");
}

/// W68: the clock tells which number a low byte stands for. A datagram with an old number is
/// dropped.
#[test]
fn w68_numbers_are_made_whole_by_the_clock() {
    let mut path = Path::new(400);
    let mut index = 0;
    // The number, the clock, and whether the datagram is new.
    for (number, sent, is_news) in [
        (5, 1000, true),
        (5, 1000, false),
        (4, 990, true),
        (200, 1500, true),
        (4, 1600, true),
        (200, 1550, false),
        (5, 1600, true),
        (4, 1600, false),
    ] {
        index += 1;
        let message = record(1, 0, 0, None, &format!("{index}"));
        let numbers = [("leg_index", index - 1), ("index", index), ("back", 0)];
        let message = numbers.into_iter().fold(message, |to, (name, value)| to.num(name, value));
        let datagram = Fields::default()
            .num("ask", 0)
            .num("kind", 1)
            .num("number", number)
            .num("sent", sent)
            .with("records", part(message));
        path.room.throw(ANN, &datagram);
        path.room.run(60);
        let frames = path.room.hear(BOB);
        let came = frames.iter().filter(|frame| frame.name == "MESSAGES").count();
        assert_eq!(came, usize::from(is_news), "{number} at {sent}");
    }
}

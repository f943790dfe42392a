//! The experiment `voice`: what arrives of speech, when it is played, and what it costs, in
//! simulated time: a call of two over bad networks beside other ways to send frames of sound, and
//! a room in which many speak at once.
//!
//! lab/README.md says how speech, networks and the buffer of the receiver are made.

mod arrivals;
mod bare;
mod groupwire;
mod network;
mod playout;
mod row;
mod speech;
mod talk;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use groupwire_session::{AllowAll, Qos, Room, room};

use crate::options::{Common, Threads, is_wanted};
use crate::sim::random::derive;
use crate::sim::{ClientNode, Lane, Network, Node, RoomNode};
use crate::statistics::percentile;
use crate::{Result, Row, Update, parallel};
use arrivals::Arrivals;
use network::{Conditions, NAMES};
use playout::{Heard, play};
use row::{FIELDS, Scheme};
use talk::Talk;

/// People in the room, and how many of them talk.
const PEOPLE: usize = 100;
const TALKERS: usize = 10;
/// The numbers of speakers that the room passes on: all who talk, and four.
const SPEAKERS: [u8; 2] = [15, 4];
/// The time after the last frame for packets that are still under way.
const REST: Duration = Duration::from_secs(5);

/// The options of `groupwire-lab voice`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Run only these schemes.
    #[arg(long = "scheme", value_name = "NAME")]
    schemes: Vec<Scheme>,

    /// Run only these networks.
    #[arg(long = "network", value_name = "NAME", value_parser = PossibleValuesParser::new(NAMES))]
    networks: Vec<String>,

    /// The length of sessions in seconds. Default: 600, in the room 60.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=1200))]
    length: Option<u64>,

    /// Write when each frame of a call came to this file, for lab/experiments/voice/score.mjs.
    #[arg(long, value_name = "FILE")]
    arrivals: Option<PathBuf>,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    pub(crate) common: Common,
}

/// A run, or several that are compared.
#[derive(Debug, Clone, PartialEq)]
enum Job {
    Call(Conditions),
    Room(u8),
}

/// The outcome of a call.
struct Call {
    /// For each person, when the frames of the other one came.
    came: [Vec<Option<Duration>>; 2],
    heard: Vec<Heard>,
    /// Bits per second on the links of one person, both ways.
    bits: f64,
    failure: Option<String>,
}

/// Runs the experiment. Rows come in the same order each time.
///
/// # Errors
/// The file of `--arrivals` cannot be written.
pub(crate) fn run(options: &Options, emit: &mut dyn FnMut(Update)) -> Result<()> {
    let is_chosen = |name: &&str| is_wanted(&options.networks, *name);
    let calls = NAMES.into_iter().filter(is_chosen).map(Conditions::named);
    let mut jobs: Vec<Job> = calls.map(Job::Call).collect();
    if options.networks.is_empty() && is_wanted(&options.schemes, &Scheme::Groupwire) {
        jobs.extend(SPEAKERS.map(Job::Room));
    }
    let arrivals = options.arrivals.as_deref().map(Arrivals::create).transpose()?;
    let job = |_, job: &Job, emit: &mut dyn FnMut(Update)| {
        let (name, rows) = match job {
            Job::Call(conditions) => {
                (conditions.name.to_owned(), calls_over(conditions, options, arrivals.as_ref()))
            }
            Job::Room(speakers) => {
                (format!("{speakers} speakers"), vec![room_of(*speakers, options)])
            }
        };
        emit(Update::begun(name));
        rows.into_iter().for_each(|row| emit(Update::Row(row)));
    };
    parallel::run((&jobs, jobs.len()), options.threads.count(), &job, emit);
    arrivals.map_or(Ok(()), Arrivals::finish)
}

impl Options {
    fn length(&self, usual: u64, quick: u64) -> Duration {
        Duration::from_secs(self.length.unwrap_or(self.common.quick_or(quick, usual)))
    }
}

fn calls_over(conditions: &Conditions, options: &Options, arrivals: Option<&Arrivals>) -> Vec<Row> {
    let (seed, length) = (options.common.seed, options.length(600, 60));
    let talk = Arc::new(Talk::new(2, length, seed));
    // The others are compared with it, whether or not it is shown.
    let plain = call(Scheme::Plain, conditions, &talk, length, seed);
    let schemes = Scheme::value_variants().iter().filter(|one| is_wanted(&options.schemes, *one));
    let rows = schemes.map(|&scheme| {
        let other;
        let called = match scheme {
            Scheme::Plain => &plain,
            _ => {
                other = call(scheme, conditions, &talk, length, seed);
                &other
            }
        };
        if let Some(arrivals) = arrivals {
            // The first person listens to the second one.
            arrivals.write(conditions.name, scheme, &talk.frames[1], &called.came[0]);
        }
        let sum = |of: fn(&Heard) -> usize| called.heard.iter().map(of).sum::<usize>() as f64;
        let frames = sum(|heard| heard.frames);
        let mut delays: Vec<f64> = called.heard.iter().flat_map(|one| one.delays.clone()).collect();
        delays.sort_by(f64::total_cmp);
        row(options, "call", scheme, conditions, [2, 2])
            .with("link_kbit", conditions.link_kbit)
            .with("jitter_ms", conditions.jitter.as_millis() as u64)
            .with("frames", frames)
            .with("missed", sum(|heard| heard.missed) / frames)
            .with("never", sum(|heard| heard.never) / frames)
            .with("delay_p50_ms", percentile(&delays, 50.0))
            .with("delay_p99_ms", percentile(&delays, 99.0))
            .with("kbit", called.bits / 1e3)
            .with("of_plain", called.bits / plain.bits)
            .failed(called.failure.clone())
    });
    rows.collect()
}

fn row(
    options: &Options,
    part: &str,
    scheme: Scheme,
    conditions: &Conditions,
    [people, talkers]: [usize; 2],
) -> Row {
    Row::new("voice", FIELDS, &options.common)
        .with("part", part)
        .with("scheme", scheme)
        .with("people", people)
        .with("network", conditions.name)
        .with("loss", conditions.loss.to_string())
        .with("rtt_ms", conditions.round_trip().as_millis() as u64)
        .with("talkers", talkers)
}

/// A call of two.
fn call(
    scheme: Scheme,
    conditions: &Conditions,
    talk: &Arc<Talk>,
    length: Duration,
    seed: u64,
) -> Call {
    let lane = bare::lane(scheme);
    let (came, failure, bytes) = match scheme {
        Scheme::Groupwire => {
            let mut server = room_node(seed);
            let mut people =
                [0, 1].map(|who| groupwire::person(talk, who, Qos::voice(), lane, seed));
            let bytes = carry(&mut server, &mut people, conditions, lane, length, seed);
            let failure = people.iter().find_map(|one| one.app().failure.clone());
            (people.map(|one| one.app().came.clone()), failure, bytes)
        }
        _ => {
            let mut server = bare::Relay::new(scheme, 2);
            let mut people = [0, 1].map(|who| bare::Person::new(scheme, talk, who));
            let bytes = carry(&mut server, &mut people, conditions, lane, length, seed);
            (people.map(|one| one.came), None, bytes)
        }
    };
    let heard = came.iter().enumerate().map(|(who, came)| play(&talk.frames[1 - who], came));
    let bytes: u64 = bytes.iter().flatten().sum();
    let bits = bytes as f64 * 8.0 / 2.0 / length.as_secs_f64();
    Call { heard: heard.collect(), came, bits, failure }
}

/// Runs a network of a server and people until everything has arrived. Returns the bytes on the
/// links of each person: to the server, and back.
fn carry<'a, P: Node>(
    server: &'a mut dyn Node,
    people: &'a mut [P],
    conditions: &Conditions,
    lane: Lane,
    length: Duration,
    seed: u64,
) -> Vec<[u64; 2]> {
    let count = people.len();
    let mut network: Network<&mut dyn Node> = Network::new();
    network.add(server);
    people.iter_mut().for_each(|person| _ = network.add(person));
    conditions.join(&mut network, count, lane, derive(seed, 77));
    network.run_until(length + REST);
    let bytes = |from, to| network.link_stats(from, to).map_or(0, |stats| stats.bytes);
    (1..=count).map(|node| [bytes(node, 0), bytes(0, node)]).collect()
}

fn room_node(seed: u64) -> RoomNode {
    RoomNode::new(Room::new(room::Config::new("voice", 1), Box::new(AllowAll)), seed)
}

/// A server, with the time that it takes.
struct Timed {
    node: RoomNode,
    spent: Duration,
}

impl Node for Timed {
    fn receive(&mut self, now: Duration, from: usize, packet: &[u8]) {
        let begun = Instant::now();
        self.node.receive(now, from, packet);
        self.spent += begun.elapsed();
    }

    fn poll(&mut self, now: Duration, send: &mut dyn FnMut(usize, &[u8])) -> Option<Duration> {
        let begun = Instant::now();
        let wanted = self.node.poll(now, send);
        self.spent += begun.elapsed();
        wanted
    }
}

/// A hundred people in a room, of whom ten talk as people do, and the room passes on `speakers` at
/// a time.
fn room_of(speakers: u8, options: &Options) -> Row {
    let (seed, length) = (options.common.seed, options.length(60, 5));
    let talk = Arc::new(Talk::new(TALKERS, length, seed));
    let qos = Qos::voice().speakers(speakers);
    let conditions = Conditions::named("rand0");
    let lane = Lane::WebTransport;
    let mut server = Timed { node: room_node(seed), spent: Duration::ZERO };
    let mut people: Vec<ClientNode<groupwire::Person>> =
        (0..PEOPLE).map(|who| groupwire::person(&talk, who, qos, lane, seed)).collect();
    let links = carry(&mut server, &mut people, &conditions, lane, length, seed);
    let down: u64 = links[TALKERS..].iter().map(|[_, down]| down).sum();
    let frames: u64 = people[TALKERS..].iter().map(|one| one.app().frames).sum();
    let seconds = length.as_secs_f64();
    row(options, "room", Scheme::Groupwire, &conditions, [PEOPLE, TALKERS])
        .with("speakers", speakers)
        .with("frames", frames as f64 / (PEOPLE - TALKERS) as f64)
        .with("listener_kbit", down as f64 * 8.0 / 1e3 / seconds / (PEOPLE - TALKERS) as f64)
        .with("server_share", server.spent.as_secs_f64() / seconds)
        .failed(people.iter().find_map(|one| one.app().failure.clone()))
}

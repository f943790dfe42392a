//! The setup `canonical`: the five canonical types of interaction of the WEB paper (Real-Time
//! Groupware Network Requirements), each in a room of its own, over each transport and network.
//!
//! Rates and sizes are the paper's. It states no latencies; lab/README.md says where those that are
//! asked for here come from.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use groupwire_session::Qos;

use super::Options;
use super::channels::Channel;
use super::path::Path;
use super::row::Setup;
use super::scene::{Scene, TICK, later};
use super::script::{Action, START, Script};
use crate::Update;
use crate::browsers::{Network, Weather};
use crate::options::{is_wanted, or_usual};
use crate::sim::random::derive;
use crate::sim::{Lane, LinkConfig};

const MS: Duration = Duration::from_millis(1);
/// The participants of a room: the middle of the numbers with which the paper's applications ran.
pub(super) const PEOPLE: usize = 4;
/// The participants of a call.
const CALLERS: usize = 2;
/// The networks: the paper's, and one that loses packets.
const NETWORKS: [Network; 4] = [Network::Lan, Network::Man, Network::Wan, Network::Lossy];
/// The transports of browsers.
pub(super) const TRANSPORTS: [&str; 6] =
    ["webtransport", "websocket", "multipart", "iframe", "longpoll", "poll"];
/// How many of these are simulated, and native clients have.
const SIMULATED: usize = 2;

/// A type of interaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Moves in a game: one per second in the room, in turns.
    Turns,
    /// Typing that is sent character by character.
    Chat,
    /// Mouse movements.
    Pointers,
    /// Positions of avatars in a game.
    Avatars,
    /// A voice at 24 kbit/s, in frames of 60 bytes.
    Voice,
    /// Frames of 500 bytes, as the paper's example of videoconferencing.
    Conference,
}

/// A type over a transport and a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Canonical {
    kind: Kind,
    network: Network,
    transport: &'static str,
}

impl fmt::Display for Canonical {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {} {}", self.kind.name(), self.transport, self.network)
    }
}

/// All types over all transports and networks. The transports that are not simulated need a page
/// for each participant.
pub(super) fn all(options: &Options, emit: &mut dyn FnMut(Update)) -> Vec<Canonical> {
    let (simulated, carriers) = TRANSPORTS.split_at(SIMULATED);
    let mut transports = simulated.to_vec();
    if options.real && options.chromium >= PEOPLE {
        transports.extend(carriers);
    } else if options.real {
        let what = format!("{} over {}", Setup::Canonical, carriers.join(", "));
        let why = format!("only pages have these transports: add --chromium {PEOPLE}");
        emit(Update::Skipped { what, why });
    }
    transports.retain(|transport| is_wanted(&options.transports, *transport));
    let mut all = Vec::new();
    for network in or_usual(&options.networks, &NETWORKS) {
        for &transport in &transports {
            all.extend(Kind::ALL.map(|kind| Canonical { kind, network, transport }));
        }
    }
    all
}

impl Canonical {
    pub(super) fn scene(&self, seed: u64, length: Duration) -> Scene {
        let Canonical { kind, network, transport } = *self;
        let lane = if transport == "webtransport" { Lane::WebTransport } else { Lane::WebSocket };
        let link =
            |link: LinkConfig| LinkConfig { loss: later(link.loss), header: lane.header(), ..link };
        let path = Weather::default().path(network, seed);
        let loss = path.up.loss.to_string();
        let path = Path { lane, up: link(path.up), down: link(path.down) };
        let paths = vec![path; kind.people()];
        let scene = Scene::new(Setup::Canonical, loss, Arc::new(kind.script(seed, length)), paths);
        let carrier = TRANSPORTS[SIMULATED..].contains(&transport).then_some(transport);
        Scene { tick: kind.tick(), network: Some(network), carrier, ..scene }
    }
}

impl Kind {
    const ALL: [Kind; 6] =
        [Kind::Turns, Kind::Chat, Kind::Pointers, Kind::Avatars, Kind::Voice, Kind::Conference];

    fn name(self) -> &'static str {
        match self {
            Kind::Turns => "turns",
            Kind::Chat => "chat",
            Kind::Pointers => "pointers",
            Kind::Avatars => "avatars",
            Kind::Voice => "audio-60",
            Kind::Conference => "audio-500",
        }
    }

    fn people(self) -> usize {
        if self.is_audio() { CALLERS } else { PEOPLE }
    }

    fn is_audio(self) -> bool {
        matches!(self, Kind::Voice | Kind::Conference)
    }

    /// The room's tick: that of the rate, and none for audio.
    fn tick(self) -> Duration {
        match self {
            Kind::Turns | Kind::Chat | Kind::Pointers => TICK,
            Kind::Avatars => 50 * MS,
            Kind::Voice | Kind::Conference => Duration::ZERO,
        }
    }

    /// The time between two messages of a participant.
    fn interval(self) -> Duration {
        match self {
            // One message per second in the room.
            Kind::Turns => 1000 * MS * PEOPLE as u32,
            Kind::Chat => 200 * MS,
            Kind::Pointers => 40 * MS,
            Kind::Avatars => 50 * MS,
            Kind::Voice | Kind::Conference => 20 * MS,
        }
    }

    fn channel(self) -> Channel {
        let live = |deadline_ms: u32, loss, min, max| {
            Qos::awareness().deadline(deadline_ms * MS).loss_per_mille(loss).rate(min, max)
        };
        let qos = match self {
            Kind::Turns | Kind::Chat => Qos::transaction().deadline(1000 * MS),
            Kind::Pointers => live(200, 50, 20, 30),
            Kind::Avatars => live(100, 50, 20, 25),
            Kind::Voice | Kind::Conference => live(150, 10, 50, 60).aggregate(),
        };
        let is_live = !matches!(self, Kind::Turns | Kind::Chat);
        let jitter = is_live.then_some(self.interval());
        Channel { is_text: !self.is_audio(), jitter, ..Channel::new(self.name(), qos) }
    }

    fn script(self, seed: u64, length: Duration) -> Script {
        let (start, interval) = (START as u32 * MS, self.interval());
        let count = (length.as_secs_f64() / interval.as_secs_f64()).ceil() as u32;
        let people = self.people();
        let actions = (0..people).map(|who| {
            // The participants do not send at the same time.
            let first = start + interval * who as u32 / people as u32;
            let action = |number: u32| Action {
                at: first + interval * number,
                channel: 0,
                key: 0,
                bytes: self.message(seed, who, number),
            };
            (0..count).map(action).collect()
        });
        Script::new(vec![self.channel()], actions.collect(), start + length)
    }

    /// A message, whose number makes it unlike all others.
    fn message(self, seed: u64, who: usize, number: u32) -> Vec<u8> {
        let draw = |part: u64, most: u64| {
            derive(seed, (who as u64) << 40 | u64::from(number) << 4 | part) % most
        };
        let size = match self {
            Kind::Voice => 60,
            Kind::Conference => 500,
            _ => 0,
        };
        // A circle, as in the paper's tests of telepointers.
        let angle = f64::from(number) / 40.0 + who as f64;
        let (x, y) = (800.0 + 300.0 * angle.cos(), 500.0 + 300.0 * angle.sin());
        match self {
            Kind::Turns => {
                let [from, to] = [draw(0, 64), draw(1, 64)];
                format!(r#"{{"type":"move","player":{who},"turn":{number},"from":{from},"to":{to}}}"#)
            }
            Kind::Chat => {
                let letter = char::from(b'a' + draw(0, 26) as u8);
                format!(r#"{{"type":"key","user":{who},"at":{number},"text":"{letter}"}}"#)
            }
            Kind::Pointers => {
                format!(r#"{{"type":"pointer","user":{who},"n":{number},"x":{x:.0},"y":{y:.0}}}"#)
            }
            Kind::Avatars => {
                let (turn, height) = (draw(0, 360), draw(1, 3));
                format!(
                    r#"{{"type":"avatar","player":{who},"n":{number},"x":{x:.2},"y":{y:.2},"z":{height},"turn":{turn}}}"#
                )
            }
            Kind::Voice | Kind::Conference => return frame(seed, who, number, size),
        }
        .into_bytes()
    }
}

/// A frame of sound: its sender and number, and bytes that no compressor makes smaller.
fn frame(seed: u64, who: usize, number: u32, size: usize) -> Vec<u8> {
    let mut bytes = vec![who as u8];
    bytes.extend(number.to_le_bytes());
    let stream = derive(seed, (who as u64) << 32 | u64::from(number));
    let random = (0..).flat_map(|part| derive(stream, part).to_le_bytes());
    bytes.extend(random.take(size - bytes.len()));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::parsed;

    #[test]
    fn every_message_is_another() {
        for kind in Kind::ALL {
            let script = kind.script(1, 5000 * MS);
            for (who, actions) in script.actions.iter().enumerate() {
                for (number, action) in actions.iter().enumerate() {
                    assert_eq!(script.find(&action.bytes), Some((who, number)), "{}", kind.name());
                }
            }
        }
    }

    #[test]
    fn rates_and_sizes_are_the_papers() {
        let per_second = |kind: Kind| kind.script(1, 10_000 * MS).messages() as f64 / 10.0;
        assert!((1.0..=1.2).contains(&per_second(Kind::Turns)));
        assert_eq!(per_second(Kind::Chat), 5.0 * PEOPLE as f64);
        assert_eq!(per_second(Kind::Pointers), 25.0 * PEOPLE as f64);
        assert_eq!(per_second(Kind::Avatars), 20.0 * PEOPLE as f64);
        assert_eq!(per_second(Kind::Voice), 50.0 * CALLERS as f64);
        assert_eq!(Kind::Voice.script(1, 1000 * MS).size(0), 60.0);
        assert_eq!(Kind::Conference.script(1, 1000 * MS).size(0), 500.0);
    }

    #[test]
    fn transports_of_pages_need_pages() {
        let mut skipped = 0;
        let mut emit = |update| skipped += usize::from(matches!(update, Update::Skipped { .. }));
        let count = |words: &str, emit: &mut dyn FnMut(Update)| all(&parsed(words), emit).len();
        let kinds = Kind::ALL.len() * NETWORKS.len();
        assert_eq!(count("", &mut emit), 2 * kinds);
        assert_eq!(count("--real --chromium 4", &mut emit), 6 * kinds);
        assert_eq!(count("--real --chromium 3", &mut emit), 2 * kinds);
        assert_eq!(skipped, 1);
    }
}

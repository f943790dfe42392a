//! Scenes: the participants, their paths, and what they do.

use std::sync::Arc;
use std::time::Duration;

use super::cellular::Recording;
use super::channels::{pointers, table1};
use super::hand::Hands;
use super::path::{Path, transport};
use super::row::Setup;
use super::script::Script;
use crate::browsers::Network;
use crate::sim::{Capacity, Lane, LinkConfig, Loss, Queue};

const MS: Duration = Duration::from_millis(1);
/// The tick of rooms: the default.
pub(super) const TICK: Duration = Duration::from_millis(40);
/// The one-way delay of each hop: 50 ms from application to application and back.
pub(super) const HOP: Duration = Duration::from_micros(12_500);
/// The rate of a modem, in kbit/s each way.
const MODEM: f64 = 28.8;
/// The time by which all participants have joined; the traffic begins later.
pub(super) const JOINED: Duration = Duration::from_secs(2);
/// The participant that changes networks every [`STAY`], after [`BETWEEN`] without any network.
pub(super) const MOVER: usize = 3;
const STAY: Duration = Duration::from_secs(15);
const BETWEEN: Duration = Duration::from_millis(300);
/// The longest wait in the queue before a recorded link.
const CELLULAR_QUEUE: Duration = Duration::from_millis(300);

/// The participants of a room, their paths, and their messages.
#[derive(Debug, Clone)]
pub(super) struct Scene {
    pub(super) setup: Setup,
    /// The loss model of each leg, by name.
    pub(super) loss: String,
    /// The recorded link, if there is one.
    pub(super) link: Option<String>,
    pub(super) script: Arc<Script>,
    /// The path of each participant.
    pub(super) paths: Vec<Path>,
    pub(super) tick: Duration,
    /// The changes of paths, in the order of time.
    pub(super) turns: Vec<Turn>,
    /// The network of the experiment `web`, if it is one.
    pub(super) network: Option<Network>,
    /// The transport that pages use, if none of the lanes is like it. It is not simulated.
    pub(super) carrier: Option<&'static str>,
}

/// A change of a participant's path.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    pub(super) at: Duration,
    pub(super) who: usize,
    pub(super) path: Path,
    /// True if the path belongs to another network, in which the participant has another address.
    pub(super) moves: bool,
}

impl Scene {
    /// The traffic that Table 1 lists, from four participants.
    pub(super) fn table1(loss: &Loss, hands: &Hands, seed: u64, length: Duration) -> Self {
        let script = Arc::new(Script::table1(table1(), hands, seed, 4, length));
        let paths = vec![path(Lane::WebTransport, HOP, loss.clone()); 4];
        Scene::new(Setup::Table1, loss.to_string(), script, paths)
    }

    /// Four pointers behind modems.
    pub(super) fn modem(hands: &Hands, seed: u64, length: Duration) -> Self {
        let script = Arc::new(Script::pointers(pointers(250, 60), hands, seed, (4, 4), length));
        let link = LinkConfig {
            delay: HOP,
            loss: later(Loss::Random { percent: 20.0 }),
            capacity: Capacity::kbit(MODEM),
            queue: Queue::Time(300 * MS),
            ..LinkConfig::default()
        };
        let paths = vec![Path::both(Lane::WebTransport, link); 4];
        Scene::new(Setup::Modem, "rand20".to_owned(), script, paths)
    }

    /// Ten pointers over the network `lossy`.
    pub(super) fn lossy(lane: Lane, hands: &Hands, seed: u64, length: Duration) -> Self {
        let script = Arc::new(Script::pointers(pointers(100, 10), hands, seed, (10, 10), length));
        let paths = vec![path(lane, 20 * MS, Loss::Random { percent: 3.0 }); 10];
        let scene = Scene::new(Setup::Lossy, "rand3".to_owned(), script, paths);
        Scene { tick: Duration::ZERO, ..scene }
    }

    /// Four pointers, of whom one goes from Wi-Fi to a mobile network and back.
    pub(super) fn handover(hands: &Hands, seed: u64, length: Duration) -> Self {
        let script = Arc::new(Script::pointers(pointers(250, 50), hands, seed, (4, 4), length));
        let network = |(delay, percent)| {
            let loss = Loss::Random { percent };
            let link = LinkConfig { delay: delay * MS, loss, ..LinkConfig::default() };
            Path::both(Lane::WebTransport, link)
        };
        let networks = [(10, 1.0), (30, 2.0)].map(network);
        let nothing = network((10, 100.0));
        let turn = |at, path: &Path, moves| Turn { at, who: MOVER, path: path.clone(), moves };
        let mut turns = Vec::new();
        // The last move is not at the very end, so that its effect is measured.
        let last = script.end.saturating_sub(STAY / 3);
        let times = (1..).map(|n| JOINED + STAY * n).take_while(|at| *at < last);
        for (at, network) in times.zip(networks.iter().cycle().skip(1)) {
            turns.push(turn(at, &nothing, false));
            turns.push(turn(at + BETWEEN, network, true));
        }
        let wifi = path(Lane::WebTransport, 10 * MS, Loss::Random { percent: 1.0 });
        let paths = vec![wifi; 4];
        let scene = Scene::new(Setup::Handover, "rand1, rand2".to_owned(), script, paths);
        Scene { turns, ..scene }
    }

    /// Four pointers, of whom one is at the end of a recorded cellular link.
    pub(super) fn cellular(
        recording: &Recording,
        hands: &Hands,
        seed: u64,
        length: Duration,
    ) -> Self {
        let script = Arc::new(Script::pointers(pointers(250, 50), hands, seed, (4, 4), length));
        let link = |capacity| LinkConfig {
            delay: 20 * MS,
            capacity,
            queue: Queue::Time(CELLULAR_QUEUE),
            header: Lane::WebTransport.header(),
            ..LinkConfig::default()
        };
        let good = path(Lane::WebTransport, HOP, Loss::NONE);
        let mut paths = vec![good; 4];
        // Most links were recorded only in the direction to the participant.
        paths[MOVER].up = link(Capacity::kbit(5000.0));
        paths[MOVER].down = link(Capacity::Trace(Arc::clone(&recording.trace)));
        let scene = Scene::new(Setup::Cellular, Loss::NONE.to_string(), script, paths);
        Scene { link: Some(recording.to_string()), ..scene }
    }

    /// The transport of a participant.
    pub(super) fn transport(&self, who: usize) -> &'static str {
        self.carrier.unwrap_or(transport(self.paths[who].lane))
    }

    pub(super) fn new(setup: Setup, loss: String, script: Arc<Script>, paths: Vec<Path>) -> Self {
        let (link, turns, network, carrier) = (None, Vec::new(), None, None);
        Scene { setup, loss, link, script, paths, tick: TICK, turns, network, carrier }
    }
}

/// A path with the same link in both directions.
pub(super) fn path(lane: Lane, delay: Duration, loss: Loss) -> Path {
    Path::both(lane, LinkConfig { delay, loss: later(loss), ..LinkConfig::default() })
}

/// Nothing is lost while people join, because no handshake is simulated that would measure the
/// round trip.
pub(super) fn later(loss: Loss) -> Loss {
    Loss::Step { at: JOINED, before: Box::new(Loss::NONE), after: Box::new(loss) }
}

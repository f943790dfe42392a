//! The systems: Groupwire and its peers.

use std::path::{Path, PathBuf};
use std::process::Command;

use groupwire_ports::free_port;

use super::peer_client::Protocol;
use super::room::ROOM;
use super::{Options, Plan};
use crate::Result;
use crate::options::{is_wanted, or_usual};
use crate::program::installed;
use crate::server::{Start, UNLIMITED, groupwire};

/// All systems, in the order of the rows.
pub(super) const SYSTEMS: [&str; 16] = [
    "groupwire-websocket",
    "groupwire-webtransport",
    ROOM,
    BARE,
    "ws",
    "ws-batched",
    "socket.io",
    "socket.io-batched",
    "centrifugo",
    "centrifuge",
    "centrifuge-batched",
    "colyseus",
    "colyseus-state",
    "uwebsockets",
    "uwebsockets-batched",
    "y-websocket",
];

/// The bare program, a lower bound.
const BARE: &str = "bare";

/// The usual ticks, in ms: the default, and none.
const TICKS: [u64; 2] = [40, 0];

/// The ends of the names of peers that collect for a tick: messages, or changes of a state.
const COLLECTING: [&str; 2] = ["-batched", "-state"];

/// The hint for peers that are not installed.
const INSTALL: &str = "scripts/peers.sh installs the peers; --peers says where they are";

/// A system with a tick.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct System {
    pub(super) name: &'static str,
    pub(super) tick_ms: u64,
}

/// The kind of a system's clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clients {
    /// Groupwire's clients, over WebSocket.
    WebSocket,
    /// Groupwire's clients, over WebTransport.
    WebTransport,
    /// The clients of a peer.
    Peer(Protocol),
}

/// The systems that the options select. A peer that sends at once has only the tick 0, one that
/// collects messages only other ticks.
pub(super) fn systems(options: &Options) -> Vec<System> {
    let ticks = or_usual(&options.ticks, &TICKS);
    let system = |name: &'static str| {
        let takes = move |tick: &u64| match name {
            _ if name.starts_with("groupwire") || [ROOM, BARE].contains(&name) => true,
            _ => COLLECTING.iter().any(|ending| name.ends_with(ending)) == (*tick > 0),
        };
        let ticks = ticks.clone().into_iter().filter(takes);
        ticks.map(move |tick_ms| System { name, tick_ms })
    };
    // The room is no peer of servers, so it runs only if it is named.
    let is_all = options.systems.is_empty();
    let wanted = |name: &&str| is_wanted(&options.systems, *name) && !(is_all && *name == ROOM);
    let wanted = SYSTEMS.into_iter().filter(wanted);
    wanted.flat_map(system).collect()
}

impl System {
    pub(super) fn clients(&self) -> Clients {
        match self.kind() {
            "groupwire-websocket" => Clients::WebSocket,
            "groupwire-webtransport" => Clients::WebTransport,
            "socket.io" => Clients::Peer(Protocol::SocketIo),
            "centrifugo" | "centrifuge" => Clients::Peer(Protocol::Centrifugo),
            "colyseus" => Clients::Peer(Protocol::Colyseus),
            "y-websocket" => Clients::Peer(Protocol::Awareness),
            BARE => Clients::Peer(Protocol::Names),
            _ => Clients::Peer(Protocol::Bare),
        }
    }

    /// The command that starts the system's server, or the reason why it cannot.
    pub(super) fn start(&self, plan: &Plan<'_>) -> Result<Start> {
        let peers = plan.options.peers.as_path();
        let run = |command| Ok(Start { command, port: None });
        match self.kind() {
            "groupwire-websocket" => run(self.groupwire(&plan.program, false)),
            "groupwire-webtransport" => run(self.groupwire(&plan.program, true)),
            BARE => {
                let mut command = Command::new(std::env::current_exe()?);
                command.args(["fanout", "--serve-bare", &self.tick_ms.to_string()]);
                run(command)
            }
            "centrifugo" => centrifugo(peers),
            "centrifuge" => {
                let mut command =
                    Command::new(program("centrifuge", &peers.join("bin/centrifuge"))?);
                command.arg(self.tick_ms.to_string());
                run(command)
            }
            "uwebsockets" => {
                let bun = program("bun", &peers.join("node_modules/.bin/bun"))?;
                run(self.script(bun, peers)?)
            }
            _ => run(self.script(program("node", Path::new("node"))?, peers)?),
        }
    }

    /// The name without the suffix for collecting.
    fn kind(&self) -> &'static str {
        let shorter = COLLECTING.iter().find_map(|ending| self.name.strip_suffix(ending));
        shorter.unwrap_or(self.name)
    }

    fn groupwire(&self, program: &Path, webtransport: bool) -> Command {
        let mut command = groupwire(program, self.tick_ms, 0);
        command.args(UNLIMITED);
        if !webtransport {
            command.arg("--no-webtransport");
        }
        command
    }

    fn script(&self, program: PathBuf, peers: &Path) -> Result<Command> {
        let script = peers.join(format!("{}.cjs", self.kind()));
        if !script.is_file() || !peers.join("node_modules").is_dir() {
            return Err(format!("it is not in {}. {INSTALL}", peers.display()).into());
        }
        let mut command = Command::new(program);
        command.arg(script).arg(self.tick_ms.to_string()).env("NODE_ENV", "production");
        Ok(command)
    }
}

/// The path of a program: the file, if it exists, otherwise the program of this name on the path.
fn program(name: &str, file: &Path) -> Result<PathBuf> {
    let found = file.is_file().then(|| file.to_owned()).or_else(|| installed(&[name]));
    found.ok_or_else(|| format!("{name} is not installed. {INSTALL}").into())
}

/// Lets all clients do everything. Versions name the options differently, and ignore those of
/// others.
fn centrifugo(peers: &Path) -> Result<Start> {
    let Ok(program) = program("centrifugo", &peers.join("bin/centrifugo")) else {
        return Err("centrifugo is not on the path; the system centrifuge is its library".into());
    };
    let mut command = Command::new(program);
    // The server does not print the port that it takes for 0.
    let port = free_port()?;
    for (name, value) in [
        ("CLIENT_INSECURE", "true"),
        ("LOG_LEVEL", "error"),
        ("ADDRESS", "127.0.0.1"),
        ("PORT", &port.to_string()),
        ("HTTP_SERVER_ADDRESS", "127.0.0.1"),
        ("HTTP_SERVER_PORT", &port.to_string()),
    ] {
        command.env(format!("CENTRIFUGO_{name}"), value);
    }
    Ok(Start { command, port: Some(port) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::parsed;

    fn names(options: &str) -> Vec<(&'static str, u64)> {
        let found = super::systems(&parsed(options));
        found.into_iter().map(|system| (system.name, system.tick_ms)).collect()
    }

    #[test]
    fn what_sends_at_once_has_no_tick_and_batches_have_one() {
        let both = "--system ws --system ws-batched";
        assert_eq!(names(both), [("ws", 0), ("ws-batched", 40)]);
        assert_eq!(names(&format!("{both} --tick 20")), [("ws-batched", 20)]);
        let ours = [("groupwire-websocket", 40), ("groupwire-websocket", 0)];
        assert_eq!(names("--system groupwire-websocket"), ours);
        assert_eq!(names("").len(), SYSTEMS.len() + 2);
    }

    #[test]
    fn a_peer_that_is_not_there_says_how_to_get_it() {
        let options = parsed("--peers /nowhere");
        let plan = Plan {
            options: &options,
            program: PathBuf::new(),
            sizes: Vec::new(),
            times: crate::fanout::QUICK,
        };
        let system = System { name: "ws-batched", tick_ms: 40 };
        let Err(why) = system.start(&plan) else { panic!("it started") };
        assert!(why.to_string().contains("scripts/peers.sh"), "{why}");
    }
}

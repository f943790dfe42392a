//! The systems: Groupwire and its peers.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Options;
use super::speaker::Protocol;
use crate::program::installed;

/// All systems, in the order of the rows.
pub const SYSTEMS: [&str; 10] = [
    "groupwire-websocket",
    "groupwire-webtransport",
    "ws",
    "ws-batched",
    "socket.io",
    "socket.io-batched",
    "centrifugo",
    "uwebsockets",
    "uwebsockets-batched",
    "y-websocket",
];

/// The usual ticks: what users get, and at once.
const TICKS: [u64; 2] = [40, 0];

/// How to come by the peers.
const INSTALL: &str = "scripts/peers.sh installs the peers; --peers says where they are";

/// A system at a tick.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct System {
    pub(super) name: &'static str,
    pub(super) tick_ms: u64,
}

/// What its clients are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clients {
    /// Groupwire's, over WebSocket.
    WebSocket,
    /// Groupwire's, over WebTransport.
    WebTransport,
    /// A peer's.
    Peer(Protocol),
}

/// How its server starts.
pub(super) struct Start {
    pub(super) command: Command,
    /// None: it says so itself.
    pub(super) port: Option<u16>,
}

/// What was asked for. A peer that sends at once has a tick of 0, a batched one any other.
pub(super) fn systems(options: &Options) -> Result<Vec<System>, String> {
    if let Some(unknown) = options.systems.iter().find(|name| !SYSTEMS.contains(&name.as_str())) {
        return Err(format!("there is no system {unknown}; there are {}", SYSTEMS.join(", ")));
    }
    let wanted =
        |name: &&str| options.systems.is_empty() || options.systems.iter().any(|one| one == name);
    let ticks = if options.ticks.is_empty() { &TICKS[..] } else { &options.ticks };
    let system = |name: &'static str| {
        let takes = move |tick: &u64| match name {
            _ if name.starts_with("groupwire") => true,
            _ => name.ends_with("-batched") == (*tick > 0),
        };
        ticks.iter().copied().filter(takes).map(move |tick_ms| System { name, tick_ms })
    };
    Ok(SYSTEMS.into_iter().filter(wanted).flat_map(system).collect())
}

impl System {
    pub(super) fn clients(&self) -> Clients {
        match self.kind() {
            "groupwire-websocket" => Clients::WebSocket,
            "groupwire-webtransport" => Clients::WebTransport,
            "socket.io" => Clients::Peer(Protocol::SocketIo),
            "centrifugo" => Clients::Peer(Protocol::Centrifugo),
            "y-websocket" => Clients::Peer(Protocol::Awareness),
            _ => Clients::Peer(Protocol::Bare),
        }
    }

    /// How to start its server, or why it cannot.
    pub(super) fn start(&self, options: &Options) -> Result<Start, String> {
        let peers = options.peers.as_path();
        let run = |command| Ok(Start { command, port: None });
        match self.kind() {
            "groupwire-websocket" => run(self.groupwire(&options.program, false)),
            "groupwire-webtransport" => run(self.groupwire(&options.program, true)),
            "centrifugo" => centrifugo(peers),
            "uwebsockets" => {
                let bun = program("bun", &peers.join("node_modules/.bin/bun"))?;
                run(self.script(bun, peers)?)
            }
            _ => run(self.script(program("node", Path::new("node"))?, peers)?),
        }
    }

    fn kind(&self) -> &'static str {
        self.name.strip_suffix("-batched").unwrap_or(self.name)
    }

    fn groupwire(&self, program: &Path, webtransport: bool) -> Command {
        let mut command = Command::new(program);
        command.args(["serve", "--log", "error", "--listen", "127.0.0.1:0"]);
        command.args(["--tick", &self.tick_ms.to_string()]);
        if !webtransport {
            command.arg("--no-webtransport");
        }
        // What the user has set for servers of theirs is not meant for this one.
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("GROUPWIRE_") {
                command.env_remove(name);
            }
        }
        command
    }

    fn script(&self, program: PathBuf, peers: &Path) -> Result<Command, String> {
        let script = peers.join(format!("{}.cjs", self.kind()));
        if !script.is_file() || !peers.join("node_modules").is_dir() {
            return Err(format!("it is not in {}. {INSTALL}", peers.display()));
        }
        let mut command = Command::new(program);
        command.arg(script).arg(self.tick_ms.to_string()).env("NODE_ENV", "production");
        Ok(command)
    }
}

/// The first of a file and what is on the path.
fn program(name: &str, file: &Path) -> Result<PathBuf, String> {
    let found = file.is_file().then(|| file.to_owned()).or_else(|| installed(&[name]));
    found.ok_or_else(|| format!("{name} is not installed. {INSTALL}"))
}

/// Anybody may do everything there. Versions name the options differently; they ignore each other's.
fn centrifugo(peers: &Path) -> Result<Start, String> {
    let mut command = Command::new(program("centrifugo", &peers.join("bin/centrifugo"))?);
    // It does not say which port it took for 0. Free now, and so most likely in a moment.
    let port = TcpListener::bind(("127.0.0.1", 0)).and_then(|socket| socket.local_addr());
    let port = port.map_err(|error| error.to_string())?.port();
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

    fn names(systems: &[&str], ticks: &[u64]) -> Vec<(&'static str, u64)> {
        let systems = systems.iter().map(|name| (*name).to_owned()).collect();
        let options = Options { systems, ticks: ticks.to_vec(), ..Options::default() };
        let found = super::systems(&options).unwrap();
        found.into_iter().map(|system| (system.name, system.tick_ms)).collect()
    }

    #[test]
    fn what_sends_at_once_has_no_tick_and_batches_have_one() {
        assert_eq!(names(&["ws", "ws-batched"], &[]), [("ws", 0), ("ws-batched", 40)]);
        assert_eq!(names(&["ws", "ws-batched"], &[20]), [("ws-batched", 20)]);
        let both = [("groupwire-websocket", 40), ("groupwire-websocket", 0)];
        assert_eq!(names(&["groupwire-websocket"], &[]), both);
        assert_eq!(names(&[], &[]).len(), SYSTEMS.len() + 2);
        let options = Options { systems: vec!["x".to_owned()], ..Options::default() };
        assert!(super::systems(&options).unwrap_err().contains("there is no system x"));
    }

    #[test]
    fn a_peer_that_is_not_there_says_how_to_get_it() {
        let options = Options { peers: "/nowhere".into(), ..Options::default() };
        let system = System { name: "ws-batched", tick_ms: 40 };
        let Err(why) = system.start(&options) else { panic!("it started") };
        assert!(why.contains("scripts/peers.sh"), "{why}");
    }
}

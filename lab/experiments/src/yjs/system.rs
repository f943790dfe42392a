//! The systems: Groupwire with its provider, Groupwire's endpoint, and other servers of Yjs.

use std::process::Command;

use clap::ValueEnum;

use super::Plan;
use super::client::Dialect;
use crate::Result;
use crate::host::{Folder, serve};
use crate::options::named;
use crate::program::installed;
use crate::server::{Server, Start};

/// A server of Yjs documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum System {
    /// A room with the messages of `groupwire-yjs`, over WebSocket.
    Groupwire,
    /// y-websocket's messages to `/yjs/DOCUMENT`.
    GroupwireEndpoint,
    /// The server of y-websocket, without persistence.
    YWebsocket,
    /// The server of Hocuspocus, without persistence.
    Hocuspocus,
}

named!(System);

/// A server that runs, with its folder.
pub(super) struct Running {
    pub(super) server: Server,
    _folder: Option<Folder>,
}

impl System {
    /// The time for which its server collects messages.
    pub(super) fn tick_ms(self) -> u64 {
        match self {
            System::Groupwire | System::GroupwireEndpoint => 40,
            System::YWebsocket | System::Hocuspocus => 0,
        }
    }

    /// The protocol of its clients; `None`: they are participants of rooms.
    pub(super) fn dialect(self) -> Option<Dialect> {
        match self {
            System::Groupwire => None,
            System::GroupwireEndpoint => Some(Dialect { prefix: "/yjs/", is_named: false }),
            System::YWebsocket => Some(Dialect { prefix: "/", is_named: false }),
            System::Hocuspocus => Some(Dialect { prefix: "/", is_named: true }),
        }
    }

    /// Starts the system's server. Groupwire stores documents, the others keep them in memory.
    pub(super) fn start(self, plan: &Plan<'_>) -> Result<Running> {
        if let System::Groupwire | System::GroupwireEndpoint = self {
            let folder = Folder::new(&std::env::temp_dir())?;
            let server = serve(&plan.program, Some(folder.path()), self.tick_ms(), 0)?;
            return Ok(Running { server, _folder: Some(folder) });
        }
        let peers = &plan.options.peers;
        let script = peers.join(format!("{self}.cjs"));
        let node = installed(&["node"])
            .filter(|_| script.is_file() && peers.join("node_modules").is_dir());
        let Some(node) = node else {
            let peers = peers.display();
            let why = format!(
                "it is not in {peers}. scripts/peers.sh installs the peers; --peers says where they are"
            );
            return Err(why.into());
        };
        let mut command = Command::new(node);
        command.arg(script).env("NODE_ENV", "production");
        Ok(Running { server: Server::start(Start { command, port: None })?, _folder: None })
    }
}

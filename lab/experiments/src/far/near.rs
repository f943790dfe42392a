//! The near side: reaches an agent through the tunnel.

use std::io::{self, BufReader, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use groupwire_tunnel::{
    Codecs, Connect, ConnectConfig, Connections, Destination, Fingerprint, Forward,
    Options as TunnelOptions, Trust,
};
use serde::Serialize;
use tokio::runtime::Runtime;

use super::protocol::{
    Answer, Hash, PATIENCE, Relay, Request, Serve, TICKET, Task, is_timeout, read, write,
};
use super::sockets::Opened;
use super::{CONTROL, SINK, read_token};
use crate::Result;
use crate::browsers::{AllPorts, SERVERS};

/// The time in which the tunnel notes why a connection ended.
const NOTING: Duration = Duration::from_secs(2);

/// The options of experiments that can use another machine.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Access {
    /// Measure over the path to the machine at which `groupwire-lab far` listens, instead of
    /// simulated and emulated ones.
    #[arg(long, value_name = "HOST:PORT", requires_all = ["certificate", "token_file"])]
    far: Option<String>,

    /// With --far: the certificate's hash, which the agent prints.
    #[arg(long = "far-certificate", value_name = "HASH", requires = "far")]
    certificate: Option<Fingerprint>,

    /// With --far: the file with the agent's token.
    #[arg(long = "far-token-file", value_name = "FILE", requires = "far")]
    token_file: Option<PathBuf>,
}

impl Access {
    /// Whether another machine is asked for.
    pub(crate) fn is_asked_for(&self) -> bool {
        self.far.is_some()
    }
}

/// A tunnel to an agent, which is open until this is dropped.
#[derive(Debug)]
pub(crate) struct Near {
    /// Where the agent's sockets for measured packets are; the port is the tunnel's.
    agent: SocketAddr,
    token: String,
    control: SocketAddr,
    sink: SocketAddr,
    connections: Connections,
    /// The tunnel ends with it.
    _runtime: Runtime,
}

/// What a stream to the agent took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Streamed {
    /// The time from the first byte until the agent said that all had come.
    pub(crate) time: Duration,
    /// The bytes that the tunnel sent for it, before TLS.
    pub(crate) wire: u64,
}

impl Near {
    /// Starts a tunnel to the agent, whose streams this policy compresses. The agent is not
    /// contacted yet.
    ///
    /// # Errors
    /// A host without an address, a token that cannot be read.
    pub(crate) fn open(access: &Access, codecs: Codecs) -> Result<Self> {
        let (Some(server), Some(certificate), Some(token)) =
            (&access.far, access.certificate, &access.token_file)
        else {
            return Err("--far, --far-certificate and --far-token-file belong together".into());
        };
        let agent = server.to_socket_addrs().map_err(|error| format!("{server}: {error}"))?;
        let agent = agent.into_iter().next().ok_or_else(|| format!("{server} has no address"))?;
        let token = read_token(token)?;
        let runtime = Runtime::new()?;
        let listen = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
        let forward = |route: &str| Forward {
            listen,
            to: Destination::Route(route.to_owned()),
            never: false,
        };
        let mut options = TunnelOptions::default();
        options.codecs = codecs;
        let _guard = runtime.enter();
        let connect = Connect::bind(ConnectConfig {
            forwards: vec![forward(CONTROL), forward(SINK)],
            server: server.clone(),
            token: token.clone(),
            trust: Some(Trust::Pinned(certificate)),
            options,
        })?;
        let at: Vec<_> = connect.forwards().map(|forward| forward.listen).collect();
        let connections = connect.connections();
        runtime.spawn(connect.run(std::future::pending()));
        drop(_guard);
        let token = String::from_utf8(token).map_err(|_| "a token is text")?;
        let (control, sink) = (at[0], at[1]);
        Ok(Near { agent, token, control, sink, connections, _runtime: runtime })
    }

    /// Asks the agent to send back messages. Returns the connection that ends it when it is
    /// dropped, and the socket of the packets.
    ///
    /// # Errors
    /// The agent cannot be reached, or refuses.
    pub(crate) fn relay(&self, relay: &Relay, is_tcp: bool) -> Result<(TcpStream, Opened)> {
        let control = self.ask(self.control, &Task::Relay(relay.clone()))?;
        let mut answers = BufReader::new(control.try_clone()?);
        let (port, ticket) = match read(&mut answers).map_err(|error| self.silent(&error))? {
            Answer::Open { port, ticket } => (port, ticket_of(&ticket)?),
            other => return Err(unexpected(other)),
        };
        let agent = SocketAddr::new(self.agent.ip(), port);
        let is_seen = |wait: Duration| {
            answers.get_ref().set_read_timeout(Some(wait))?;
            match read(&mut answers) {
                Ok(Answer::Ready) => Ok(true),
                Ok(other) => Err(io::Error::other(unexpected(other).to_string())),
                Err(error) if is_timeout(&error) => Ok(false),
                Err(error) => Err(error),
            }
        };
        let opened = Opened::to(agent, is_tcp, &ticket, is_seen)?;
        Ok((control, opened))
    }

    /// Asks the agent to run the servers of the experiment `web`. Returns the connection that ends
    /// them when it is dropped, and their ports.
    ///
    /// # Errors
    /// The agent cannot be reached, or refuses.
    pub(crate) fn serve(&self, serve: &Serve) -> Result<(TcpStream, AllPorts)> {
        let control = self.ask(self.control, &Task::Serve(serve.clone()))?;
        let answer = read(&mut BufReader::new(&control)).map_err(|error| self.silent(&error))?;
        match answer {
            Answer::Serving { ports } if ports.servers.len() == SERVERS.len() => {
                Ok((control, ports))
            }
            other => Err(unexpected(other)),
        }
    }

    /// The agent's address, for servers that browsers reach.
    ///
    /// # Errors
    /// It is one of IPv6.
    pub(crate) fn address(&self) -> Result<Ipv4Addr> {
        match self.agent.ip() {
            IpAddr::V4(address) => Ok(address),
            IpAddr::V6(_) => Err("web needs an IPv4 address in --far".into()),
        }
    }

    /// Sends pieces to the agent, which checks that all came.
    ///
    /// # Errors
    /// The agent cannot be reached or refuses, or something else came than was sent.
    pub(crate) fn stream<'a>(&self, pieces: impl Iterator<Item = &'a [u8]>) -> Result<Streamed> {
        let mut stream = self.ask(self.sink, &())?;
        stream.set_nodelay(true)?;
        let (start, mut hash, mut sent) = (Instant::now(), Hash::default(), 0);
        for piece in pieces {
            stream.write_all(piece)?;
            hash.add(piece);
            sent += piece.len() as u64;
        }
        stream.shutdown(Shutdown::Write)?;
        stream.set_read_timeout(None)?;
        let answer = read(&mut BufReader::new(&stream)).map_err(|error| self.silent(&error))?;
        let time = start.elapsed();
        match answer {
            Answer::Came { bytes, hash: came } if bytes == sent && came == hash.0 => {}
            Answer::Came { bytes, .. } => {
                return Err(format!("{bytes} bytes came of {sent}, or other ones").into());
            }
            other => return Err(unexpected(other)),
        }
        // The tunnel's own count is complete once the connection has ended.
        drop(stream);
        let until = Instant::now() + PATIENCE;
        while self.connections.count() > 0 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        let reports = self.connections.take_ended().into_iter().filter_map(|one| one.report);
        Ok(Streamed { time, wire: reports.map(|report| report.wire_out).sum() })
    }

    /// A connection to a route of the agent, with the request.
    fn ask(&self, route: SocketAddr, what: &impl Serialize) -> Result<TcpStream> {
        let mut stream = TcpStream::connect(route)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let (token, version) = (self.token.clone(), env!("CARGO_PKG_VERSION").to_owned());
        // Where the far end has refused the connection already, there is nothing to write to.
        let asked = write(&mut stream, &Request { token, version, what });
        asked.map_err(|error| self.silent(&error))?;
        Ok(stream)
    }

    /// Why the agent does not answer, as far as the tunnel knows.
    fn silent(&self, error: &io::Error) -> String {
        // The tunnel may note why a connection ended a little later than this end of it is closed.
        let until = Instant::now() + NOTING;
        let why = loop {
            let ended = self.connections.take_ended();
            let why = ended.into_iter().find_map(|status| status.outcome?.err());
            if why.is_some() || Instant::now() > until {
                break why;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        format!(
            "the agent at {} does not answer: {}",
            self.agent,
            why.unwrap_or_else(|| error.to_string())
        )
    }
}

fn unexpected(answer: Answer) -> crate::Error {
    match answer {
        Answer::Refused { why } => format!("the agent refused: {why}").into(),
        other => format!("the agent answered something else: {other:?}").into(),
    }
}

fn ticket_of(digits: &str) -> Result<[u8; TICKET]> {
    let wrong = || "the agent's ticket is none".to_owned();
    if digits.len() != 2 * TICKET || !digits.is_ascii() {
        return Err(wrong().into());
    }
    let mut ticket = [0; TICKET];
    for (place, byte) in ticket.iter_mut().enumerate() {
        let pair = &digits[2 * place..2 * place + 2];
        *byte = u8::from_str_radix(pair, 16).map_err(|_| wrong())?;
    }
    Ok(ticket)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_32_digits() {
        assert_eq!(ticket_of(&"0f".repeat(TICKET)).unwrap(), [15; TICKET]);
        for wrong in ["", "0f", &"0g".repeat(TICKET), &"0f".repeat(TICKET + 1)] {
            assert!(ticket_of(wrong).is_err(), "{wrong}");
        }
    }
}

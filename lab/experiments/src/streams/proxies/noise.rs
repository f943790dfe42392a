//! The cost of a tunnel where compression gains nothing: noise, as fast as this machine's loopback
//! takes it.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::thread;
use std::time::Instant;

use tokio::io::copy_bidirectional_with_sizes;
use tokio::runtime::Runtime;

use super::pair::{Pair, Protection};
use super::row;
use crate::streams::Options;
use crate::{Result, Update};

pub(super) const SCENARIO: &str = "noise";

const BYTES: u64 = 4 << 30;
const QUICK_BYTES: u64 = 256 << 20;
/// The bytes that are written at a time.
const PIECE: usize = 256 << 10;
/// The buffer of the relays that only copy, as large as a block.
const BUFFER: usize = 64 << 10;

/// The ways of the noise: a direct connection; two relays that copy; tunnels.
const WAYS: [(&str, Option<Protection>); 6] = [
    ("direct", None),
    ("relay", None),
    ("never", Some(Protection::None)),
    ("groupwire", Some(Protection::None)),
    ("never", Some(Protection::Tls)),
    ("groupwire", Some(Protection::Tls)),
];

pub(super) fn run(
    (options, program): (&Options, &Path),
    emit: &mut dyn FnMut(Update),
) -> Result<()> {
    let bytes = options.common.quick_or(QUICK_BYTES, options.bytes.unwrap_or(BYTES));
    let runtime = Runtime::new()?;
    let ways: Vec<_> = WAYS.into_iter().filter(|(policy, _)| options.asks_for(policy)).collect();
    for (done, &(policy, protection)) in ways.iter().enumerate() {
        let file = match protection {
            Some(Protection::Tls) => "noise, TLS",
            _ => "noise",
        };
        emit(Update::Progress { done, total: ways.len(), what: format!("{file}, {policy}") });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let target = listener.local_addr()?;
        let (pair, entrance) = match (policy, protection) {
            ("relay", _) => (None, relay(&runtime, relay(&runtime, target)?)?),
            (_, Some(protection)) => {
                let ends = [Ipv4Addr::LOCALHOST; 2];
                let pair = Pair::protected(program, policy, target, ends, protection)?;
                let entrance = pair.entrance;
                (Some(pair), entrance)
            }
            _ => (None, target),
        };
        let (seconds, came) = transfer(&listener, entrance, bytes)?;
        drop(pair);
        let failure = (came != bytes).then(|| format!("{came} bytes came of {bytes}"));
        let row = row(options, SCENARIO, file, policy)
            .with("seconds", seconds)
            .with("bytes_in", bytes)
            .failed(failure);
        emit(Update::Row(row));
    }
    Ok(())
}

/// Sends `bytes` bytes of noise. Returns the seconds until they have arrived, and how many arrived.
fn transfer(listener: &TcpListener, entrance: SocketAddr, bytes: u64) -> io::Result<(f64, u64)> {
    let noise = noise();
    let mut client = TcpStream::connect(entrance)?;
    // A tunnel connects to its target before any data is sent.
    let (mut server, _) = listener.accept()?;
    let start = Instant::now();
    let came = thread::scope(|scope| {
        scope.spawn(move || {
            let mut left = bytes;
            while left > 0 {
                let piece = &noise[..(PIECE as u64).min(left) as usize];
                if server.write_all(piece).is_err() {
                    return;
                }
                left -= piece.len() as u64;
            }
        });
        let (mut came, mut piece) = (0, vec![0; PIECE]);
        while came < bytes {
            match client.read(&mut piece)? {
                0 => break,
                count => came += count as u64,
            }
        }
        io::Result::Ok(came)
    })?;
    Ok((start.elapsed().as_secs_f64(), came))
}

fn noise() -> Vec<u8> {
    let mut random = oorandom::Rand64::new(1);
    (0..PIECE / 8).flat_map(|_| random.rand_u64().to_le_bytes()).collect()
}

/// A relay to a target that only copies. Returns the address at which it accepts connections.
fn relay(runtime: &Runtime, target: SocketAddr) -> io::Result<SocketAddr> {
    let listener = runtime.block_on(tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
    let entrance = listener.local_addr()?;
    runtime.spawn(async move {
        let (mut from, _) = listener.accept().await?;
        let mut to = tokio::net::TcpStream::connect(target).await?;
        copy_bidirectional_with_sizes(&mut from, &mut to, BUFFER, BUFFER).await
    });
    Ok(entrance)
}

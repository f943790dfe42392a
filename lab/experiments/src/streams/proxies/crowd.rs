//! Many connections through a tunnel at once: whether all of them receive what they asked for, and
//! the memory of each.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::Barrier;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::pair::Pair;
use super::row;
use crate::streams::{ALL, Files, Options};
use crate::{Result, Row};

pub(super) const SCENARIO: &str = "crowd";
pub(super) const POLICY: &str = "groupwire";

/// Connections at the same time.
const CROWD: usize = 1000;
const QUICK_CROWD: usize = 100;
/// The bytes that each visitor receives, and those that it reads before all others have read as
/// much.
const ANSWER: usize = 1 << 20;
const FIRST: usize = 64 << 10;
/// The longest time for all visitors; a slower tunnel hangs.
const PATIENCE: Duration = Duration::from_secs(300);
/// The pause in which buffers fill up, and idle ones are freed.
const SETTLE: Duration = Duration::from_secs(3);

/// All visitors connect, read a part and stop reading, so that all buffers fill up; then they read
/// the rest.
pub(super) fn run((options, program): (&Options, &Path), files: &Files) -> Result<Row> {
    let bytes: Vec<u8> = files.benchmark.iter().flat_map(|sample| &sample.bytes).copied().collect();
    let crowd = Crowd { size: options.common.quick_or(QUICK_CROWD, CROWD), bytes: bytes.into() };
    let runtime = Runtime::new()?;
    let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
    let target = listener.local_addr()?;
    runtime.spawn(crowd.clone().serve(listener));
    let pair = Pair::start(program, POLICY, target, [Ipv4Addr::LOCALHOST; 2])?;
    let start = Instant::now();
    let outcome = runtime.block_on(async { timeout(PATIENCE, crowd.visit(&pair)).await });
    let row = row(options, SCENARIO, ALL, POLICY)
        .with("connections", crowd.size)
        .with("seconds", start.elapsed().as_secs_f64())
        .with("bytes_in", crowd.size * crowd.answer(0).len());
    Ok(match outcome.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
        Ok([busy, idle]) => {
            row.with("kib_per_connection", busy).with("kib_per_idle_connection", idle)
        }
        Err(error) => row.failed(Some(error)),
    })
}

#[derive(Clone)]
struct Crowd {
    size: usize,
    bytes: Arc<[u8]>,
}

impl Crowd {
    /// The answer for the visitor with this number: a part of the files, another one for each.
    fn answer(&self, number: usize) -> &[u8] {
        let length = ANSWER.min(self.bytes.len());
        let starts = self.bytes.len() - length + 1;
        let start = number * 65_537 % starts;
        &self.bytes[start..start + length]
    }

    /// Serves visitors, each of which sends its number first.
    async fn serve(self, listener: TcpListener) {
        while let Ok((mut visitor, _)) = listener.accept().await {
            let crowd = self.clone();
            tokio::spawn(async move {
                let number = visitor.read_u32().await? as usize;
                visitor.write_all(crowd.answer(number)).await?;
                // The connection stays open until the other end closes it.
                visitor.read_to_end(&mut Vec::new()).await
            });
        }
    }

    /// Runs all visitors at once. Returns the memory of both ends per connection, in KiB: while all
    /// buffers are full, and after a pause without traffic.
    async fn visit(&self, pair: &Pair) -> io::Result<[f64; 2]> {
        let before = memory(pair)?;
        let (have_part, have_all) =
            (Arc::new(Barrier::new(self.size + 1)), Arc::new(Barrier::new(self.size + 1)));
        let (go_on, go) =
            (Arc::new(Barrier::new(self.size + 1)), Arc::new(Barrier::new(self.size + 1)));
        let mut visitors = JoinSet::new();
        for number in 0..self.size {
            let (crowd, entrance) = (self.clone(), pair.entrance);
            let barriers = [&have_part, &go_on, &have_all, &go].map(Arc::clone);
            visitors.spawn(async move { crowd.visitor(number, entrance, barriers).await });
        }
        // A visitor that fails would never come to a barrier.
        let each = |memory: f64| (memory - before) / self.size as f64;
        let watch = async {
            have_part.wait().await;
            sleep(SETTLE).await;
            let busy = memory(pair)?;
            go_on.wait().await;
            have_all.wait().await;
            sleep(SETTLE).await;
            let idle = memory(pair)?;
            go.wait().await;
            io::Result::Ok([busy, idle])
        };
        let all = async {
            while let Some(outcome) = visitors.join_next().await {
                outcome.map_err(io::Error::other)??;
            }
            io::Result::Ok(())
        };
        let (measured, ()) = tokio::try_join!(watch, all)?;
        Ok(measured.map(each))
    }

    async fn visitor(
        &self,
        number: usize,
        entrance: SocketAddr,
        [have_part, go_on, have_all, go]: [Arc<Barrier>; 4],
    ) -> io::Result<()> {
        let mut connection = TcpStream::connect(entrance).await?;
        connection.write_u32(number as u32).await?;
        let expected = self.answer(number);
        let mut came = vec![0; expected.len()];
        let (first, rest) = came.split_at_mut(FIRST.min(expected.len()));
        connection.read_exact(first).await?;
        have_part.wait().await;
        go_on.wait().await;
        connection.read_exact(rest).await?;
        have_all.wait().await;
        go.wait().await;
        connection.shutdown().await?;
        let more = connection.read(&mut [0]).await?;
        if more > 0 || came != expected {
            return Err(io::Error::other(format!("connection {number} got other bytes")));
        }
        Ok(())
    }
}

/// The memory of both ends, in KiB.
fn memory(pair: &Pair) -> io::Result<f64> {
    let of = |process: u32| -> io::Result<f64> {
        let status = fs::read_to_string(format!("/proc/{process}/status"))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        kib.ok_or_else(|| io::Error::other("the system does not say what a process holds"))
    };
    pair.processes().into_iter().map(of).sum()
}

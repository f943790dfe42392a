//! curl fetches mixed files over the paper's networks, with and without a tunnel.

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::pair::Pair;
use super::row;
use super::site::Site;
use crate::emulator::{Emulator, Host, Path as LinkPath, PathStats};
use crate::program::installed;
use crate::sim::{Capacity, LinkConfig, Queue};
use crate::streams::real::{FAST, ROUND_TRIP, SLOW};
use crate::streams::{ALL, Files, Options};
use crate::{Result, Row, Update};

/// The round trip of the fast network, a campus.
const NEAR: Duration = Duration::from_millis(1);
/// The queue of the router before the link.
const QUEUE: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(300)];
/// The duration of a quick transfer without compression, in seconds.
const QUICK_SECONDS: f64 = 0.5;
/// The name of fetching without a tunnel; with one it is the policy of both ends of the tunnel.
const DIRECT: &str = "direct";
const POLICIES: [&str; 3] = [DIRECT, "never", "groupwire"];

pub(super) fn run(
    emulator: &Emulator,
    (options, program): (&Options, &Path),
    files: &Files,
    emit: &mut dyn FnMut(Update),
) -> Result<()> {
    let (Some(curl), Some(python)) = (installed(&["curl"]), installed(&["python3"])) else {
        let why = "it needs curl and python3: apt install curl python3".to_owned();
        emit(Update::Skipped { what: "fetching through a tunnel".to_owned(), why });
        return Ok(());
    };
    let networks = [("fast", FAST, NEAR, QUEUE[0]), ("slow", SLOW, ROUND_TRIP, QUEUE[1])];
    let networks: Vec<_> = networks.into_iter().filter(|one| options.includes(one.0)).collect();
    let policies: Vec<_> = POLICIES.into_iter().filter(|policy| options.asks_for(policy)).collect();
    let (total, mut done) = (networks.len() * policies.len(), 0);
    for (scenario, mbit, round_trip, queue) in networks {
        let seconds = options.common.quick_or(QUICK_SECONDS, options.seconds());
        let bytes = options.bytes.unwrap_or((seconds * mbit * 1e6 / 8.0) as u64);
        let site = Site::new(files, bytes)?;
        let server = site.serve(&python)?;
        let link = LinkConfig {
            capacity: Capacity::kbit(mbit * 1e3),
            queue: Queue::Time(queue),
            ..LinkConfig::default()
        };
        emulator.change(0, &LinkPath::symmetric(link, round_trip, 1));
        for policy in &policies {
            let what = format!("{scenario}, curl, {policy}, {} MB", site.bytes / 1_000_000);
            emit(Update::Progress { done, total, what });
            done += 1;
            let fetch = Fetch { curl: &curl, site: &site, server: server.port, emulator };
            let row = row(options, scenario, ALL, policy).with("network_mbit", mbit);
            emit(Update::Row(fetch.run(program, policy, row)?));
        }
    }
    Ok(())
}

struct Fetch<'a> {
    curl: &'a Path,
    site: &'a Site,
    server: u16,
    emulator: &'a Emulator,
}

impl Fetch<'_> {
    fn run(&self, program: &Path, policy: &str, row: Row) -> Result<Row> {
        let (pair, from) = match policy {
            DIRECT => (None, SocketAddr::from((Host::SERVER.remote(), self.server))),
            _ => {
                let target = SocketAddr::from((Ipv4Addr::LOCALHOST, self.server));
                let ends = [Host::SERVER.local(), Host::SERVER.remote()];
                let pair = Pair::start(program, policy, target, ends)?;
                let from = pair.entrance;
                (Some(pair), from)
            }
        };
        let before = self.emulator.stats(0);
        let start = Instant::now();
        let (came, failure) = self.fetch(from)?;
        let seconds = start.elapsed().as_secs_f64();
        let after = self.emulator.stats(0);
        drop(pair);
        let carried = |stats: &PathStats| stats.up_content + stats.down_content;
        Ok(row
            .with("seconds", seconds)
            .with("bytes_in", came)
            .with("bytes_wire", carried(&after) - carried(&before))
            .failed(failure))
    }

    /// Fetches all files once, over one connection after the other as curl does. Returns the bytes
    /// that arrived, and the first fault.
    fn fetch(&self, from: SocketAddr) -> io::Result<(u64, Option<String>)> {
        let mut command = Command::new(self.curl);
        command.args(["--silent", "--show-error", "--fail", "--noproxy", "*", "--config", "-"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let configuration = self.site.configuration(from);
        let asking =
            thread::spawn(move || input.map(|mut input| input.write_all(configuration.as_bytes())));
        let outcome = output.map(|output| self.site.compare(output));
        let _ = child.kill();
        let _ = (child.wait(), asking.join());
        outcome.unwrap_or_else(|| Err(io::ErrorKind::BrokenPipe.into()))
    }
}

//! Three NATS servers, which keep what they acknowledge on three disks: the engine of a cluster
//! unless options name another.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use groupwire_ports::free_port;
use serde_json::Value;

use super::deployment::SERVERS;
use crate::Result;
use crate::host::get;

/// How long the servers may take to start, and a server to find the leaders of all streams.
const STARTING: Duration = Duration::from_secs(60);
/// How long a server may take to answer.
const ANSWER: Duration = Duration::from_secs(5);
/// The time between two checks whether a condition holds.
const LOOK: Duration = Duration::from_millis(50);

/// The servers, which are killed when this is dropped.
pub(super) struct Nats {
    program: PathBuf,
    folder: PathBuf,
    ports: Vec<Ports>,
    running: Vec<Option<Child>>,
}

#[derive(Clone, Copy)]
struct Ports {
    clients: u16,
    routes: u16,
    monitoring: u16,
}

impl Nats {
    /// Starts the servers, with their files in a folder, and waits until they are healthy.
    pub(super) fn start(program: &Path, folder: PathBuf) -> Result<Self> {
        fs::create_dir_all(&folder)?;
        let ports = (0..SERVERS).map(|_| {
            Ok(Ports { clients: free_port()?, routes: free_port()?, monitoring: free_port()? })
        });
        let ports = ports.collect::<Result<Vec<_>>>()?;
        let running = (0..SERVERS).map(|_| None).collect();
        let mut nats = Nats { program: program.to_owned(), folder, ports, running };
        for at in 0..SERVERS {
            nats.restart(at)?;
        }
        nats.wait()?;
        Ok(nats)
    }

    /// The options of a server that uses them.
    pub(super) fn options(&self) -> Vec<String> {
        let all = |address: fn(&Ports) -> String| {
            self.ports.iter().map(address).collect::<Vec<_>>().join(",")
        };
        let engine = all(|ports| format!("nats://127.0.0.1:{}", ports.clients));
        let monitoring = all(|ports| format!("http://127.0.0.1:{}", ports.monitoring));
        vec![format!("--engine={engine}"), format!("--engine-monitoring={monitoring}")]
    }

    /// Starts a server that does not run.
    pub(super) fn restart(&mut self, at: usize) -> Result<()> {
        let Ports { clients, routes, monitoring } = self.ports[at];
        let others = self.ports.iter().map(|ports| format!("nats://127.0.0.1:{}", ports.routes));
        let others = others.collect::<Vec<_>>().join(", ");
        let store = self.folder.join(name(at));
        let text = format!(
            "server_name: {name}\nlisten: \"127.0.0.1:{clients}\"\nhttp: \"127.0.0.1:{monitoring}\"\n\
             jetstream {{ store_dir: \"{store}\", sync_interval: always }}\n\
             cluster {{ name: lab, listen: \"127.0.0.1:{routes}\", routes: [{others}] }}\n",
            name = name(at),
            store = store.display()
        );
        let config = self.folder.join(format!("{}.conf", name(at)));
        fs::write(&config, text)?;
        let mut command = Command::new(&self.program);
        command.arg("-c").arg(config).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn();
        let child = child.map_err(|error| format!("{}: {error}", self.program.display()))?;
        self.running[at] = Some(child);
        Ok(())
    }

    pub(super) fn kill(&mut self, at: usize) {
        if let Some(mut child) = self.running[at].take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Waits until all servers are healthy, JetStream included.
    pub(super) fn wait(&self) -> Result<()> {
        let start = Instant::now();
        let is_healthy = |ports: &Ports| get(ports.monitoring, "/healthz", ANSWER).is_some();
        while !self.ports.iter().all(is_healthy) {
            if start.elapsed() > STARTING {
                return Err("the NATS servers do not start".into());
            }
            sleep(LOOK);
        }
        Ok(())
    }

    /// The server that leads most streams with logs.
    pub(super) fn leader(&self) -> Result<usize> {
        let start = Instant::now();
        while start.elapsed() < STARTING {
            let answer = get(self.ports[0].monitoring, "/jsz?streams=true", ANSWER);
            let answer = answer.and_then(|text| serde_json::from_str(&text).ok());
            let led = leads(&answer.unwrap_or_default());
            if let Some(most) = led.iter().max().filter(|most| **most > 0) {
                return Ok(led.iter().position(|count| count == most).unwrap_or_default());
            }
            sleep(LOOK);
        }
        Err("no NATS server leads a stream".into())
    }

    /// The processes of the servers that run.
    pub(super) fn processes(&self) -> impl Iterator<Item = u32> {
        self.running.iter().flatten().map(Child::id)
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        (0..SERVERS).for_each(|at| self.kill(at));
    }
}

fn name(at: usize) -> String {
    format!("nats-{at}")
}

/// The number of streams with logs that each server leads, in an answer to `/jsz?streams=true`.
fn leads(answer: &Value) -> [usize; SERVERS] {
    let accounts = answer["account_details"].as_array().into_iter().flatten();
    let streams = accounts.flat_map(|account| account["stream_detail"].as_array()).flatten();
    // Streams with logs end in a number, those with blobs and beats do not.
    let logs = streams.filter(|stream| {
        let name = stream["name"].as_str().unwrap_or_default();
        name.starts_with("GW_") && name.ends_with(|last: char| last.is_ascii_digit())
    });
    let leaders: Vec<&str> =
        logs.filter_map(|stream| stream["cluster"]["leader"].as_str()).collect();
    std::array::from_fn(|at| leaders.iter().filter(|leader| **leader == name(at)).count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn streams_with_logs_are_counted_by_their_leaders() {
        let stream = |name, leader| json!({ "name": name, "cluster": { "leader": leader } });
        let answer = json!({ "account_details": [{ "stream_detail": [
            stream("GW_groupwire_0", "nats-2"),
            stream("GW_groupwire_1", "nats-0"),
            stream("GW_groupwire_2", "nats-2"),
            stream("GW_groupwire_beats", "nats-1"),
            stream("other_1", "nats-1"),
            json!({ "name": "GW_groupwire_3" }),
        ] }] });
        assert_eq!(leads(&answer), [1, 0, 2]);
        assert_eq!(leads(&json!(null)), [0; SERVERS]);
    }
}

//! A balancer in front of the servers, which knows nothing of rooms and asks each server every
//! second whether it is ready, as docs/cluster.md advises.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::time::{MissedTickBehavior, interval};

use crate::Result;
use crate::host::get;

/// The time between two questions to a server, and the longest wait for its answer.
const CHECK: Duration = Duration::from_secs(1);

/// Passes connections on until it is dropped.
pub(super) struct Balancer {
    pub(super) port: u16,
    _runtime: Runtime,
}

/// A server behind the balancer.
struct Backend {
    port: u16,
    is_ready: AtomicBool,
}

impl Balancer {
    /// A balancer in front of servers at these ports.
    pub(super) fn new(ports: &[u16]) -> Result<Self> {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind(("127.0.0.1", 0)))?;
        let port = listener.local_addr()?.port();
        let backends: Vec<Arc<Backend>> = ports
            .iter()
            .map(|&port| Arc::new(Backend { port, is_ready: AtomicBool::new(true) }))
            .collect();
        for backend in &backends {
            runtime.spawn(check(Arc::clone(backend)));
        }
        runtime.spawn(accept(listener, backends.into()));
        Ok(Balancer { port, _runtime: runtime })
    }
}

async fn check(backend: Arc<Backend>) {
    let mut clock = interval(CHECK);
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        clock.tick().await;
        let port = backend.port;
        let answer = tokio::task::spawn_blocking(move || get(port, "/readyz", CHECK)).await;
        let is_ready = matches!(answer, Ok(Some(_)));
        backend.is_ready.store(is_ready, Ordering::Relaxed);
    }
}

async fn accept(listener: TcpListener, backends: Arc<[Arc<Backend>]>) {
    let turn = Arc::new(AtomicUsize::new(0));
    while let Ok((client, _)) = listener.accept().await {
        tokio::spawn(pass_on(client, Arc::clone(&backends), Arc::clone(&turn)));
    }
}

/// Passes a connection on to the next server that is ready and accepts it. Closes it if there is
/// none.
async fn pass_on(mut client: TcpStream, backends: Arc<[Arc<Backend>]>, turn: Arc<AtomicUsize>) {
    for _ in 0..backends.len() {
        let backend = &backends[turn.fetch_add(1, Ordering::Relaxed) % backends.len()];
        if !backend.is_ready.load(Ordering::Relaxed) {
            continue;
        }
        if let Ok(mut server) = TcpStream::connect(("127.0.0.1", backend.port)).await {
            let _ = client.set_nodelay(true);
            let _ = server.set_nodelay(true);
            let _ = copy_bidirectional(&mut client, &mut server).await;
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net;

    use super::*;

    /// A server that answers each request with the byte.
    fn server(says: u8) -> u16 {
        let listener = net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut request = [0; 1];
                if stream.read(&mut request).is_ok() {
                    let _ = stream.write_all(&[says]);
                }
            }
        });
        port
    }

    #[test]
    fn connections_go_to_the_servers_in_turns_and_never_to_one_that_is_gone() {
        let gone = groupwire_ports::free_port().unwrap();
        let balancer = Balancer::new(&[server(b'a'), gone, server(b'b')]).unwrap();
        let mut said = Vec::new();
        for _ in 0..2 {
            let mut client = net::TcpStream::connect(("127.0.0.1", balancer.port)).unwrap();
            client.write_all(b"?").unwrap();
            let mut answer = [0; 1];
            client.read_exact(&mut answer).unwrap();
            said.push(answer[0]);
        }
        said.sort();
        assert_eq!(said, b"ab");
    }
}

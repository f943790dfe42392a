//! A balancer in front of the servers of a cluster, which knows nothing of rooms.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

/// Passes each TCP connection on to the next server at these ports that accepts it. Returns the
/// address for clients.
pub(super) async fn balance(ports: Vec<u16>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("ws://{}", listener.local_addr().unwrap());
    let (ports, turn) = (Arc::new(ports), Arc::new(AtomicUsize::new(0)));
    tokio::spawn(async move {
        loop {
            let Ok((mut client, _)) = listener.accept().await else { return };
            let (ports, turn) = (Arc::clone(&ports), Arc::clone(&turn));
            tokio::spawn(async move {
                for _ in 0..ports.len() {
                    let port = ports[turn.fetch_add(1, Ordering::Relaxed) % ports.len()];
                    if let Ok(mut server) = TcpStream::connect(("127.0.0.1", port)).await {
                        let _ = copy_bidirectional(&mut client, &mut server).await;
                        return;
                    }
                }
            });
        }
    });
    address
}

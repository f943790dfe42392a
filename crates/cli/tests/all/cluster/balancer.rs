//! A balancer in front of the servers of a cluster, which knows nothing of rooms.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// How long a server may take to accept a connection.
const PATIENCE: Duration = Duration::from_secs(1);

/// Passes each TCP connection on to the next server that accepts it. Returns the address for
/// clients.
pub(super) async fn balance(servers: Vec<SocketAddr>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("ws://{}", listener.local_addr().unwrap());
    let (servers, turn) = (Arc::new(servers), Arc::new(AtomicUsize::new(0)));
    tokio::spawn(async move {
        loop {
            let Ok((mut client, _)) = listener.accept().await else { return };
            let (servers, turn) = (Arc::clone(&servers), Arc::clone(&turn));
            tokio::spawn(async move {
                for _ in 0..servers.len() {
                    let server = servers[turn.fetch_add(1, Ordering::Relaxed) % servers.len()];
                    if let Ok(Ok(mut server)) = timeout(PATIENCE, TcpStream::connect(server)).await
                    {
                        let _ = copy_bidirectional(&mut client, &mut server).await;
                        return;
                    }
                }
            });
        }
    });
    address
}

//! Connections that were accepted and wait until the server works on them.
//!
//! The kernel's queue of a listener has a fixed length, 4,096 at most on many systems. When it is full, the kernel drops packets of
//! those who connect, and TCP tries again only after 1, 3 and 7 s: of ten thousand clients that come back at once, some would be away
//! for ten seconds more than the others. So connections are accepted as fast as they come, and wait here for their turn.
//! A waiting connection takes a socket and half a kilobyte, as its handshakes have not begun.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::io::Interest;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::arrivals::{Arrivals, Newcomer};
use crate::drain::Drain;
use crate::listen::accept;

/// A client that has waited for this long may have given up meanwhile, so this is looked at before the server works on it.
const PATIENT: Duration = Duration::from_secs(1);

/// See the [module](self). `A` counts a connection until it is dropped.
pub(crate) struct Backlog<A> {
    newcomer: Newcomer,
    waiting: Mutex<VecDeque<Waiting<A>>>,
    /// Notified when a connection was added.
    added: Notify,
    /// Notified when a connection was taken.
    taken: Notify,
}

struct Waiting<A> {
    socket: TcpStream,
    peer: SocketAddr,
    counted: A,
    since: Instant,
}

impl<A> Backlog<A> {
    pub(crate) fn new(newcomer: Newcomer) -> Self {
        let (waiting, added, taken) = (Mutex::default(), Notify::new(), Notify::new());
        Backlog { newcomer, waiting, added, taken }
    }

    /// Accepts connections until it is time to say goodbye, and closes the listener then. Connections for which `admit` returns
    /// nothing are closed. While `most` of them wait, further ones wait in the kernel.
    pub(crate) async fn fill(
        &self,
        listener: TcpListener,
        most: impl Fn(Newcomer) -> usize,
        drain: &Drain,
        mut admit: impl FnMut(SocketAddr) -> Option<A>,
    ) {
        let accepting = async {
            loop {
                while self.lock().len() >= most(self.newcomer) {
                    self.taken.notified().await;
                }
                let (socket, peer) = accept(&listener).await;
                if let Some(counted) = admit(peer) {
                    let since = Instant::now();
                    self.lock().push_back(Waiting { socket, peer, counted, since });
                    self.added.notify_one();
                }
            }
        };
        tokio::select! {
            () = accepting => {}
            _ = drain.due() => {}
        }
    }

    /// The connection that has waited longest, when the server may work on it.
    pub(crate) async fn next(&self, arrivals: &Arrivals) -> (TcpStream, SocketAddr, A) {
        loop {
            let next = self.lock().pop_front();
            let Some(Waiting { socket, peer, counted, since }) = next else {
                self.added.notified().await;
                continue;
            };
            self.taken.notify_one();
            if since.elapsed() >= PATIENT && has_gone(&socket) {
                tracing::debug!(%peer, "a client has gone away before its turn");
                continue;
            }
            arrivals.connected(self.newcomer).await;
            return (socket, peer, counted);
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Waiting<A>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// True if the client has closed the connection.
fn has_gone(socket: &TcpStream) -> bool {
    match socket.ready(Interest::READABLE).now_or_never() {
        Some(Ok(ready)) => ready.is_read_closed(),
        Some(Err(_)) => true,
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use futures_util::future::join_all;
    use tokio::net::TcpSocket;
    use tokio::task::yield_now;
    use tokio::time::{advance, pause};

    use super::*;
    use crate::arrivals::ArrivalLimits;
    use crate::drain::{DrainConfig, Ending};

    const KERNEL: u32 = 4;

    fn listener() -> (TcpListener, SocketAddr) {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let listener = socket.listen(KERNEL).unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    }

    async fn fills(backlog: &Backlog<()>, connections: usize) {
        while backlog.lock().len() < connections {
            yield_now().await;
        }
    }

    fn parts() -> (Backlog<()>, Arrivals, Drain) {
        let arrivals = Arrivals::new(ArrivalLimits::default());
        (Backlog::new(Newcomer::Plain), arrivals, Drain::new(DrainConfig::default()))
    }

    #[tokio::test]
    async fn more_connections_than_the_kernel_keeps_are_accepted_while_the_server_works_on_none() {
        const CLIENTS: usize = 100;
        let ((listener, address), (backlog, arrivals, drain)) = (listener(), parts());
        let clients = async {
            let mut clients = Vec::new();
            for _ in 0..CLIENTS {
                clients.push(TcpStream::connect(address).await.unwrap());
            }
            fills(&backlog, CLIENTS).await;
            // Those that came before the end of accepting are served, too.
            drain.end_wait(Ending::Stop);
            let mut served = Vec::new();
            for _ in 0..CLIENTS {
                served.push(backlog.next(&arrivals).await.1);
            }
            assert!(clients.iter().all(|client| served.contains(&client.local_addr().unwrap())));
        };
        tokio::join!(backlog.fill(listener, |_| CLIENTS, &drain, |_| Some(())), clients);
        assert!(TcpStream::connect(address).await.is_err(), "the listener is closed");
    }

    #[tokio::test]
    async fn while_too_many_wait_no_other_connection_is_accepted() {
        let ((listener, address), (backlog, arrivals, drain)) = (listener(), parts());
        let taking = async {
            let clients = join_all((0..KERNEL).map(|_| TcpStream::connect(address))).await;
            fills(&backlog, 2).await;
            for left in (0..KERNEL).rev() {
                for _ in 0..100 {
                    yield_now().await;
                    assert!(backlog.lock().len() <= 2);
                }
                backlog.next(&arrivals).await;
                fills(&backlog, left.min(2) as usize).await;
            }
            drop(clients);
            drain.end_wait(Ending::Stop);
        };
        tokio::join!(backlog.fill(listener, |_| 2, &drain, |_| Some(())), taking);
    }

    #[tokio::test]
    async fn clients_that_have_gone_away_meanwhile_are_left_out() {
        let ((listener, address), (backlog, arrivals, drain)) = (listener(), parts());
        let clients = async {
            let gone = TcpStream::connect(address).await.unwrap();
            fills(&backlog, 1).await;
            let stays = TcpStream::connect(address).await.unwrap();
            fills(&backlog, 2).await;
            drop(gone);
            let closed = || {
                let waiting = backlog.lock();
                has_gone(&waiting[0].socket)
            };
            while !closed() {
                yield_now().await;
            }
            pause();
            advance(PATIENT).await;
            let (_, peer, ()) = backlog.next(&arrivals).await;
            assert_eq!(peer, stays.local_addr().unwrap());
            drain.end_wait(Ending::Stop);
        };
        tokio::join!(backlog.fill(listener, |_| 2, &drain, |_| Some(())), clients);
    }
}

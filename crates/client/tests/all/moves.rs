//! A client whose address changes while it is connected.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use groupwire_client::{Options, Qos, Room, SendOptions, Trust};
use tokio::net::UdpSocket;

use crate::support::{Over, Running, any_port, synced, texts};

/// Relays the datagrams of one client to a server, from an address that changes.
struct Relay {
    front: Arc<UdpSocket>,
    server: SocketAddr,
    back: Mutex<Arc<UdpSocket>>,
    /// The client's addresses. Each connection has another one.
    clients: Mutex<Vec<SocketAddr>>,
}

impl Relay {
    async fn start(server: SocketAddr) -> Arc<Self> {
        let relay = Arc::new(Relay {
            front: Arc::new(UdpSocket::bind("127.0.0.1:0").await.unwrap()),
            server,
            back: Mutex::new(socket(Ipv4Addr::LOCALHOST).await),
            clients: Mutex::default(),
        });
        relay.answer();
        let carrying = Arc::clone(&relay);
        tokio::spawn(async move { carrying.carry().await });
        relay
    }

    /// From now on the server sees the client at another address, and datagrams to the old address
    /// are dropped.
    async fn move_to(self: &Arc<Self>, address: Ipv4Addr) {
        let socket = socket(address).await;
        *self.back.lock().unwrap() = socket;
        self.answer();
    }

    fn back(&self) -> Arc<UdpSocket> {
        Arc::clone(&self.back.lock().unwrap())
    }

    async fn carry(&self) {
        let mut buffer = [0; 2048];
        while let Ok((size, client)) = self.front.recv_from(&mut buffer).await {
            {
                let mut clients = self.clients.lock().unwrap();
                if !clients.contains(&client) {
                    clients.push(client);
                }
            }
            let _ = self.back().send_to(&buffer[..size], self.server).await;
        }
    }

    /// Starts to relay the server's datagrams to the present address back to the client.
    fn answer(self: &Arc<Self>) {
        let (relay, back) = (Arc::clone(self), self.back());
        tokio::spawn(async move {
            let mut buffer = [0; 2048];
            while let Ok((size, _)) = back.recv_from(&mut buffer).await {
                let client = relay.clients.lock().unwrap().last().copied();
                if let Some(client) = client.filter(|_| Arc::ptr_eq(&back, &relay.back())) {
                    let _ = relay.front.send_to(&buffer[..size], client).await;
                }
            }
        });
    }
}

async fn socket(address: Ipv4Addr) -> Arc<UdpSocket> {
    Arc::new(UdpSocket::bind((address, 0)).await.unwrap())
}

/// A router may give the connection another port; another network gives it another address.
#[tokio::test(flavor = "multi_thread")]
async fn t26_a_webtransport_connection_goes_on_from_another_address() {
    let server = Running::start(any_port()).await;
    let relay = Relay::start(server.udp()).await;
    let url = format!("https://{}", relay.front.local_addr().unwrap());
    let trust = Trust::Hashes(server.hashes.clone());
    let (mover, mut to_mover) = Room::connect_trusting(&url, trust, Options::new("moves")).unwrap();
    let (friend, mut to_friend) = server.connect(Over::Ws, "moves");
    let open = |room: &Room| room.channel("chat", Qos::transaction()).unwrap();
    let (here, there) = (open(&mover), open(&friend));
    synced(&mut to_mover).await;
    synced(&mut to_friend).await;

    // Not all systems have a second loopback address.
    let far = Ipv4Addr::new(127, 0, 0, 2);
    let has_far = UdpSocket::bind((far, 0)).await.is_ok();
    let far = if has_far { far } else { Ipv4Addr::LOCALHOST };
    for (number, address) in [Ipv4Addr::LOCALHOST, far, Ipv4Addr::LOCALHOST].into_iter().enumerate()
    {
        relay.move_to(address).await;
        let (one, other) = (format!("from the mover {number}"), format!("to the mover {number}"));
        here.send(one.as_str(), SendOptions::default()).unwrap();
        assert_eq!(texts(&mut to_friend, 1).await, [one.as_str()]);
        there.send(other.as_str(), SendOptions::default()).unwrap();
        assert_eq!(texts(&mut to_mover, 2).await, [one, other.clone()]);
        assert_eq!(texts(&mut to_friend, 1).await, [other]);
    }
    // It was the same connection all the time.
    assert_eq!(relay.clients.lock().unwrap().len(), 1);
    mover.leave().await;
    server.stop().await;
}

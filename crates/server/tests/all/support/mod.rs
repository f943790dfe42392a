//! A real server over real sockets, for all tests of this folder.

pub(crate) mod certificate;
pub(crate) mod http;
pub(crate) mod http_transport;
pub(crate) mod person;
pub(crate) mod receiver;
pub(crate) mod secure;
pub(crate) mod tokens;
pub(crate) mod users;
pub(crate) mod wire;

use std::net::SocketAddr;
use std::time::Duration;

use groupwire_server::session::Qos;
use groupwire_server::session::client::{Client, Config as ClientConfig, Input, Output};
use groupwire_server::{AdminConfig, AdminToken, Config, Server};
use tokio::task::JoinHandle;

/// A time limit that no test reaches, even on a loaded machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) async fn server() -> SocketAddr {
    server_with(Config::default()).await
}

pub(crate) async fn server_with(config: Config) -> SocketAddr {
    servers_with(config).await.0
}

/// Starts a server; its addresses of HTTP and of plain TCP.
pub(crate) async fn servers_with(config: Config) -> (SocketAddr, SocketAddr) {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let config = Config { listen: any, socket: Some(any), ..config };
    let server = Server::bind(config).await.unwrap();
    let addresses = (server.local_addr(), server.socket_addr().unwrap());
    tokio::spawn(server.run(std::future::pending()));
    addresses
}

/// The addresses of a server with an administration listener.
pub(crate) struct Administered {
    pub(crate) public: SocketAddr,
    pub(crate) socket: SocketAddr,
    pub(crate) admin: SocketAddr,
}

/// An administration listener whose token is [`http::TOKEN`].
pub(crate) fn admin_config() -> AdminConfig {
    let token = Some(AdminToken::new(http::TOKEN).unwrap());
    AdminConfig { token, ..AdminConfig::default() }
}

/// Starts a server with an administration listener.
pub(crate) async fn administered(config: Config) -> Administered {
    start_administered(config).await.0
}

/// The same, with the task of the server.
pub(crate) async fn start_administered(config: Config) -> (Administered, JoinHandle<()>) {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let admin = Some(admin_config());
    let config = Config { listen: any, socket: Some(any), admin, ..config };
    let server = Server::bind(config).await.unwrap();
    let public = server.local_addr();
    let (socket, admin) = (server.socket_addr().unwrap(), server.admin_addr().unwrap());
    let running = tokio::spawn(async { server.run(std::future::pending()).await.unwrap() });
    (Administered { public, socket, admin }, running)
}

/// The first packet of a client, for tests that modify it.
pub(crate) fn opening(room: &str) -> Vec<u8> {
    let mut client = Client::new(Duration::ZERO, ClientConfig::new(room)).unwrap();
    client.channel("draw", Qos::transaction()).unwrap();
    loop {
        match client.poll_output(Duration::ZERO) {
            Output::Dial => client.handle_input(Duration::ZERO, Input::Opened { max_datagram: 0 }),
            Output::Send(packet) => return packet,
            Output::Event(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// The value of a field of `/status`.
pub(crate) async fn status(address: SocketAddr, name: &str) -> u64 {
    let answer = http::get(address, "/status", &[]).await;
    let text = String::from_utf8(answer.body).unwrap();
    let (_, value) = text.split_once(&format!("\"{name}\":")).unwrap();
    value.split([',', '}']).next().unwrap().parse().unwrap()
}

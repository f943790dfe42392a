//! Programs that choose their targets by SOCKS, over real sockets.

use std::net::{Ipv4Addr, SocketAddr};

use groupwire_tunnel::{
    Connect, ConnectConfig, Connections, Destination, Fingerprint, Forward, Listen, ListenConfig,
    Options, Trust,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::support::{ended, identity, in_time, is_packed, mixed};

const HERE: &str = "127.0.0.1:0";

/// Starts both ends of a tunnel, with TLS. Returns the address for programs that speak SOCKS, and
/// the connections of both ends. The tunnel runs until the test ends.
fn tunnel(routes: &[String], allow: &[String], never: bool) -> (SocketAddr, [Connections; 2]) {
    let options = Options::default();
    let listen = Listen::bind(ListenConfig {
        listen: HERE.parse().unwrap(),
        routes: routes.iter().map(|route| route.parse().unwrap()).collect(),
        allow: allow.iter().map(|rule| rule.parse().unwrap()).collect(),
        token: Vec::new(),
        identity: Some(identity()),
        options: options.clone(),
    });
    let listen = listen.unwrap();
    let connect = connect(listen.local_addr(), listen.fingerprint(), never);
    let address = connect.forwards().next().unwrap().listen;
    let connections = [connect.connections(), listen.connections()];
    tokio::spawn(listen.run(std::future::pending()));
    tokio::spawn(connect.run(std::future::pending()));
    (address, connections)
}

/// The connecting end for programs that speak SOCKS.
fn connect(server: SocketAddr, trust: Option<Fingerprint>, never: bool) -> Connect {
    let text = if never { "0,never" } else { "0" };
    let config = ConnectConfig {
        forwards: vec![Forward::choosing(text, Destination::Socks).unwrap()],
        server: server.to_string(),
        token: Vec::new(),
        trust: trust.map(Trust::Pinned),
        options: Options::default(),
    };
    Connect::bind(config).unwrap()
}

/// Starts a server that echoes each connection. It listens on this address of the machine.
async fn echo(address: &str) -> SocketAddr {
    let listener = TcpListener::bind((address, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut program, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut reader, mut writer) = program.split();
                if tokio::io::copy(&mut reader, &mut writer).await.is_ok() {
                    let _ = writer.shutdown().await;
                }
            });
        }
    });
    address
}

/// A request to connect to a name.
fn by_name(name: &str, port: u16) -> Vec<u8> {
    let mut request = vec![5, 1, 0, 5, 1, 0, 3, name.len() as u8];
    request.extend(name.bytes());
    request.extend(port.to_be_bytes());
    request
}

/// A request to connect to an address.
fn by_address(address: SocketAddr) -> Vec<u8> {
    let mut request = vec![5, 1, 0, 5, 1, 0];
    match address.ip() {
        std::net::IpAddr::V4(ip) => {
            request.push(1);
            request.extend(ip.octets());
        }
        std::net::IpAddr::V6(ip) => {
            request.push(4);
            request.extend(ip.octets());
        }
    }
    request.extend(address.port().to_be_bytes());
    request
}

/// Sends a request with bytes behind it, ends, and returns everything that comes back.
async fn ask(socks: SocketAddr, request: &[u8], bytes: &[u8]) -> Vec<u8> {
    let mut program = TcpStream::connect(socks).await.unwrap();
    let (mut reader, mut writer) = program.split();
    let mut received = Vec::new();
    let (_, read) = tokio::join!(
        async {
            writer.write_all(request).await?;
            writer.write_all(bytes).await?;
            writer.shutdown().await
        },
        reader.read_to_end(&mut received)
    );
    read.unwrap();
    received
}

/// What precedes the bytes of a target: the chosen method, and the reply with this code.
fn replied(code: u8) -> Vec<u8> {
    vec![5, 0, 5, code, 0, 1, 0, 0, 0, 0, 0, 0]
}

#[tokio::test]
async fn a_program_reaches_the_target_that_it_names() {
    let (four, six) = (echo("127.0.0.1").await, echo("::1").await);
    let allow = ["127.0.0.1:*".to_owned(), "[::1]:*".to_owned()];
    let (socks, [connecting, listening]) = tunnel(&[], &allow, false);
    let bytes = mixed(300_000, 1);
    let whole = [replied(0), bytes.clone()].concat();
    for (request, target) in [
        (by_address(four), four.to_string()),
        (by_address(six), six.to_string()),
        (by_name("LOCALHOST", four.port()), format!("localhost:{}", four.port())),
        (by_name("127.0.0.1", four.port()), four.to_string()),
    ] {
        assert!(in_time(ask(socks, &request, &bytes)).await == whole, "{target}");
        for end in [&connecting, &listening] {
            let status = ended(end).await;
            assert_eq!((status.outcome, status.route), (Some(Ok(())), target.clone()));
        }
    }
}

#[tokio::test]
async fn without_a_rule_programs_choose_the_targets_of_routes_only() {
    let (open, closed) = (echo("127.0.0.1").await, echo("127.0.0.1").await);
    let routes = [format!("web=localhost:{}", open.port())];
    let (socks, _) = tunnel(&routes, &[], false);
    let request = by_name("localhost", open.port());
    assert_eq!(
        in_time(ask(socks, &request, b"hello")).await,
        [replied(0), b"hello".to_vec()].concat()
    );
    // Neither another port, nor the same one by a name that no route has.
    for request in [by_name("localhost", closed.port()), by_address(closed), by_address(open)] {
        assert_eq!(in_time(ask(socks, &request, b"hello")).await, replied(2));
    }
}

#[tokio::test]
async fn a_rule_for_all_hosts_does_not_open_the_machine_itself() {
    let target = echo("127.0.0.1").await;
    let (socks, [connecting, _]) = tunnel(&[], &["*:*".to_owned()], false);
    for request in [
        by_address(target),
        by_name("localhost", target.port()),
        by_name("127.1", target.port()),
        by_address((Ipv4Addr::UNSPECIFIED, target.port()).into()),
        by_address((Ipv4Addr::LOCALHOST.to_ipv6_mapped(), target.port()).into()),
    ] {
        assert_eq!(in_time(ask(socks, &request, b"hello")).await, replied(2), "{request:?}");
        let why = ended(&connecting).await.outcome.unwrap().unwrap_err();
        assert!(why.contains("it may not connect to"), "{why}");
    }
}

#[tokio::test]
async fn a_target_without_a_listener_is_refused_with_its_code() {
    let nobody = TcpListener::bind(HERE).await.unwrap().local_addr().unwrap();
    let (socks, _) = tunnel(&[], &["127.0.0.1:*".to_owned()], false);
    assert_eq!(in_time(ask(socks, &by_address(nobody), b"hello")).await, replied(5));
}

#[tokio::test]
async fn other_commands_and_other_protocols_are_refused() {
    let target = echo("127.0.0.1").await;
    let (socks, [connecting, _]) = tunnel(&[], &["127.0.0.1:*".to_owned()], false);
    for command in [2, 3] {
        let mut request = by_address(target);
        request[4] = command;
        assert_eq!(in_time(ask(socks, &request, b"")).await, replied(7));
        let why = ended(&connecting).await.outcome.unwrap().unwrap_err();
        assert!(why.contains(&format!("the SOCKS command {command} is not supported")), "{why}");
    }
    assert_eq!(in_time(ask(socks, &[5, 1, 2], b"")).await, [5, 0xff]);
    let mut program = TcpStream::connect(socks).await.unwrap();
    program.write_all(b"GET http://example.org/ HTTP/1.1\r\n\r\n").await.unwrap();
    // A reset: the bytes are no SOCKS, so no reply would be understood.
    assert!(in_time(program.read(&mut [0])).await.is_err());
}

#[tokio::test]
async fn without_the_other_end_the_reply_is_a_failure() {
    let nobody = TcpListener::bind(HERE).await.unwrap().local_addr().unwrap();
    let connect = connect(nobody, None, false);
    let socks = connect.forwards().next().unwrap().listen;
    tokio::spawn(connect.run(std::future::pending()));
    assert_eq!(in_time(ask(socks, &by_name("example.org", 80), b"hello")).await, replied(1));
}

#[tokio::test]
async fn either_end_can_forbid_compression_of_chosen_targets() {
    let target = echo("127.0.0.1").await;
    let bytes = vec![b'a'; 200_000];
    for (rule, near, may_pack) in [
        ("127.0.0.1:*,never", false, false),
        ("127.0.0.1:*", true, false),
        ("127.0.0.1:*", false, true),
    ] {
        let (socks, ends) = tunnel(&[], &[rule.to_owned()], near);
        let is_packed = is_packed(ends.each_ref(), may_pack, async || {
            let received = in_time(ask(socks, &by_address(target), &bytes)).await;
            assert!(received == [replied(0), bytes.clone()].concat());
        });
        assert_eq!(is_packed.await, may_pack, "{rule}, {near}");
    }
}

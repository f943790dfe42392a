//! Both ends of a tunnel over real sockets, with programs on both sides.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use groupwire_tunnel::{
    Connect, ConnectConfig, Connections, Fingerprint, Forward, Listen, ListenConfig, Options,
    Route, StartError, Status, Trust,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::support::{ended, identity, in_time, is_packed, mixed};

const HERE: &str = "127.0.0.1:0";

/// A tunnel from here to here, with the routes `web`, `secret` (never compressed) and `nowhere`.
struct Tunnel {
    /// Where programs connect to, by route.
    web: SocketAddr,
    secret: SocketAddr,
    /// A route for which the connecting end forbids compression.
    quiet: SocketAddr,
    nowhere: SocketAddr,
    unknown: SocketAddr,
    /// The address of the listening end.
    listen: SocketAddr,
    trust: Option<Fingerprint>,
    listening: Connections,
    connecting: Connections,
    stop: Vec<oneshot::Sender<()>>,
    running: Vec<JoinHandle<()>>,
}

/// Differences from a tunnel that works.
#[derive(Default)]
struct Difference {
    plain: bool,
    wrong_token: bool,
    wrong_fingerprint: bool,
    max_connections: Option<usize>,
    drain: Option<Duration>,
    /// The address that the connecting end connects to instead.
    server: Option<SocketAddr>,
}

impl Tunnel {
    async fn to(target: SocketAddr, difference: Difference) -> Self {
        let nobody = TcpListener::bind(HERE).await.unwrap().local_addr().unwrap();
        let mut options = Options::default();
        options.max_connections = difference.max_connections.or(Some(500));
        options.drain = difference.drain.unwrap_or_default();
        let route = |text: String| text.parse::<Route>().unwrap();
        let listen = Listen::bind(ListenConfig {
            listen: HERE.parse().unwrap(),
            routes: vec![
                route(format!("web={target}")),
                route(format!("secret={target},never")),
                route(format!("nowhere={nobody}")),
            ],
            allow: Vec::new(),
            token: b"open sesame".to_vec(),
            identity: (!difference.plain).then(identity),
            options: options.clone(),
        })
        .unwrap();
        let address = listen.local_addr();
        let fingerprint = match difference.wrong_fingerprint {
            true => Some(Fingerprint([7; 32])),
            false => listen.fingerprint(),
        };
        let forwards = ["web", "secret", "web,never", "nowhere", "unknown"];
        let forwards = forwards.map(|name| format!("0={name}").parse::<Forward>().unwrap());
        let token = if difference.wrong_token { &b"close"[..] } else { b"open sesame" };
        let connect = Connect::bind(ConnectConfig {
            forwards: forwards.to_vec(),
            server: difference.server.unwrap_or(address).to_string(),
            token: token.to_vec(),
            trust: fingerprint.map(Trust::Pinned),
            options,
        })
        .unwrap();
        let ports: Vec<_> = connect.forwards().map(|forward| forward.listen).collect();
        let (listening, connecting) = (listen.connections(), connect.connections());
        let (stop_listen, until) = oneshot::channel();
        let listen = tokio::spawn(listen.run(async { until.await.unwrap_or_default() }));
        let (stop_connect, until) = oneshot::channel();
        let connect = tokio::spawn(connect.run(async { until.await.unwrap_or_default() }));
        Tunnel {
            web: ports[0],
            secret: ports[1],
            quiet: ports[2],
            nowhere: ports[3],
            unknown: ports[4],
            listen: address,
            trust: fingerprint,
            listening,
            connecting,
            stop: vec![stop_connect, stop_listen],
            running: vec![connect, listen],
        }
    }
}

/// Starts a server that echoes each connection.
async fn echo() -> SocketAddr {
    let listener = TcpListener::bind(HERE).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut program, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut reader, mut writer) = program.split();
                if copy(&mut reader, &mut writer).await.is_ok() {
                    let _ = writer.shutdown().await;
                }
            });
        }
    });
    address
}

/// Starts a server that sends these bytes to each client and closes its direction.
async fn sender(bytes: Vec<u8>) -> SocketAddr {
    let listener = TcpListener::bind(HERE).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut program, _)) = listener.accept().await {
            let bytes = bytes.clone();
            tokio::spawn(async move {
                let _ = program.write_all(&bytes).await;
                let _ = program.shutdown().await;
                let _ = program.read_to_end(&mut Vec::new()).await;
            });
        }
    });
    address
}

/// Writes and closes a direction, and reads the other direction at the same time.
async fn exchange(address: SocketAddr, bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut program = TcpStream::connect(address).await?;
    let (mut reader, mut writer) = program.split();
    let mut received = Vec::new();
    let (written, read) = tokio::join!(
        async {
            writer.write_all(bytes).await?;
            writer.shutdown().await
        },
        reader.read_to_end(&mut received)
    );
    written.and(read).map(|_| received)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_reaches_its_server_through_the_tunnel() {
    let tunnel = Tunnel::to(echo().await, Difference::default()).await;
    for bytes in [mixed(3_000_000, 1), mixed(17, 2), Vec::new()] {
        let received = in_time(exchange(tunnel.web, &bytes)).await.unwrap();
        assert!(received == bytes);
        let status = ended(&tunnel.connecting).await;
        assert_eq!((status.outcome, status.route.as_str()), (Some(Ok(())), "web"));
        let report = status.report.unwrap();
        let length = bytes.len() as u64;
        assert_eq!((report.plain_out, report.plain_in), (length, length));
        assert_eq!(ended(&tunnel.listening).await.outcome, Some(Ok(())));
    }
}

#[tokio::test]
async fn a_question_is_delivered_without_further_bytes() {
    let tunnel = Tunnel::to(echo().await, Difference::default()).await;
    let mut program = TcpStream::connect(tunnel.web).await.unwrap();
    for round in 0..100_u32 {
        let question = round.to_string();
        program.write_all(question.as_bytes()).await.unwrap();
        let mut answer = vec![0; question.len()];
        in_time(program.read_exact(&mut answer)).await.unwrap();
        assert_eq!(answer, question.as_bytes());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_programs_use_the_tunnel_at_once() {
    let tunnel = Tunnel::to(echo().await, Difference::default()).await;
    let programs: Vec<_> = (0..200)
        .map(|number| {
            let web = tunnel.web;
            tokio::spawn(async move {
                let bytes = mixed(50_000, number);
                let received = exchange(web, &bytes).await.unwrap();
                assert!(received == bytes);
            })
        })
        .collect();
    for program in programs {
        in_time(program).await.unwrap();
    }
}

#[tokio::test]
async fn either_end_can_forbid_compression() {
    let bytes = vec![b'a'; 400_000];
    let tunnel = Tunnel::to(echo().await, Difference::default()).await;
    for (address, may_pack) in [(tunnel.secret, false), (tunnel.quiet, false), (tunnel.web, true)] {
        let ends = [&tunnel.connecting, &tunnel.listening];
        let is_packed = is_packed(ends, may_pack, async || {
            assert!(in_time(exchange(address, &bytes)).await.unwrap() == bytes);
        });
        assert_eq!(is_packed.await, may_pack);
    }
}

/// Lets a program connect that cannot be served, and returns the failures that both ends report.
async fn failures(
    difference: Difference,
    which: impl Fn(&Tunnel) -> SocketAddr,
) -> [Option<String>; 2] {
    let tunnel = Tunnel::to(echo().await, difference).await;
    let outcome = in_time(exchange(which(&tunnel), b"anything")).await;
    assert!(outcome.is_err(), "it looks like an empty answer");
    let why = |status: Status| status.outcome.and_then(Result::err);
    let connecting = why(ended(&tunnel.connecting).await);
    // The listening end may have no such connection.
    tokio::time::sleep(Duration::from_millis(20)).await;
    [connecting, tunnel.listening.take_ended().pop().and_then(why)]
}

#[tokio::test]
async fn a_wrong_token_is_refused_with_a_message() {
    let difference = Difference { wrong_token: true, ..Difference::default() };
    let [connecting, _] = failures(difference, |tunnel| tunnel.web).await;
    let why = connecting.unwrap();
    assert!(why.contains("refused: the token is not the one"), "{why}");
}

#[tokio::test]
async fn a_wrong_fingerprint_is_not_trusted() {
    let difference = Difference { wrong_fingerprint: true, ..Difference::default() };
    let [connecting, listening] = failures(difference, |tunnel| tunnel.web).await;
    assert!(connecting.unwrap().contains("does not have the pinned fingerprint"));
    let why = listening.unwrap();
    assert!(why.contains("it refused"), "{why}");
}

#[tokio::test]
async fn unknown_routes_and_unreachable_targets_are_refused() {
    let [connecting, _] = failures(Difference::default(), |tunnel| tunnel.unknown).await;
    assert!(connecting.unwrap().contains("it has no route \"unknown\""));
    let [connecting, _] = failures(Difference::default(), |tunnel| tunnel.nowhere).await;
    let why = connecting.unwrap();
    assert!(why.contains("cannot reach the target of \"nowhere\": nothing listens there"), "{why}");
}

#[tokio::test]
async fn a_server_of_another_protocol_is_recognised() {
    let web = sender(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()).await;
    let difference = Difference { server: Some(web), ..Difference::default() };
    let [connecting, _] = failures(difference, |tunnel| tunnel.web).await;
    assert!(connecting.unwrap().contains("what it sends is no TLS"));
    let difference = Difference { server: Some(web), plain: true, ..Difference::default() };
    let [connecting, _] = failures(difference, |tunnel| tunnel.web).await;
    assert!(connecting.unwrap().contains("is no groupwire tunnel"));
}

#[tokio::test]
async fn a_client_of_another_protocol_is_recognised() {
    for (plain, words) in [(false, "what it sends is no TLS"), (true, "is no groupwire tunnel")] {
        let difference = Difference { plain, ..Difference::default() };
        let tunnel = Tunnel::to(echo().await, difference).await;
        let request = b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n";
        let answer = in_time(exchange(tunnel.listen, request)).await;
        assert!(answer.is_err() || !answer.unwrap().starts_with(b"GWT"));
        let why = ended(&tunnel.listening).await.outcome.unwrap().unwrap_err();
        assert!(why.contains(words), "{why}");
    }
}

/// Starts a proxy that cuts the connection, or changes a byte, after `after` bytes from the server.
async fn faulty_proxy(server: SocketAddr, after: usize, fault: Fault) -> SocketAddr {
    let listener = TcpListener::bind(HERE).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let mut server = TcpStream::connect(server).await.unwrap();
            tokio::spawn(async move {
                let (mut from_client, mut to_client) = client.split();
                let (mut from_server, mut to_server) = server.split();
                let up = copy(&mut from_client, &mut to_server);
                let down = async {
                    copy(&mut (&mut from_server).take(after as u64), &mut to_client).await?;
                    if matches!(fault, Fault::Change) {
                        let byte = from_server.read_u8().await?;
                        to_client.write_u8(byte ^ 0x55).await?;
                        copy(&mut from_server, &mut to_client).await?;
                    }
                    io::Result::Ok(())
                };
                tokio::select! {
                    _ = up => {}
                    _ = down => {}
                }
            });
        }
    });
    address
}

#[derive(Clone, Copy)]
enum Fault {
    Cut,
    Change,
}

#[tokio::test]
async fn bytes_that_were_cut_off_or_changed_never_look_complete() {
    let bytes = mixed(400_000, 3);
    for (plain, fault) in
        [(false, Fault::Cut), (true, Fault::Cut), (false, Fault::Change), (true, Fault::Change)]
    {
        for after in [3, 1500, 30_000, 120_000] {
            let target = sender(bytes.clone()).await;
            let difference = Difference { plain, ..Difference::default() };
            let real = Tunnel::to(target, difference).await;
            let between = faulty_proxy(real.listen, after, fault).await;
            let tunnel = real.through(between).await;
            let mut program = TcpStream::connect(tunnel).await.unwrap();
            let mut received = Vec::new();
            let outcome = in_time(program.read_to_end(&mut received)).await;
            // Without TLS and compression a changed byte cannot be detected.
            let is_plain_change = plain && matches!(fault, Fault::Change);
            if is_plain_change && outcome.is_ok() {
                assert_eq!(received.len(), bytes.len());
                continue;
            }
            assert!(outcome.is_err(), "{} bytes, and an end", received.len());
            assert!(is_plain_change || bytes.starts_with(&received));
        }
    }
}

impl Tunnel {
    /// Starts another connecting end of this tunnel, which connects to `server`.
    async fn through(&self, server: SocketAddr) -> SocketAddr {
        let trust = self.trust.map(Trust::Pinned);
        let connect = Connect::bind(ConnectConfig {
            forwards: vec!["0=web".parse().unwrap()],
            server: server.to_string(),
            token: b"open sesame".to_vec(),
            trust,
            options: Options::default(),
        });
        let connect = connect.unwrap();
        let address = connect.forwards().next().unwrap().listen;
        tokio::spawn(connect.run(std::future::pending()));
        address
    }
}

#[tokio::test]
async fn a_reset_of_one_program_resets_the_other() {
    let listener = TcpListener::bind(HERE).await.unwrap();
    let tunnel = Tunnel::to(listener.local_addr().unwrap(), Difference::default()).await;
    let mut program = TcpStream::connect(tunnel.web).await.unwrap();
    program.write_all(b"and then").await.unwrap();
    let (mut other, _) = in_time(listener.accept()).await.unwrap();
    let mut received = [0; 8];
    in_time(other.read_exact(&mut received)).await.unwrap();
    program.set_zero_linger().unwrap();
    drop(program);
    let error = in_time(other.read(&mut received)).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn a_stopped_tunnel_waits_for_programs_as_long_as_drain_says() {
    for (drain, finishes) in [(Duration::from_secs(60), true), (Duration::ZERO, false)] {
        let difference = Difference { drain: Some(drain), ..Difference::default() };
        let tunnel = Tunnel::to(echo().await, difference).await;
        let mut program = TcpStream::connect(tunnel.web).await.unwrap();
        let mut received = [0; 5];
        program.write_all(b"hello").await.unwrap();
        in_time(program.read_exact(&mut received)).await.unwrap();
        let Tunnel { web, stop, running, .. } = tunnel;
        stop.into_iter().for_each(|stop| stop.send(()).unwrap());
        let refused = async {
            while TcpStream::connect(web).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        in_time(refused).await;
        if finishes {
            program.write_all(b"again").await.unwrap();
            in_time(program.read_exact(&mut received)).await.unwrap();
            program.shutdown().await.unwrap();
            assert_eq!(in_time(program.read(&mut received)).await.unwrap(), 0);
        } else {
            assert!(in_time(program.read(&mut received)).await.is_err());
        }
        for end in running {
            in_time(end).await.unwrap();
        }
    }
}

#[tokio::test]
async fn connections_beyond_the_limit_are_reset() {
    let difference = Difference { max_connections: Some(2), ..Difference::default() };
    let tunnel = Tunnel::to(echo().await, difference).await;
    let mut programs = Vec::new();
    for _ in 0..2 {
        let mut program = TcpStream::connect(tunnel.web).await.unwrap();
        program.write_all(b"hello").await.unwrap();
        in_time(program.read_exact(&mut [0; 5])).await.unwrap();
        programs.push(program);
    }
    assert!(in_time(exchange(tunnel.web, b"hello")).await.is_err());
    programs.clear();
    let served = async {
        while exchange(tunnel.web, b"hello").await.is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    in_time(served).await;
}

#[tokio::test]
async fn an_address_that_others_can_reach_needs_tls_and_a_token() {
    let config = |token: &[u8], identity| ListenConfig {
        listen: "0.0.0.0:0".parse().unwrap(),
        routes: Vec::new(),
        allow: Vec::new(),
        token: token.to_vec(),
        identity,
        options: Options::default(),
    };
    let without_tls = Listen::bind(config(b"token", None));
    assert!(matches!(without_tls, Err(StartError::NotLoopback("a tunnel without TLS"))));
    let without_token = Listen::bind(config(b"", Some(identity())));
    assert!(matches!(without_token, Err(StartError::NotLoopback("a tunnel without a token"))));
    let long = Listen::bind(config(&[7; 256], Some(identity())));
    assert!(matches!(long, Err(StartError::Token(256))));
    let connect = Connect::bind(ConnectConfig {
        forwards: Vec::new(),
        server: "example.org:7000".to_owned(),
        token: Vec::new(),
        trust: None,
        options: Options::default(),
    });
    assert!(matches!(connect, Err(StartError::NotLoopback(_))));
    let mut options = Options::default();
    options.max_connections = Some(100_000_000);
    let many = ListenConfig { options, ..config(b"token", Some(identity())) };
    assert!(matches!(Listen::bind(many), Err(StartError::OpenFiles { .. })));
}

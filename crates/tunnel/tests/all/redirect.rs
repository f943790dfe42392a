//! Connections of a program that the firewall redirects, in a network namespace of the test's own.

use std::ffi::OsStr;
use std::io::Write;
use std::net::SocketAddr;
use std::process::{Command, Stdio};

use groupwire_tunnel::{
    Connect, ConnectConfig, Destination, Forward, Listen, ListenConfig, Options,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::support::{ended, in_time, mixed, skip};

/// Tells the test that it runs in its own namespace.
const INSIDE: &str = "GROUPWIRE_TUNNEL_TEST_NAMESPACE";
/// The addresses of the program whose connections are redirected, and of its server.
const PROGRAM: &str = "10.8.8.8";
const SERVER: &str = "10.9.9.9";
/// The beginning of the firewall's rules.
const TABLE: &str = "table ip test {\nchain out {\ntype nat hook output priority -100;\n";

/// Whether the test goes on here: in a namespace of its own. Outside, it runs the test there.
fn is_inside(test: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    if !runs(Command::new("nft").arg("--version")) {
        skip("nft");
        return false;
    }
    if !runs(namespaced("ip").arg("link")) {
        skip("namespaces");
        return false;
    }
    let trial = format!("{TABLE}tcp dport 1 redirect to :2\n}}\n}}\n");
    if !load(&mut namespaced("nft"), &trial) {
        skip("a firewall that redirects");
        return false;
    }
    let mut inside = namespaced(std::env::current_exe().unwrap());
    inside.args(["--exact", test, "--nocapture"]).env(INSIDE, "1");
    assert!(inside.status().unwrap().success(), "{test} failed in its namespace");
    false
}

/// A command that runs this program in a new namespace.
fn namespaced(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--net", "--map-root-user", "--"]).arg(program);
    command
}

/// Whether nft, which this command runs, takes these rules.
fn load(nft: &mut Command, rules: &str) -> bool {
    let nft = nft.args(["-f", "-"]).stdin(Stdio::piped()).stderr(Stdio::null());
    let mut nft = nft.spawn().unwrap();
    // If nft has ended already, its status says why.
    let _ = nft.stdin.take().unwrap().write_all(rules.as_bytes());
    nft.wait().unwrap().success()
}

fn runs(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Starts both ends of a tunnel, and redirects what the program sends to this port of its server,
/// and to the listening end of the tunnel.
fn tunnel(server: SocketAddr, allow: &[&str]) -> (Connect, Listen) {
    let listen = Listen::bind(ListenConfig {
        listen: "127.0.0.1:0".parse().unwrap(),
        routes: Vec::new(),
        allow: allow.iter().map(|rule| rule.parse().unwrap()).collect(),
        token: Vec::new(),
        identity: None,
        options: Options::default(),
    });
    let listen = listen.unwrap();
    let connect = Connect::bind(ConnectConfig {
        forwards: vec![Forward::choosing("0", Destination::Redirect).unwrap()],
        server: listen.local_addr().to_string(),
        token: Vec::new(),
        trust: None,
        options: Options::default(),
    });
    let connect = connect.unwrap();
    let here = connect.forwards().next().unwrap().listen.port();
    let ports = format!("{{ {}, {} }}", server.port(), listen.local_addr().port());
    let rules =
        format!("{TABLE}ip saddr {PROGRAM} tcp dport {ports} redirect to :{here}\n}}\n}}\n");
    assert!(load(&mut Command::new("nft"), &rules));
    (connect, listen)
}

/// A server that echoes one connection after the other, at its address.
async fn echo() -> SocketAddr {
    for line in ["link set lo up", "address add 10.8.8.8 dev lo", "address add 10.9.9.9 dev lo"] {
        assert!(Command::new("ip").args(line.split(' ')).status().unwrap().success(), "{line}");
    }
    let listener = TcpListener::bind((SERVER, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut program, _)) = listener.accept().await {
            let (mut reader, mut writer) = program.split();
            if tokio::io::copy(&mut reader, &mut writer).await.is_ok() {
                let _ = writer.shutdown().await;
            }
        }
    });
    address
}

/// Connects from the program's address.
async fn program(to: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::new(PROGRAM.parse().unwrap(), 0)).unwrap();
    socket.connect(to).await.unwrap()
}

#[tokio::test]
async fn a_redirected_program_reaches_its_server_through_the_tunnel() {
    if !is_inside("redirect::a_redirected_program_reaches_its_server_through_the_tunnel") {
        return;
    }
    let server = echo().await;
    let (connect, listen) = tunnel(server, &["10.9.9.9:*"]);
    let ends = [connect.connections(), listen.connections()];
    tokio::spawn(listen.run(std::future::pending()));
    tokio::spawn(connect.run(std::future::pending()));
    let mut program = program(server).await;
    // The program sees its server, not the tunnel.
    assert_eq!(program.peer_addr().unwrap(), server);
    let bytes = mixed(300_000, 5);
    let (mut reader, mut writer) = program.split();
    let mut received = Vec::new();
    let write = async {
        writer.write_all(&bytes).await?;
        writer.shutdown().await
    };
    let (written, read) =
        in_time(async { tokio::join!(write, reader.read_to_end(&mut received)) }).await;
    written.and(read.map(drop)).unwrap();
    assert!(received == bytes);
    for end in &ends {
        let status = ended(end).await;
        assert_eq!((status.outcome, status.route), (Some(Ok(())), server.to_string()));
        assert!(status.report.unwrap().plain_in >= bytes.len() as u64);
    }
}

#[tokio::test]
async fn what_was_not_redirected_or_would_go_in_circles_is_reset() {
    if !is_inside("redirect::what_was_not_redirected_or_would_go_in_circles_is_reset") {
        return;
    }
    let server = echo().await;
    // Nothing is permitted, so the redirected connection to the server is refused, too.
    let (connect, listen) = tunnel(server, &[]);
    let (here, circle) = (connect.forwards().next().unwrap().listen, listen.local_addr());
    let connections = connect.connections();
    tokio::spawn(listen.run(std::future::pending()));
    tokio::spawn(connect.run(std::future::pending()));
    for (to, words) in [
        (here, "the connection was not redirected"),
        (circle, "the firewall redirects this tunnel's own connections"),
        (server, "it may not connect to 10.9.9.9"),
    ] {
        let mut program = program(to).await;
        assert!(in_time(program.read(&mut [0])).await.is_err(), "{words}");
        let why = ended(&connections).await.outcome.unwrap().unwrap_err();
        assert!(why.contains(words), "{why}");
    }
}

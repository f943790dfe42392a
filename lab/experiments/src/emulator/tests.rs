use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::Instant;

use super::*;
use crate::sim::{Capacity, Queue};

const MS: Duration = Duration::from_millis(1);

/// Runs the test of this name once more, in a network namespace. Returns the emulator there, and
/// `None` here. Where namespaces are not permitted, it reports that the test was skipped.
pub(crate) fn emulator_for(test: &str, paths: &[Path]) -> Option<Emulator> {
    let namespace = namespace_for(test)?;
    Some(Emulator::start(&namespace, paths).unwrap())
}

/// The same for tests that set up a network themselves: returns the empty namespace.
pub(crate) fn namespace_for(test: &str) -> Option<Namespace> {
    let skip = |error: EmulatorError| {
        println!("{error}");
        let need = match error {
            EmulatorError::Missing { program, .. } => program,
            EmulatorError::Device(_) => "TUN devices",
            _ => "namespaces",
        };
        skip(test, need);
    };
    if let Some(namespace) = Namespace::here() {
        return match Emulator::start(&namespace, &[Path::default()]) {
            Err(error @ (EmulatorError::Device(_) | EmulatorError::Missing { .. })) => {
                skip(error);
                None
            }
            // The test only asks whether a namespace can be made.
            started => {
                drop(started.unwrap());
                Some(namespace)
            }
        };
    }
    match Namespace::command() {
        Ok(mut command) => {
            command.arg(std::env::current_exe().unwrap()).args(["--exact", test, "--nocapture"]);
            let output = command.output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            let failed = String::from_utf8_lossy(&output.stderr);
            println!("{said}{failed}");
            assert!(output.status.success(), "in the namespace: {said}{failed}");
            assert!(said.contains("1 passed"), "there is no test {test}");
        }
        Err(error) => skip(error),
    }
    None
}

/// Reports that this machine lacks something that a test needs: in the test's output, and in the
/// file that scripts/skipped.mjs reads.
pub(crate) fn skip(test: &str, need: &str) {
    println!("skipped: {test} needs {need}");
    if let Some(file) = std::env::var_os("GROUPWIRE_SKIPPED") {
        let mut file = OpenOptions::new().append(true).create(true).open(file).unwrap();
        // The text is written in one call, because other tests write at the same time.
        file.write_all(format!("{test}: needs {need}\n").as_bytes()).unwrap();
    }
}

fn delayed(delay: Duration) -> LinkConfig {
    LinkConfig { delay, ..LinkConfig::default() }
}

/// A socket of the client, connected with the server's socket; and that one.
fn udp(client: Host) -> (UdpSocket, UdpSocket) {
    let server = UdpSocket::bind((Host::SERVER.local(), 0)).unwrap();
    let port = server.local_addr().unwrap().port();
    let sender = UdpSocket::bind((client.local(), 0)).unwrap();
    sender.connect((Host::SERVER.remote(), port)).unwrap();
    for socket in [&server, &sender] {
        socket.set_read_timeout(Some(300 * MS)).unwrap();
    }
    (sender, server)
}

/// The times by which datagrams that are sent at a rate arrive too late; sorted, in ms.
fn errors(
    delay: Duration,
    per_second: u32,
    count: u32,
    sockets: (UdpSocket, UdpSocket),
) -> Vec<f64> {
    let (sender, server) = sockets;
    let start = Instant::now();
    let receiver = thread::spawn(move || {
        let mut times = Vec::new();
        let mut buffer = [0; 64];
        while let Ok(16) = server.recv(&mut buffer) {
            let sent = Duration::from_nanos(u64::from_le_bytes(buffer[..8].try_into().unwrap()));
            let error = start.elapsed().as_secs_f64() - (sent + delay).as_secs_f64();
            times.push(error * 1000.0);
        }
        times
    });
    for n in 0..count {
        let due = Duration::from_secs_f64(f64::from(n) / f64::from(per_second));
        thread::sleep(due.saturating_sub(start.elapsed()));
        let now = (start.elapsed().as_nanos() as u64).to_le_bytes();
        sender.send(&[now, [0; 8]].concat()).unwrap();
    }
    let mut times = receiver.join().unwrap();
    times.sort_by(f64::total_cmp);
    times
}

#[test]
fn delays_are_exact_and_packets_counted() {
    let path = Path::symmetric(LinkConfig::default(), 50 * MS, 1);
    let name = "emulator::tests::delays_are_exact_and_packets_counted";
    let Some(emulator) = emulator_for(name, &[path]) else {
        return;
    };
    for rate in [100, 2000] {
        let before = emulator.stats(0);
        let late = errors(25 * MS, rate, rate, udp(emulator.client(0)));
        let quantile = |share: f64| late[(share * (late.len() - 1) as f64) as usize];
        println!(
            "{rate}/s: late by {:.3} ms in the median, p99 {:.3}, most {:.3}",
            quantile(0.5),
            quantile(0.99),
            quantile(1.0)
        );
        assert_eq!(late.len(), rate as usize, "nothing is lost");
        assert!(quantile(0.0) >= 0.0, "nothing comes early");
        // A busy machine adds to the delays; on an idle one the median is 0.1 ms.
        assert!(quantile(0.5) < 10.0, "{}", quantile(0.5));
        let stats = emulator.stats(0);
        assert_eq!(stats.up.packets - before.up.packets, u64::from(rate));
        assert_eq!(stats.up.bytes - before.up.bytes, u64::from(rate) * (28 + 16));
        assert_eq!(stats.down.packets, 0);
    }
}

#[test]
fn each_client_has_a_path_of_its_own() {
    let deaf = LinkConfig { loss: "rand100".parse().unwrap(), ..LinkConfig::default() };
    let slow = Path { up: delayed(80 * MS), down: delayed(5 * MS), seed: 1 };
    let paths = [Path { up: delayed(10 * MS), down: deaf, seed: 1 }, slow];
    let name = "emulator::tests::each_client_has_a_path_of_its_own";
    let Some(emulator) = emulator_for(name, &paths) else {
        return;
    };
    let second = Emulator::start(&Namespace::here().unwrap(), &paths);
    assert!(matches!(second, Err(EmulatorError::Device(_))));

    let round_trip = |client: Host| {
        let (sender, server) = udp(client);
        let start = Instant::now();
        sender.send(b"?").unwrap();
        let (_, from) = server.recv_from(&mut [0]).unwrap();
        assert_eq!(from.ip(), client.remote());
        let there = start.elapsed();
        server.send_to(b"!", from).unwrap();
        let back = sender.recv(&mut [0]).is_ok();
        (there, back.then(|| start.elapsed() - there))
    };
    let (there, back) = round_trip(emulator.client(0));
    assert!((10 * MS..500 * MS).contains(&there), "{there:?}");
    assert_eq!(back, None);
    assert_eq!(emulator.stats(0).down.lost, 1);
    let (there, back) = round_trip(emulator.client(1));
    assert!((80 * MS..800 * MS).contains(&there), "{there:?}");
    assert!((5 * MS..500 * MS).contains(&back.unwrap()), "{back:?}");
    assert_eq!(emulator.stats(1).up.packets, 1);
}

#[test]
fn tcp_fills_a_narrow_link_and_no_more() {
    let narrow = LinkConfig {
        capacity: Capacity::kbit(2000.0),
        queue: Queue::Bytes(50_000),
        loss: "rand2".parse().unwrap(),
        ..delayed(10 * MS)
    };
    let path = Path { up: narrow, down: delayed(10 * MS), seed: 3 };
    let name = "emulator::tests::tcp_fills_a_narrow_link_and_no_more";
    let Some(emulator) = emulator_for(name, &[path]) else {
        return;
    };
    let listener = TcpListener::bind((Host::SERVER.local(), 0)).unwrap();
    let to = SocketAddr::from((Host::SERVER.remote(), listener.local_addr().unwrap().port()));
    let sent: Vec<u8> = (0..300_000u32).map(|n| (n.wrapping_mul(n) >> 7) as u8).collect();
    let start = Instant::now();
    let sender = {
        let sent = sent.clone();
        thread::spawn(move || TcpStream::connect(to).unwrap().write_all(&sent).unwrap())
    };
    let mut received = Vec::new();
    listener.accept().unwrap().0.read_to_end(&mut received).unwrap();
    sender.join().unwrap();
    assert!(received == sent, "every byte arrives, whatever was lost");
    let rate = 300_000.0 * 8.0 / start.elapsed().as_secs_f64() / 1000.0;
    let stats = emulator.stats(0);
    println!("{rate:.0} kbit/s over 2000, {stats:?}");
    assert!((200.0..2000.0).contains(&rate), "{rate} kbit/s");
    assert!(stats.up.lost > 0, "{stats:?}");
}

#[test]
fn a_program_bound_to_no_address_is_any_client() {
    let paths = [20, 60].map(|ms| Path::symmetric(LinkConfig::default(), ms * MS, 1));
    let name = "emulator::tests::a_program_bound_to_no_address_is_any_client";
    let Some(emulator) = emulator_for(name, &paths) else {
        return;
    };
    let listener = TcpListener::bind("0.0.0.0:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    for (n, delay) in [(0, 20 * MS), (1, 60 * MS)] {
        let client = emulator.client(n);
        let start = Instant::now();
        let mut stream = TcpStream::connect((client.server(), port)).unwrap();
        let took = start.elapsed();
        assert!(took >= delay, "{took:?}");
        let (mut accepted, from) = listener.accept().unwrap();
        assert_eq!(from.ip(), client.remote());
        stream.write_all(b"hello").unwrap();
        accepted.read_exact(&mut [0; 5]).unwrap();
        let stats = emulator.stats(n);
        // A busy machine may send some bytes more than once.
        assert!(stats.up_content >= 5 && stats.up_content % 5 == 0, "{stats:?}");
        assert_eq!(stats.down_content, 0);
        assert!(stats.up.bytes > stats.up_content && stats.down.packets > 0, "{stats:?}");
    }
    // The kernel acknowledges and ends connections at its own times, and until then a changed path
    // carries these packets.
    let starts_anew = |_| {
        thread::sleep(10 * MS);
        emulator.change(1, &Path::default());
        emulator.stats(1) == PathStats::default()
    };
    assert!((0..1000).any(starts_anew), "{:?}", emulator.stats(1));
}

#[test]
fn a_wire_holds_a_packet_as_long_as_its_bits_take() {
    let test = "emulator::tests::a_wire_holds_a_packet_as_long_as_its_bits_take";
    let Some(namespace) = namespace_for(test) else { return };
    let wire = Wire::start(&namespace, Ethernet::default()).unwrap();
    let [mut near, mut far] = wire.connect().unwrap();
    let mut round_trip = |size: usize| {
        let mut buffer = vec![0; size];
        let start = Instant::now();
        near.write_all(&buffer).unwrap();
        far.read_exact(&mut buffer).unwrap();
        far.write_all(&buffer).unwrap();
        near.read_exact(&mut buffer).unwrap();
        start.elapsed()
    };
    let at_once = (0..20).map(|_| round_trip(1000)).min().unwrap();
    wire.change(Ethernet::mbit(1.0, 1));
    let before = wire.carried();
    let slow = (0..5).map(|_| round_trip(1000)).min().unwrap();
    // Headers of IP and TCP are 52 bytes; two cables each way.
    let computed = Ethernet::mbit(1.0, 1).transit(1052) * 2;
    assert!(slow >= computed, "{slow:?}, not {computed:?}");
    assert!(at_once < computed, "{at_once:?}");
    let carried = wire.carried().since(before);
    assert!(carried.packets >= 10 && carried.bytes >= 10 * 1090, "{carried:?}");
}

#[test]
fn a_client_that_moves_has_another_address_and_loses_the_one_before() {
    let name = "emulator::tests::a_client_that_moves_has_another_address_and_loses_the_one_before";
    let Some(emulator) = emulator_for(name, &[Path::default()]) else {
        return;
    };
    let client = emulator.client(0);
    let server = UdpSocket::bind(("0.0.0.0", 0)).unwrap();
    let port = server.local_addr().unwrap().port();
    // The socket is bound to no address, like those of QUIC.
    let socket = UdpSocket::bind(("0.0.0.0", 0)).unwrap();
    for socket in [&server, &socket] {
        socket.set_read_timeout(Some(300 * MS)).unwrap();
    }
    let mut seen = Vec::new();
    for _ in 0..3 {
        socket.send_to(b"?", (client.server(), port)).unwrap();
        let (_, from) = server.recv_from(&mut [0]).unwrap();
        seen.push(from);
        emulator.move_client(0).unwrap();
    }
    assert_eq!([seen[0].ip(), seen[2].ip()], [client.remote(); 2]);
    assert_eq!(seen[1].ip(), client.moved_remote());
    // The client has moved again: datagrams to its old address are lost.
    server.send_to(b"!", seen[0]).unwrap();
    assert!(socket.recv(&mut [0]).is_err());
}

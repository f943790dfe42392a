use super::*;
use crate::emulator::tests::emulator_for;
use crate::emulator::{Emulator, Path};
use crate::sim::input::generated;
use crate::sim::{Link, LinkConfig};

const MS: Duration = Duration::from_millis(1);

/// The wait after the last message: a timeout of TCP may be doubled a few times.
const PATIENCE: Duration = Duration::from_secs(5);
/// A congestion control that every Linux machine has, even if its default is another.
const CONGESTION: &str = "reno";

/// A client's path, 50 ms there and back.
fn path(loss: &str) -> Path {
    let link = LinkConfig { loss: loss.parse().unwrap(), ..LinkConfig::default() };
    Path::symmetric(link, 50 * MS, 1)
}

/// A message each 5 ms, so that tests are short.
fn updates(count: usize) -> Vec<Update> {
    let mut updates = generated(1, count);
    (0..).zip(&mut updates).for_each(|(n, update)| update.at = 5 * MS * n);
    updates
}

/// Runs the schemes side by side, each on the path of a client of its own.
fn side_by_side(
    (emulator, losses): (&Emulator, &[&str]),
    schemes: &[&(dyn Scheme + Sync)],
    count: usize,
) -> Vec<Outcome> {
    let updates = updates(count);
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..schemes.len())
            .map(|n| {
                let updates = &updates;
                scope.spawn(move || {
                    let clients = [(n, path(losses[n]))];
                    measure((emulator, &clients), schemes[n], updates, (PATIENCE, CONGESTION))
                        .unwrap()
                })
            })
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    })
}

/// The share of messages that never came.
fn never(outcome: &Outcome) -> f64 {
    let never = outcome.latencies.iter().filter(|latency| latency.is_none()).count();
    never as f64 / outcome.latencies.len() as f64
}

/// The latency that this share of the messages that arrived did not exceed.
fn quantile(outcome: &Outcome, share: f64) -> Duration {
    let mut came: Vec<_> = outcome.latencies.iter().flatten().copied().collect();
    came.sort_unstable();
    came[(share * (came.len() - 1) as f64).round() as usize]
}

#[test]
fn without_loss_a_message_takes_the_delay() {
    let name = "deadlines::real::tests::without_loss_a_message_takes_the_delay";
    let losses = ["rand0", "rand0"];
    let Some(emulator) = emulator_for(name, &losses.map(path)) else {
        return;
    };
    let outcomes =
        side_by_side((&emulator, &losses), &[&Plain(Carrier::Udp), &Plain(Carrier::Tcp)], 200);
    for (name, outcome) in ["udp", "tcp"].iter().zip(&outcomes) {
        assert_eq!(never(outcome), 0.0, "{name}");
        // The test compares medians, because other tests run beside this one.
        let median = quantile(outcome, 0.5);
        assert!((25 * MS..40 * MS).contains(&median), "{name}: {median:?}");
    }
    let bytes: usize = updates(200).iter().map(|update| update.len + 28).sum();
    assert_eq!(outcomes[0].wire_bytes(), bytes as u64);
    assert_eq!(outcomes[0].forward.packets, 200);
    assert!(outcomes[1].back.packets > 0, "TCP acknowledges");
}

#[test]
fn under_loss_udp_loses_and_tcp_waits() {
    let name = "deadlines::real::tests::under_loss_udp_loses_and_tcp_waits";
    // At 20 % TCP's timeouts may take longer than a test should.
    let losses = ["rand20", "rand5"];
    let Some(emulator) = emulator_for(name, &losses.map(path)) else {
        return;
    };
    let outcomes =
        side_by_side((&emulator, &losses), &[&Plain(Carrier::Udp), &Plain(Carrier::Tcp)], 400);
    let [udp, tcp] = &outcomes[..] else { panic!("two schemes") };
    // The socket loses exactly the packets that the simulated link loses.
    let mut link = Link::new(path("rand20").up, 2);
    let expected: Vec<_> = (0..400).map(|_| link.send(Duration::ZERO, 0).first.is_some()).collect();
    let come: Vec<_> = udp.latencies.iter().map(Option::is_some).collect();
    assert_eq!(come, expected);
    assert!((0.15..0.25).contains(&never(udp)), "{}", never(udp));
    assert_eq!(never(tcp), 0.0);
    assert!(quantile(tcp, 0.99) > 70 * MS, "a repeat takes a round trip and the delay");
}

#[test]
fn a_relay_sends_on_what_it_receives() {
    let name = "deadlines::real::tests::a_relay_sends_on_what_it_receives";
    let paths = ["rand0", "rand20", "rand0", "rand5"].map(path);
    let clients: Vec<(usize, Path)> = paths.iter().cloned().enumerate().collect();
    let Some(emulator) = emulator_for(name, &paths) else {
        return;
    };
    let updates = updates(400);
    let run = |clients: &[(usize, Path)], carrier| {
        let clients = (&emulator, clients);
        measure(clients, &Plain(carrier), &updates, (PATIENCE, CONGESTION)).unwrap()
    };
    let (udp, tcp) = std::thread::scope(|scope| {
        let tcp = scope.spawn(|| run(&clients[2..], Carrier::Tcp));
        (run(&clients[..2], Carrier::Udp), tcp.join().unwrap())
    });
    assert!((0.15..0.25).contains(&never(&udp)), "only the second leg loses: {}", never(&udp));
    assert_eq!(never(&tcp), 0.0);
    for (name, outcome) in [("udp", &udp), ("tcp", &tcp)] {
        assert!(quantile(outcome, 0.1) >= 50 * MS, "{name}: a message takes both delays");
    }
    assert_eq!(udp.forward.packets, 2 * 400, "both legs count");
    // TCP joins messages that it sends again.
    assert!(tcp.forward.packets > 500, "{}", tcp.forward.packets);
}

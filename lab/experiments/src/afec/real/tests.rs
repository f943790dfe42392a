use super::*;
use crate::emulator::tests::emulator_for;
use crate::emulator::{Emulator, Path};
use crate::sim::input::generated;
use crate::sim::{Link, LinkConfig};

const MS: Duration = Duration::from_millis(1);

/// The paths of `count` clients, 50 ms there and back, all with the same loss.
fn paths(loss: &str, count: usize) -> Vec<Path> {
    let link = LinkConfig { loss: loss.parse().unwrap(), ..LinkConfig::default() };
    vec![Path::symmetric(link, 50 * MS, 1); count]
}

/// A message each 5 ms, so that tests are short.
fn updates(count: usize) -> Vec<Update> {
    let mut updates = generated(1, count);
    (0..).zip(&mut updates).for_each(|(n, update)| update.at = 5 * MS * n);
    updates
}

/// Runs the schemes side by side, each on the path of a client of its own.
fn side_by_side(
    emulator: &Emulator,
    schemes: &[&(dyn Scheme + Sync)],
    count: usize,
) -> Vec<Outcome> {
    let updates = updates(count);
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..schemes.len())
            .map(|n| {
                let updates = &updates;
                scope.spawn(move || {
                    let hops = [Hop::Up(emulator, n)];
                    measure(&hops, schemes[n], updates, 2000 * MS).unwrap()
                })
            })
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    })
}

#[test]
fn without_loss_a_message_takes_the_delay() {
    let name = "afec::real::tests::without_loss_a_message_takes_the_delay";
    let Some(emulator) = emulator_for(name, &paths("rand0", 3)) else {
        return;
    };
    let outcomes = side_by_side(&emulator, &[&Udp, &Tcp, &RepeatLast(3)], 200);
    for (name, outcome) in ["udp", "tcp", "fec-3"].iter().zip(&outcomes) {
        let (mean, p99) = (outcome.mean_latency(), outcome.latency_quantile(0.99));
        println!("{name}: mean {mean:?} p99 {p99:?} {:?} {:?}", outcome.forward, outcome.back);
        assert_eq!(outcome.never(), 0.0, "{name}");
        // In the median, because other tests run beside this one.
        let median = outcome.latency_quantile(0.5);
        assert!((25 * MS..40 * MS).contains(&median), "{name}: {median:?}");
    }
    let bytes: usize = updates(200).iter().map(|update| update.len + 28).sum();
    assert_eq!(outcomes[0].wire_bytes(), bytes as u64);
    assert_eq!(outcomes[0].forward.packets, 200);
    assert!(outcomes[1].back.packets > 0, "TCP acknowledges");
    assert!(outcomes[2].forward.packets >= 203, "three repeat the end");
}

#[test]
fn under_loss_udp_loses_tcp_waits_and_repeats_help() {
    let name = "afec::real::tests::under_loss_udp_loses_tcp_waits_and_repeats_help";
    let Some(emulator) = emulator_for(name, &paths("rand20", 3)) else {
        return;
    };
    let outcomes = side_by_side(&emulator, &[&Udp, &Tcp, &RepeatLast(3)], 400);
    for (name, outcome) in ["udp", "tcp", "fec-3"].iter().zip(&outcomes) {
        println!(
            "{name}: never {:.3} mer(100 ms) {:.3} mean {:?} p99 {:?} {:?} {:?}",
            outcome.never(),
            outcome.mer(100 * MS),
            outcome.mean_latency(),
            outcome.latency_quantile(0.99),
            outcome.forward,
            outcome.back
        );
    }
    let [udp, tcp, repeats] = &outcomes[..] else { panic!("three schemes") };
    // Exactly what the simulated link loses, packet by packet.
    let mut link = Link::new(paths("rand20", 1)[0].up.clone(), 2);
    let expected: Vec<_> = (0..400).map(|_| link.send(Duration::ZERO, 0).first.is_some()).collect();
    let come: Vec<_> = udp.latencies.iter().map(Option::is_some).collect();
    assert_eq!(come, expected);
    assert!((0.15..0.25).contains(&udp.never()), "{}", udp.never());
    assert_eq!(tcp.never(), 0.0);
    assert!(tcp.latency_quantile(0.99) > 100 * MS, "four times the delay, and more");
    // 0.2^4, and what else three deviations allow.
    assert!(repeats.never() < 0.02, "{}", repeats.never());
    assert!(repeats.wire_bytes() > udp.wire_bytes() * 5 / 4);
}

#[test]
fn two_hops_delay_and_lose_twice() {
    let name = "afec::real::tests::two_hops_delay_and_lose_twice";
    let Some(emulator) = emulator_for(name, &paths("rand10", 2)) else {
        return;
    };
    let hops = [Hop::Up(&emulator, 0), Hop::Down(&emulator, 1)];
    let udp = measure(&hops, &Udp, &updates(300), 200 * MS).unwrap();
    assert!((0.11..0.28).contains(&udp.never()), "{} of 0.19", udp.never());
    assert!((50 * MS..80 * MS).contains(&udp.latency_quantile(0.5)));
    assert_eq!(udp.forward.lost, udp.latencies.iter().filter(|one| one.is_none()).count() as u64);
    let tcp = measure(&hops, &Tcp, &updates(100), 10_000 * MS).unwrap();
    assert_eq!(tcp.never(), 0.0);
}

#[test]
fn proxies_do_the_same_to_datagrams_and_delay_streams() {
    let lossy = paths("rand20", 1).remove(0);
    let udp = measure(&[Hop::Proxied(&lossy)], &Udp, &updates(100), 200 * MS).unwrap();
    let mut link = Link::new(lossy.up.clone(), 2);
    let expected = (0..100).map(|_| link.send(Duration::ZERO, 0).first.is_some());
    assert!(udp.latencies.iter().map(Option::is_some).eq(expected));
    assert!((25 * MS..40 * MS).contains(&udp.latency_quantile(0.5)));
    let refused = measure(&[Hop::Proxied(&lossy)], &Tcp, &updates(1), MS);
    assert!(matches!(refused, Err(EmulatorError::NotForStreams)));
    let slow = paths("rand0", 1).remove(0);
    let tcp = measure(&[Hop::Proxied(&slow)], &Tcp, &updates(50), 200 * MS).unwrap();
    assert_eq!(tcp.never(), 0.0);
    assert!((25 * MS..40 * MS).contains(&tcp.latency_quantile(0.5)));
}

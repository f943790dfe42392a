//! A network of nodes and links in simulated time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use crate::link::{Link, LinkConfig, LinkStats};
use crate::random::derive;

/// The least time, in ns, between two polls of a node that receives no packet: a node that always
/// wants to be polled at once cannot keep time from passing.
const LEAST_WAIT: u64 = 1_000;

/// A participant of a network: an end of a connection, a server, a proxy.
pub trait Node {
    /// Accepts a packet from a neighbour. The node is polled next.
    fn receive(&mut self, now: Duration, from: usize, packet: &[u8]);

    /// Sends the packets that are due, each to a neighbour by its number. Returns when the node
    /// wants to be polled next if no packet arrives before. An earlier poll must be harmless.
    fn poll(&mut self, now: Duration, send: &mut dyn FnMut(usize, &[u8])) -> Option<Duration>;
}

impl<N: Node + ?Sized> Node for &mut N {
    fn receive(&mut self, now: Duration, from: usize, packet: &[u8]) {
        (**self).receive(now, from, packet);
    }

    fn poll(&mut self, now: Duration, send: &mut dyn FnMut(usize, &[u8])) -> Option<Duration> {
        (**self).poll(now, send)
    }
}

impl<N: Node + ?Sized> Node for Box<N> {
    fn receive(&mut self, now: Duration, from: usize, packet: &[u8]) {
        (**self).receive(now, from, packet);
    }

    fn poll(&mut self, now: Duration, send: &mut dyn FnMut(usize, &[u8])) -> Option<Duration> {
        (**self).poll(now, send)
    }
}

/// Nodes joined by links, in simulated time.
///
/// A `Network<&mut dyn Node>` can join nodes of different types, which it borrows:
///
/// ```
/// use groupwire_sim::{LinkConfig, Network, Node};
/// use std::time::Duration;
///
/// /// Sends one packet.
/// struct Source(bool);
/// impl Node for Source {
///     fn receive(&mut self, _: Duration, _: usize, _: &[u8]) {}
///     fn poll(&mut self, _: Duration, send: &mut dyn FnMut(usize, &[u8])) -> Option<Duration> {
///         if std::mem::take(&mut self.0) {
///             send(1, b"hello");
///         }
///         None
///     }
/// }
///
/// /// Notes when something arrives.
/// #[derive(Default)]
/// struct Sink(Vec<(Duration, Vec<u8>)>);
/// impl Node for Sink {
///     fn receive(&mut self, now: Duration, _: usize, packet: &[u8]) {
///         self.0.push((now, packet.to_vec()));
///     }
///     fn poll(&mut self, _: Duration, _: &mut dyn FnMut(usize, &[u8])) -> Option<Duration> {
///         None
///     }
/// }
///
/// let (mut source, mut sink) = (Source(true), Sink::default());
/// let mut network: Network<&mut dyn Node> = Network::new();
/// network.add(&mut source);
/// network.add(&mut sink);
/// let delay = Duration::from_millis(20);
/// network.join(0, 1, LinkConfig { delay, ..LinkConfig::default() }, 1);
/// network.run_until(Duration::from_secs(1));
/// assert_eq!(sink.0, [(delay, b"hello".to_vec())]);
/// ```
#[derive(Debug)]
pub struct Network<N> {
    nodes: Vec<N>,
    wakes: Vec<Wake>,
    wires: Wires,
}

/// When a node is to be polled.
#[derive(Debug, Clone, Copy, Default)]
struct Wake {
    /// The time at which the node wants to be polled.
    wanted: Option<u64>,
    /// The time of the node's event in the queue; its other events there are void. An event before
    /// `wanted` is queued again for `wanted`, so that a timer which is put off with each packet
    /// does not cost an event each time.
    queued: Option<u64>,
}

/// Everything but the nodes, so that a node can send while it is borrowed.
#[derive(Debug, Default)]
struct Wires {
    now: u64,
    events: BinaryHeap<Reverse<Event>>,
    /// The number of events so far. It orders events of the same time.
    count: u64,
    links: Vec<Link>,
    /// The index of the link by sender and receiver; `None` if the two are not joined.
    between: Vec<Vec<Option<u32>>>,
    buffers: Vec<Vec<u8>>,
    /// The indices of the buffers that hold no packet.
    free: Vec<u32>,
}

/// Ordered by time in nanoseconds, then by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    time: u64,
    number: u64,
    node: u32,
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Wake,
    Packet { from: u32, buffer: u32 },
}

impl<N: Node> Network<N> {
    /// An empty network at time 0.
    pub fn new() -> Self {
        Network { nodes: Vec::new(), wakes: Vec::new(), wires: Wires::default() }
    }

    /// Adds a node and returns its number; numbers start at 0. The node is polled as soon as time
    /// passes.
    pub fn add(&mut self, node: N) -> usize {
        let number = self.nodes.len();
        self.nodes.push(node);
        self.wakes.push(Wake::default());
        self.wake(number);
        number
    }

    /// Adds a link from one node to another, or replaces it; packets on the old link still arrive.
    /// Two nodes that answer each other need two links.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn join(&mut self, from: usize, to: usize, config: LinkConfig, seed: u64) {
        let nodes = self.nodes.len();
        assert!(from < nodes && to < nodes, "a link joins nodes that were added");
        let wires = &mut self.wires;
        let number = wires.links.len() as u32;
        wires.links.push(Link::new(config, seed));
        wires.between.resize(nodes.max(wires.between.len()), Vec::new());
        let row = &mut wires.between[from];
        row.resize((to + 1).max(row.len()), None);
        row[to] = Some(number);
    }

    /// Adds a link in each direction, both with this configuration. They lose packets independently
    /// of each other.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn join_both(&mut self, one: usize, other: usize, config: LinkConfig, seed: u64) {
        self.join(one, other, config.clone(), derive(seed, 0));
        self.join(other, one, config, derive(seed, 1));
    }

    /// The simulated time.
    pub fn now(&self) -> Duration {
        Duration::from_nanos(self.wires.now)
    }

    /// The node with this number.
    pub fn node(&self, number: usize) -> &N {
        &self.nodes[number]
    }

    /// The node with this number, for a change. A caller that changes when the node wants to be
    /// polled must wake it.
    pub fn node_mut(&mut self, number: usize) -> &mut N {
        &mut self.nodes[number]
    }

    /// Makes a node be polled as soon as time passes.
    pub fn wake(&mut self, number: usize) {
        self.want(number, Some(self.wires.now));
    }

    /// Counts of the packets on the link from one node to another, if there is one.
    pub fn link_stats(&self, from: usize, to: usize) -> Option<LinkStats> {
        Some(self.wires.links[self.wires.link(from, to)?].stats())
    }

    /// Runs the simulation until `end`: everything that is due by then happens.
    pub fn run_until(&mut self, end: Duration) {
        let end = nanos(end);
        while let Some(&Reverse(event)) = self.wires.events.peek()
            && event.time <= end
        {
            self.wires.events.pop();
            self.wires.now = event.time;
            let node = event.node as usize;
            match event.what {
                What::Packet { from, buffer } => {
                    let packet = std::mem::take(&mut self.wires.buffers[buffer as usize]);
                    let now = Duration::from_nanos(event.time);
                    self.nodes[node].receive(now, from as usize, &packet);
                    self.wires.buffers[buffer as usize] = packet;
                    self.wires.free.push(buffer);
                    self.poll(node);
                }
                What::Wake => self.woken(node, event.time),
            }
        }
        self.wires.now = self.wires.now.max(end);
    }

    fn woken(&mut self, node: usize, time: u64) {
        let wake = &mut self.wakes[node];
        if wake.queued != Some(time) {
            return;
        }
        wake.queued = None;
        match wake.wanted {
            Some(wanted) if wanted > time => self.want(node, Some(wanted)),
            Some(_) => self.poll(node),
            None => {}
        }
    }

    fn poll(&mut self, node: usize) {
        let now = self.wires.now;
        let wires = &mut self.wires;
        let wanted = self.nodes[node].poll(Duration::from_nanos(now), &mut |to, packet| {
            wires.send(node, to, packet);
        });
        self.want(node, wanted.map(|wanted| nanos(wanted).max(now + LEAST_WAIT)));
    }

    fn want(&mut self, node: usize, wanted: Option<u64>) {
        let wake = &mut self.wakes[node];
        wake.wanted = wanted;
        if let Some(wanted) = wanted
            && wake.queued.is_none_or(|queued| queued > wanted)
        {
            wake.queued = Some(wanted);
            self.wires.push(wanted, node as u32, What::Wake);
        }
    }
}

impl<N: Node> Default for Network<N> {
    fn default() -> Self {
        Network::new()
    }
}

impl Wires {
    fn link(&self, from: usize, to: usize) -> Option<usize> {
        self.between.get(from)?.get(to)?.map(|number| number as usize)
    }

    fn send(&mut self, from: usize, to: usize, packet: &[u8]) {
        let link = self.link(from, to).expect("a node sends to neighbours that it was joined to");
        let link = &mut self.links[link];
        let arrivals = link.send(Duration::from_nanos(self.now), packet.len());
        let Some(first) = arrivals.first else { return };
        let buffer = fill(&mut self.buffers, &mut self.free, packet);
        if arrivals.corrupt {
            link.damage(&mut self.buffers[buffer as usize]);
        }
        let from = from as u32;
        if let Some(second) = arrivals.second {
            let copied = std::mem::take(&mut self.buffers[buffer as usize]);
            let copy = fill(&mut self.buffers, &mut self.free, &copied);
            self.buffers[buffer as usize] = copied;
            self.push(nanos(second), to as u32, What::Packet { from, buffer: copy });
        }
        self.push(nanos(first), to as u32, What::Packet { from, buffer });
    }

    fn push(&mut self, time: u64, node: u32, what: What) {
        self.count += 1;
        self.events.push(Reverse(Event { time, number: self.count, node, what }));
    }
}

/// Copies a packet into a free buffer, or into a new one if none is free, and returns the index of
/// the buffer.
fn fill(buffers: &mut Vec<Vec<u8>>, free: &mut Vec<u32>, packet: &[u8]) -> u32 {
    let number = free.pop().unwrap_or_else(|| {
        buffers.push(Vec::new());
        buffers.len() as u32 - 1
    });
    let buffer = &mut buffers[number as usize];
    buffer.clear();
    buffer.extend_from_slice(packet);
    number
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Sends numbered packets to a neighbour at a fixed interval, and records the packets that it
    /// receives.
    struct Talker {
        to: usize,
        every: Duration,
        next: Duration,
        sent: u32,
        log: Vec<(Duration, usize, Vec<u8>)>,
    }

    impl Talker {
        fn new(to: usize, every: Duration) -> Self {
            Talker { to, every, next: Duration::ZERO, sent: 0, log: Vec::new() }
        }
    }

    impl Node for Talker {
        fn receive(&mut self, now: Duration, from: usize, packet: &[u8]) {
            self.log.push((now, from, packet.to_vec()));
        }

        fn poll(&mut self, now: Duration, send: &mut dyn FnMut(usize, &[u8])) -> Option<Duration> {
            while self.next <= now {
                send(self.to, &self.sent.to_le_bytes());
                self.sent += 1;
                self.next += self.every;
            }
            Some(self.next)
        }
    }

    fn pair(config: &LinkConfig, seed: u64) -> Network<Talker> {
        let mut network = Network::new();
        network.add(Talker::new(1, 10 * MS));
        network.add(Talker::new(0, 7 * MS));
        network.join_both(0, 1, config.clone(), seed);
        network
    }

    #[test]
    fn packets_arrive_when_their_link_says() {
        let mut network = pair(&LinkConfig { delay: 25 * MS, ..LinkConfig::default() }, 1);
        network.run_until(1000 * MS);
        assert_eq!(network.now(), 1000 * MS);
        let expected = (0..98_u32).map(|n| (10 * MS * n + 25 * MS, 0, n.to_le_bytes().to_vec()));
        assert!(network.node(1).log.iter().cloned().eq(expected));
        assert_eq!(network.node(0).sent, 101);
        assert_eq!(network.link_stats(0, 1).unwrap().bytes, 101 * 32);
        assert!(network.link_stats(0, 0).is_none());
    }

    #[test]
    fn a_run_in_pieces_is_the_same_run() {
        let config = LinkConfig {
            delay: 25 * MS,
            jitter: 10 * MS,
            reorder: 0.1,
            reorder_by: 50 * MS,
            duplicate: 0.1,
            corrupt: 0.1,
            loss: "ge20b5".parse().unwrap(),
            ..LinkConfig::default()
        };
        let mut whole = pair(&config, 1);
        whole.run_until(20_000 * MS);
        let mut pieces = pair(&config, 1);
        (0..2000).for_each(|n| pieces.run_until(10 * MS * n + MS / 3));
        pieces.run_until(20_000 * MS);
        assert_eq!(whole.node(0).log, pieces.node(0).log);
        assert_eq!(whole.node(1).log, pieces.node(1).log);
        let mut other = pair(&config, 3);
        other.run_until(20_000 * MS);
        assert_ne!(whole.node(0).log, other.node(0).log);

        let stats = whole.link_stats(0, 1).unwrap();
        let arrived = whole.node(1).log.len() as u64;
        let under_way = stats.packets + stats.duplicated - stats.lost - arrived;
        assert!(stats.duplicated > 100 && under_way < 10, "{stats:?} {arrived}");
        let buffers = whole.wires.buffers.len();
        assert!(buffers < 40, "buffers are used again: {buffers}");
    }

    #[test]
    fn what_is_due_at_once_happens_in_the_order_it_was_sent() {
        let mut network = Network::new();
        for _ in 0..50 {
            network.add(Talker::new(50, 1_000_000 * MS));
        }
        network.add(Talker::new(50, 1_000_000 * MS));
        for from in 0..51 {
            network.join(from, 50, LinkConfig { delay: MS, ..LinkConfig::default() }, 1);
        }
        network.run_until(10 * MS);
        assert!(network.node(50).log.iter().map(|one| one.1).eq(0..51));
    }

    /// A node that always wants to be polled at once.
    struct Impatient(u32);

    impl Node for Impatient {
        fn receive(&mut self, _: Duration, _: usize, _: &[u8]) {}

        fn poll(&mut self, now: Duration, _: &mut dyn FnMut(usize, &[u8])) -> Option<Duration> {
            self.0 += 1;
            Some(now)
        }
    }

    #[test]
    fn an_impatient_node_does_not_stop_time() {
        let mut network = Network::new();
        network.add(Impatient(0));
        network.run_until(MS);
        assert_eq!(network.node(0).0, 1001);
    }

    /// Puts off a timer with each packet, like a retransmission timer.
    #[derive(Default)]
    struct Timer {
        due: Duration,
        fired: Vec<Duration>,
    }

    impl Node for Timer {
        fn receive(&mut self, now: Duration, _: usize, _: &[u8]) {
            self.due = now + 200 * MS;
        }

        fn poll(&mut self, now: Duration, _: &mut dyn FnMut(usize, &[u8])) -> Option<Duration> {
            if now < self.due {
                return Some(self.due);
            }
            self.fired.push(now);
            None
        }
    }

    #[test]
    fn a_timer_that_is_put_off_fires_once() {
        let mut timer = Timer { due: 50 * MS, fired: Vec::new() };
        let mut talker = Talker::new(0, 30 * MS);
        let mut network: Network<&mut dyn Node> = Network::new();
        network.add(&mut timer);
        network.add(&mut talker);
        network.join(1, 0, LinkConfig::default(), 1);
        network.run_until(500 * MS);
        assert!(network.wires.events.len() < 4);
        network.run_until(1000 * MS);
        assert!(timer.fired.is_empty());

        let mut timer = Timer { due: 50 * MS, fired: Vec::new() };
        let mut network = Network::new();
        network.add(&mut timer);
        network.run_until(1000 * MS);
        assert_eq!(timer.fired, [50 * MS]);
    }
}

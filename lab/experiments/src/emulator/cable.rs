//! Two hosts in network namespaces of their own, with a cable between them whose rate a token
//! bucket limits. For streams, because the kernel alone carries the packets.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::device::{MTU, ip, run};
use super::{EmulatorError, Ethernet, Namespace};

const ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 88, 0, 1), Ipv4Addr::new(10, 88, 0, 2)];
/// The name of the interface of a host, and of those of a switch.
const CARD: &str = "card";
const PORTS: [&str; 2] = ["port0", "port1"];
/// The bytes of a full packet that the kernel counts: the packet and its Ethernet header. On a
/// cable there are more around it.
const COUNTED: usize = MTU + 14;
/// The time in which a bucket fills at the least, and so the longest time for which a burst is too
/// fast.
const BURST: Duration = Duration::from_millis(2);
/// The smallest bucket, in bytes.
const SMALLEST: f64 = 16_000.0;
/// The smallest bucket to which a limit is changed: as much as the kernel handles as one packet. A
/// packet that waits already and is larger than the bucket would block all others for ever.
const SMALLEST_CHANGED: f64 = 66_000.0;
/// The longest time that the creation of a namespace may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// A cable, or two with a switch between them. It is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Cable {
    hosts: [Room; 2],
    switch: Option<Room>,
}

impl Cable {
    /// Sets up two hosts at the ends of a cable with `mbit` Mbit/s each way.
    pub(crate) fn start(
        _namespace: &Namespace,
        mbit: f64,
        has_switch: bool,
    ) -> Result<Self, EmulatorError> {
        let hosts = [Room::open()?, Room::open()?];
        let switch = if has_switch { Some(Room::open()?) } else { None };
        match &switch {
            None => connect((&hosts[0], CARD), (&hosts[1], CARD))?,
            Some(switch) => {
                for (host, port) in hosts.iter().zip(PORTS) {
                    connect((host, CARD), (switch, port))?;
                }
                switch.within(|| {
                    let mut commands =
                        "link add name bridge type bridge\nlink set bridge up\n".to_owned();
                    for port in PORTS {
                        commands.push_str(&format!("link set {port} up master bridge\n"));
                    }
                    ip(&commands)?;
                    PORTS.iter().try_for_each(|port| limit(Verb::Add, port, mbit))
                })?;
            }
        }
        for (host, address) in hosts.iter().zip(ADDRESSES) {
            host.within(|| {
                ip(&format!("address add {address}/24 dev {CARD}\nlink set {CARD} up\n"))?;
                limit(Verb::Add, CARD, mbit)
            })?;
        }
        Ok(Cable { hosts, switch })
    }

    /// Changes the rate to `mbit` Mbit/s each way, also for packets that wait already.
    pub(crate) fn change(&self, mbit: f64) -> Result<(), EmulatorError> {
        if let Some(switch) = &self.switch {
            let ports = || PORTS.iter().try_for_each(|port| limit(Verb::Change, port, mbit));
            switch.within(ports)?;
        }
        self.hosts.iter().try_for_each(|host| host.within(|| limit(Verb::Change, CARD, mbit)))
    }

    /// A TCP connection from one host to the other: both its ends.
    ///
    /// # Errors
    /// A call to the operating system fails.
    pub(crate) fn connect(&self) -> io::Result<[TcpStream; 2]> {
        let listener = self.hosts[1].within(|| TcpListener::bind((ADDRESSES[1], 0)))?;
        let server: SocketAddr = listener.local_addr()?;
        let client = self.hosts[0].within(|| TcpStream::connect(server))?;
        Ok([client, listener.accept()?.0])
    }

    /// Bytes that the second host has received, from the header of the frame on.
    ///
    /// # Errors
    /// A call to the operating system fails.
    pub(crate) fn received(&self) -> io::Result<u64> {
        // The file shows the interfaces of the namespace of the thread that reads it.
        let table = self.hosts[1].within(|| fs::read_to_string("/proc/thread-self/net/dev"))?;
        let line = table.lines().find_map(|line| line.trim().strip_prefix(CARD)?.strip_prefix(':'));
        let bytes = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        bytes.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

/// Creates two interfaces that are connected with each other.
fn connect((one, its): (&Room, &str), (other, theirs): (&Room, &str)) -> Result<(), EmulatorError> {
    let (one, other) = (one.keeper.id(), other.keeper.id());
    ip(&format!("link add {its} netns {one} type veth peer name {theirs} netns {other}\n"))
}

/// The change of an interface's limit: it is added or replaced.
#[derive(Clone, Copy)]
enum Verb {
    Add,
    Change,
}

/// Limits the rate at which an interface sends to `mbit` Mbit/s. All packets are counted with the
/// headers of full ones, so that the kernel may handle many as one.
fn limit(verb: Verb, interface: &str, mbit: f64) -> Result<(), EmulatorError> {
    let (verb, smallest) = match verb {
        Verb::Add => ("add", SMALLEST),
        Verb::Change => ("change", SMALLEST_CHANGED),
    };
    let rate = mbit * 1e6 * COUNTED as f64 / Ethernet::bytes(MTU) as f64;
    let burst = (rate / 8.0 * BURST.as_secs_f64()).max(smallest);
    let bucket = format!("tbf rate {rate:.0}bit burst {burst:.0} latency 50ms");
    run("tc", &format!("qdisc {verb} dev {interface} root {bucket}\n"))
}

/// A namespace, which lasts as long as a process in it does.
#[derive(Debug)]
struct Room {
    keeper: Child,
    link: fs::File,
}

impl Room {
    fn open() -> Result<Self, EmulatorError> {
        let mut unshare = Command::new("unshare");
        // The process ends with its standard input, which closes when this program ends.
        unshare.args(["--net", "--", "cat"]).stdin(Stdio::piped()).stdout(Stdio::null());
        let mut keeper = unshare.stderr(Stdio::null()).spawn()?;
        let (ours, path) =
            (fs::read_link("/proc/self/ns/net")?, format!("/proc/{}/ns/net", keeper.id()));
        let start = Instant::now();
        while fs::read_link(&path).map_or(true, |theirs| theirs == ours) {
            if start.elapsed() > PATIENCE || keeper.try_wait()?.is_some() {
                // The process may have ended already.
                let _ = keeper.kill();
                let why = "no second network namespace".to_owned();
                return Err(EmulatorError::SetUp { why });
            }
            thread::sleep(Duration::from_millis(1));
        }
        Ok(Room { keeper, link: fs::File::open(&path)? })
    }

    /// Calls a function within the namespace. Sockets that it makes stay there.
    fn within<T: Send, E: From<io::Error> + Send>(
        &self,
        job: impl FnOnce() -> Result<T, E> + Send,
    ) -> Result<T, E> {
        thread::scope(|scope| {
            let enter = || {
                let kind = Some(LinkNameSpaceType::Network);
                move_into_link_name_space(self.link.as_fd(), kind).map_err(io::Error::from)?;
                job()
            };
            let done = scope.spawn(enter).join();
            done.unwrap_or_else(
                |_| Err(io::Error::other("what ran in a namespace panicked").into()),
            )
        })
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.keeper.kill();
        let _ = self.keeper.wait();
    }
}

//! The networks of processes: each has a network namespace of its own, between which the packets of
//! one direction can be dropped.

use std::fmt;
use std::net::Ipv4Addr;
use std::process::{Command, Stdio};

/// The Ethernet address of nobody. A packet to it is lost, and neither end learns of it.
const NOBODY: &str = "02:00:00:00:00:00";

/// A network with a bridge, on which this process is as well. Where there are no namespaces, all
/// processes are on loopback.
pub(super) struct Network {
    /// The name of the bridge, which the names of namespaces begin with.
    name: String,
    here: Place,
    places: Vec<Place>,
}

/// Where a process runs.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) address: Ipv4Addr,
    /// The name of the namespace, and of the device in it.
    namespace: Option<String>,
    device: String,
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.address.fmt(f)
    }
}

impl Place {
    /// The loopback address of this machine, in no namespace.
    pub(super) fn loopback() -> Self {
        Place { address: Ipv4Addr::LOCALHOST, namespace: None, device: "lo".to_owned() }
    }

    /// A command that runs a program here.
    pub(super) fn command(&self, program: &str) -> Command {
        let Some(namespace) = &self.namespace else { return Command::new(program) };
        // `ip netns exec` would take a copy of all mounts as well, and keep them from being
        // unmounted.
        let mut command = Command::new("nsenter");
        command.args([&format!("--net=/run/netns/{namespace}"), program]);
        command
    }

    fn neighbour(&self, options: &str, to: &Place) {
        let device = &self.device;
        let command = format!("neigh {options} dev {device}").replace("ADDRESS", &to.text());
        let namespace = self.namespace.iter().flat_map(|namespace| ["-n", namespace]);
        let changed = Command::new("ip").args(namespace).args(command.split(' ')).status();
        assert!(changed.unwrap().success(), "ip {command}");
    }

    fn text(&self) -> String {
        self.address.to_string()
    }
}

impl Network {
    /// A network with namespaces, if this machine can make one.
    pub(super) fn new() -> Self {
        let process = std::process::id();
        let [high, low] = [64 + (process >> 8) % 64, process % 256];
        let address = Ipv4Addr::new(10, high as u8, low as u8, 1);
        let name = format!("gw{process}");
        let has_bridge = ip(&format!("link add {name} type bridge"))
            && ip(&format!("addr add {address}/24 dev {name}"))
            && ip(&format!("link set {name} up"));
        let here = if has_bridge {
            Place { address, namespace: None, device: name.clone() }
        } else {
            crate::skip::skip("network namespaces");
            Place::loopback()
        };
        Network { name, here, places: Vec::new() }
    }

    /// True if packets can be dropped.
    pub(super) fn can_drop(&self) -> bool {
        !self.here.address.is_loopback()
    }

    /// This process.
    pub(super) fn here(&self) -> &Place {
        &self.here
    }

    /// A place for a process.
    pub(super) fn place(&mut self) -> Place {
        if !self.can_drop() {
            return Place::loopback();
        }
        let number = self.places.len() as u8 + 2;
        let [a, b, c, _] = self.here.address.octets();
        let address = Ipv4Addr::new(a, b, c, number);
        let (bridge, namespace) = (&self.name, format!("{}-{number}", self.name));
        let outside = format!("{bridge}v{number}");
        for command in [
            format!("netns add {namespace}"),
            format!("link add {outside} type veth peer name eth0 netns {namespace}"),
            format!("link set {outside} master {bridge} up"),
            format!("-n {namespace} addr add {address}/24 dev eth0"),
            format!("-n {namespace} link set eth0 up"),
            format!("-n {namespace} link set lo up"),
        ] {
            assert!(ip(&command), "ip {command}");
        }
        let place = Place { address, namespace: Some(namespace), device: "eth0".to_owned() };
        self.places.push(place.clone());
        place
    }

    /// Drops all packets from some places to others.
    pub(super) fn drop_packets(&self, from: &[Place], to: &[Place]) {
        for_each(from, to, |from, to| {
            from.neighbour(&format!("replace ADDRESS lladdr {NOBODY} nud permanent"), to);
        });
    }

    /// Lets the packets pass again.
    pub(super) fn pass_packets(&self, from: &[Place], to: &[Place]) {
        for_each(from, to, |from, to| from.neighbour("del ADDRESS", to));
    }
}

fn for_each(from: &[Place], to: &[Place], change: impl Fn(&Place, &Place)) {
    for from in from {
        to.iter().filter(|to| to.address != from.address).for_each(|to| change(from, to));
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for (place, number) in self.places.iter().zip(2..) {
            ip(&format!("link del {}v{number}", self.name));
            ip(&format!("netns del {}", place.namespace.as_ref().unwrap()));
        }
        if self.can_drop() {
            ip(&format!("link del {}", self.name));
        }
    }
}

fn ip(command: &str) -> bool {
    let done = Command::new("ip").args(command.split(' ')).stderr(Stdio::null()).status();
    done.is_ok_and(|done| done.success())
}

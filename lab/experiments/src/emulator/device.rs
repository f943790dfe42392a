//! The network itself: a TUN device, a thread that reads it and a courier that writes it.

use std::fmt::{self, Write as _};
use std::fs;
use std::io::{self, Write as _};
use std::net::Ipv4Addr;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use tun_rs::{DeviceBuilder, InterruptEvent, SyncDevice};

use super::courier::Courier;
use super::links::Links;
use super::network::{Route, content, is_of_moved, readdress};
use super::{EmulatorError, Host, MAX_CLIENTS, Namespace, Path, PathStats};

/// The name of the device. Each namespace has only one: a second emulator finds the name taken.
pub(super) const DEVICE: &str = "groupwire0";

/// The MTU of Ethernet, in bytes.
pub(super) const MTU: usize = 1500;

/// The length of the kernel's queue of packets for the reading thread. A burst of 100 KB of the
/// smallest TCP segments does not overflow it.
const KERNEL_QUEUE: usize = 4096;

/// An emulated network that is up until it is dropped.
pub(crate) struct Emulator {
    links: Arc<Mutex<Vec<Links>>>,
    stop: Arc<InterruptEvent>,
    reader: Option<JoinHandle<()>>,
}

impl Emulator {
    /// Sets up a network with the server and a client at the end of each path.
    ///
    /// Time starts now for losses that depend on it, and for recorded capacities.
    ///
    /// # Errors
    /// Where no TUN device is permitted or `ip` is not installed; if there is another emulator in
    /// this namespace.
    pub(crate) fn start(_namespace: &Namespace, paths: &[Path]) -> Result<Self, EmulatorError> {
        if paths.is_empty() || paths.len() > MAX_CLIENTS {
            return Err(EmulatorError::Clients(paths.len()));
        }
        let device = open(paths.len())?;

        // Packets from the device include their headers.
        let links = |path| Links::new(path, 0);
        let links = Arc::new(Mutex::new(paths.iter().map(links).collect()));
        let stop = Arc::new(InterruptEvent::new()?);
        let writer = Arc::clone(&device);
        let courier = Courier::start(move |packet: Vec<u8>| {
            // The kernel refuses packets whose headers are damaged, as a network card does.
            let _ = writer.send(&packet);
        })?;
        let reader = Reader { device, stop: Arc::clone(&stop), links: Arc::clone(&links), courier };
        let thread = std::thread::Builder::new().name("emulator".into());
        let thread = thread.spawn(move || reader.run())?;
        Ok(Emulator { links, stop, reader: Some(thread) })
    }

    /// The client at the end of the n-th path.
    ///
    /// # Panics
    /// If there is no such path.
    pub(crate) fn client(&self, n: usize) -> Host {
        let host = Host::client(n).filter(|_| n < self.lock().len());
        host.expect("the caller gave a path for each client")
    }

    /// Puts another path in the place of the n-th. Packets under way still arrive; time and counts
    /// begin anew.
    ///
    /// # Panics
    /// If there is no such path.
    pub(crate) fn change(&self, n: usize, path: &Path) {
        let links = &mut self.lock()[n];
        *links = Links { has_moved: links.has_moved, ..Links::new(path, 0) };
    }

    /// Moves the n-th client to another network, or back: from now on its address is another one,
    /// and nothing comes from or goes to the one it had. It is a client that reaches the server at
    /// [`Host::server`].
    ///
    /// # Errors
    /// Where `ip` fails.
    ///
    /// # Panics
    /// If there is no such path.
    pub(crate) fn move_client(&self, n: usize) -> Result<(), EmulatorError> {
        let client = self.client(n);
        let has_moved = {
            let links = &mut self.lock()[n];
            links.has_moved = !links.has_moved;
            links.has_moved
        };
        let (before, after) = match has_moved {
            true => (client.local(), client.moved_local()),
            false => (client.moved_local(), client.local()),
        };
        let server = client.server();
        ip(&format!(
            "address add {after}/32 dev {DEVICE}\n\
             route replace {server} dev {DEVICE} src {after}\n\
             address del {before}/32 dev {DEVICE}\n"
        ))
    }

    /// The counters of the n-th path.
    ///
    /// # Panics
    /// If there is no such path.
    pub(crate) fn stats(&self, n: usize) -> PathStats {
        self.lock()[n].stats()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Links>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        // Triggering only fails if the thread has ended by itself.
        let _ = self.stop.trigger();
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

impl fmt::Debug for Emulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Emulator").field("links", &self.links).finish_non_exhaustive()
    }
}

/// The thread that passes packets from the kernel to the links.
struct Reader {
    device: Arc<SyncDevice>,
    stop: Arc<InterruptEvent>,
    links: Arc<Mutex<Vec<Links>>>,
    courier: Courier<Vec<u8>>,
}

impl Reader {
    fn run(self) {
        let mut buffer = [0; MTU];
        loop {
            match self.device.recv_intr(&mut buffer, &self.stop) {
                Ok(len) => self.carry(&mut buffer[..len]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // The thread was told to stop, or the device is gone.
                Err(_) => return,
            }
        }
    }

    fn carry(&self, packet: &mut [u8]) {
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(route) = readdress(packet, links.len()) else {
            return;
        };
        let (Route::Up(client) | Route::Down(client)) = route;
        let links = &mut links[client];
        if links.has_moved != is_of_moved(packet) {
            return;
        }
        let direction = match route {
            Route::Up(_) => &mut links.up,
            Route::Down(_) => &mut links.down,
        };
        let content = content(packet);
        direction.carry((packet, content), &self.courier, <[u8]>::to_vec);
    }
}

/// Opens the device, with the addresses of the server and of `clients` clients.
pub(super) fn open(clients: usize) -> Result<Arc<SyncDevice>, EmulatorError> {
    let device = DeviceBuilder::new().name(DEVICE).build_sync();
    let device = Arc::new(device.map_err(EmulatorError::Device)?);
    set_up(clients)?;
    Ok(device)
}

/// Gives the hosts their addresses.
fn set_up(clients: usize) -> Result<(), EmulatorError> {
    // Otherwise a connection would start with the path metrics of the last one to the same host.
    let metrics = "/proc/sys/net/ipv4/tcp_no_metrics_save";
    fs::write(metrics, "1")
        .map_err(|error| EmulatorError::SetUp { why: format!("{metrics}: {error}") })?;

    let clients: Vec<_> = (0..clients).filter_map(Host::client).collect();
    let mut commands = format!(
        "link set lo up\n\
         link set {DEVICE} up mtu {MTU} txqueuelen {KERNEL_QUEUE}\n"
    );
    let locals = clients.iter().flat_map(|client| [client.local(), client.server_local()]);
    for address in [Host::SERVER.local()].into_iter().chain(locals) {
        // Writing to a string does not fail.
        let _ = writeln!(commands, "address add {address}/32 dev {DEVICE}");
    }
    let mut route = |to: Ipv4Addr, from: Host| {
        let _ = writeln!(commands, "route add {to} dev {DEVICE} src {}", from.local());
    };
    for client in &clients {
        route(client.remote(), Host::SERVER);
        route(client.moved_remote(), Host::SERVER);
        route(client.server(), *client);
    }
    route(Host::SERVER.remote(), clients[0]);
    ip(&commands)
}

/// Runs commands of iproute2's `ip`, a line each.
pub(super) fn ip(commands: &str) -> Result<(), EmulatorError> {
    run("ip", commands)
}

/// Runs commands of a program of iproute2, a line each.
pub(super) fn run(program: &'static str, commands: &str) -> Result<(), EmulatorError> {
    let mut command = Command::new(program);
    command.args(["-batch", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => EmulatorError::Missing { program, package: "iproute2" },
        _ => EmulatorError::System(error),
    })?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(commands.as_bytes())?;
    }
    let output = child.wait_with_output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(EmulatorError::SetUp { why: String::from_utf8_lossy(&output.stderr).trim().to_owned() })
}

//! Flows of the kernel's TCP that send as much as they may.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread::JoinHandle;

use socket2::{Domain, Socket, Type};

use super::meter::Meter;
use crate::Result;
use crate::emulator::Host;

pub(super) struct Flows {
    senders: Vec<TcpStream>,
    threads: Vec<JoinHandle<()>>,
}

impl Flows {
    /// Opens `count` connections from the client to the server, with this congestion control.
    pub(super) fn start(client: Host, control: &str, count: usize, meter: &Meter) -> Result<Self> {
        let listener = TcpListener::bind((Host::SERVER.local(), 0))?;
        let server = SocketAddr::from((Host::SERVER.remote(), listener.local_addr()?.port()));
        let mut flows = Flows { senders: Vec::new(), threads: Vec::new() };
        for _ in 0..count {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
            socket.bind(&SocketAddr::from((client.local(), 0)).into())?;
            choose(&socket, control).map_err(|error| {
                format!("the kernel does not permit congestion control {control}: {error}")
            })?;
            socket.connect(&server.into())?;
            let sender = TcpStream::from(socket);
            let (mut receiver, _) = listener.accept()?;
            let meter = meter.clone();
            flows.threads.push(std::thread::spawn(move || {
                let mut buffer = [0; 1 << 16];
                while let Ok(bytes @ 1..) = receiver.read(&mut buffer) {
                    meter.others(bytes);
                }
            }));
            let mut writer = sender.try_clone()?;
            flows.threads.push(std::thread::spawn(move || {
                let buffer = [0; 1 << 14];
                while writer.write_all(&buffer).is_ok() {}
            }));
            flows.senders.push(sender);
        }
        Ok(flows)
    }

    pub(super) fn stop(self) {
        for sender in &self.senders {
            // Shutting down fails if the connection has broken by itself.
            let _ = sender.shutdown(Shutdown::Both);
        }
        for thread in self.threads {
            let _ = thread.join();
        }
    }
}

#[cfg(target_os = "linux")]
fn choose(socket: &Socket, control: &str) -> io::Result<()> {
    socket.set_tcp_congestion(control.as_bytes())
}

/// Other systems have no emulator, so this is never called.
#[cfg(not(target_os = "linux"))]
fn choose(_: &Socket, _: &str) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

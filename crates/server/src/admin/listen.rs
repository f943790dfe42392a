//! The server's end of the socket.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener as StdListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use socket2::{Domain, SockAddr, Socket, Type};
use tokio::net::UnixListener;
use tokio::sync::Semaphore;

use super::SOCKET;
use super::commands::carry_out;
use super::protocol::{MAX_REQUEST, Reply, Request, read_line, write_line};
use crate::hub::Hub;

/// Commands that are carried out at a time; further ones wait.
const AT_ONCE: usize = 8;

/// The time for sending a request, and for taking a part of the reply. The other end is a program on this machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// The listening socket, which is removed from the folder when it is dropped.
pub(crate) struct AdminSocket {
    listener: UnixListener,
    _file: SocketFile,
}

struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl AdminSocket {
    /// Listens in the folder, whose lock this process has. So a socket that is there is one of a server that was killed.
    ///
    /// # Errors
    /// The path is longer than the system permits (some 100 bytes), or its file system has no sockets.
    pub(crate) fn bind(folder: &Path) -> io::Result<Self> {
        let path = folder.join(SOCKET);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        socket.bind(&SockAddr::unix(&path)?)?;
        let file = SocketFile(path);
        // Before it listens, so that nobody else connects meanwhile.
        fs::set_permissions(&file.0, Permissions::from_mode(0o600))?;
        socket.listen(16)?;
        socket.set_nonblocking(true)?;
        let listener = UnixListener::from_std(StdListener::from(socket))?;
        Ok(AdminSocket { listener, _file: file })
    }

    /// Carries out the commands of all connections, each in a thread of its own. The process can end while they run: the store
    /// survives that.
    pub(crate) async fn serve(self, hub: Arc<Hub>) {
        let places = Arc::new(Semaphore::new(AT_ONCE));
        loop {
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
            let stream = match self.listener.accept().await {
                Ok((stream, _)) => stream.into_std(),
                Err(error) => {
                    // The process has no file descriptors left, for example.
                    tracing::warn!(%error, "no connection for commands");
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    continue;
                }
            };
            let hub = Arc::clone(&hub);
            thread::spawn(move || {
                let outcome = stream.and_then(|stream| answer(&hub, &stream));
                if let Err(error) = outcome {
                    tracing::warn!(%error, "a command was not read or not answered");
                }
                drop(place);
            });
        }
    }
}

fn answer(hub: &Hub, mut stream: &UnixStream) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let reply = match read_line::<Request>(stream, MAX_REQUEST) {
        Ok(request) => reply(hub, request),
        Err(error) => Reply::Failed(format!("the request cannot be read: {error}")),
    };
    write_line(&mut stream, &reply)
}

/// Carries a command out. Rooms whose stored content is no longer theirs end, and are loaded when their participants come back.
fn reply(hub: &Hub, request: Request) -> Reply {
    let Some(durable) = &hub.durable else {
        return Reply::Failed("this server stores no rooms".to_owned());
    };
    tracing::info!(?request, "command received");
    carry_out(&durable.store, request, |room| hub.end_stored(room))
}

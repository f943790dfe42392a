//! The server's end of the socket.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::Semaphore;

use super::commands::carry_out;
use super::context::CommandContext;
use super::handover::give;
use super::protocol::{MAX_REQUEST, Reply, Request, SOCKET, read_line, write_line};
use crate::tools::private_socket::PrivateSocket;

/// Commands that are carried out at a time; further ones wait.
const AT_ONCE: usize = 8;

/// The time for sending a request, and for taking a part of the reply. The other end is a program
/// on this machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// The listening socket for commands.
pub(crate) struct AdminSocket(PrivateSocket);

impl AdminSocket {
    /// Listens in the folder. This process has the folder's lock, so an existing socket was left
    /// behind by a server that was killed.
    ///
    /// # Errors
    /// As [`PrivateSocket::bind`].
    pub(crate) fn bind(folder: &Path) -> io::Result<Self> {
        PrivateSocket::bind(&folder.join(SOCKET)).map(AdminSocket)
    }

    /// Carries out the commands of all connections, each in a thread of its own. The process can
    /// end while they run: the store survives that.
    pub(crate) async fn serve(self, context: Arc<CommandContext>) {
        let places = Arc::new(Semaphore::new(AT_ONCE));
        loop {
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
            let stream = self.0.accept().await.into_std();
            let context = Arc::clone(&context);
            thread::spawn(move || {
                let outcome = stream.and_then(|stream| answer(&context, &stream));
                if let Err(error) = outcome {
                    tracing::warn!(%error, "a command was not read or not answered");
                }
                drop(place);
            });
        }
    }
}

fn answer(context: &CommandContext, mut stream: &UnixStream) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let reply = match read_line::<Request>(stream, MAX_REQUEST) {
        Ok(Request::Upgrade) => {
            return give(&context.handover, &context.rooms.context().drain, stream);
        }
        Ok(request) => reply(context, request),
        Err(error) => Reply::Failed(format!("the request cannot be read: {error}")),
    };
    write_line(&mut stream, &reply)
}

/// Carries a command out. Open rooms whose stored content was changed end, and are loaded again
/// when their participants come back.
fn reply(context: &CommandContext, request: Request) -> Reply {
    let Some(durable) = &context.rooms.context().durable else {
        return Reply::Failed("this server stores no rooms".to_owned());
    };
    tracing::info!(?request, "command received");
    carry_out(&durable.stores, request, |room| context.rooms.end_stored(room))
}

//! A Unix socket that only the server's user may open, and that is removed at the server's end.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener as StdListener, UnixStream as StdStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use socket2::{Domain, SockAddr, SockRef, Socket, Type};
use tokio::net::{UnixListener, UnixStream};

/// A listening socket, whose file is removed when it is dropped.
pub(crate) struct PrivateSocket {
    listener: UnixListener,
    file: Arc<SocketFile>,
}

/// The file of a socket, which is removed when this is dropped, unless it was left to another
/// process.
pub(crate) struct SocketFile {
    path: PathBuf,
    is_left: AtomicBool,
}

impl SocketFile {
    fn new(path: &Path) -> Self {
        SocketFile { path: path.to_owned(), is_left: AtomicBool::new(false) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves the file to another process, which has the socket.
    pub(crate) fn leave(&self) {
        self.is_left.store(true, Ordering::Relaxed);
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if !self.is_left.load(Ordering::Relaxed) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl PrivateSocket {
    /// Listens at a path that nobody else uses: what is there is the socket of a server that was
    /// killed.
    ///
    /// # Errors
    /// The path is longer than the system permits (some 100 bytes), or its file system has no
    /// sockets.
    pub(crate) fn bind(path: &Path) -> io::Result<Self> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        socket.bind(&SockAddr::unix(path)?)?;
        let file = SocketFile::new(path);
        // Before it listens, so that nobody else connects meanwhile.
        fs::set_permissions(path, Permissions::from_mode(0o600))?;
        socket.listen(16)?;
        PrivateSocket::listening(socket, file)
    }

    /// Listens on a socket that another process has handed over, at this path.
    ///
    /// # Errors
    /// What was handed over is no listening Unix socket.
    pub(crate) fn taken(socket: Socket, path: &Path) -> io::Result<Self> {
        let file = SocketFile::new(path);
        PrivateSocket::listening(socket, file)
    }

    fn listening(socket: Socket, file: SocketFile) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let listener = UnixListener::from_std(StdListener::from(socket))?;
        Ok(PrivateSocket { listener, file: Arc::new(file) })
    }

    /// A second descriptor of the socket, for another process, and the socket's file.
    pub(crate) fn offer(&self) -> (Arc<SocketFile>, io::Result<Socket>) {
        (Arc::clone(&self.file), SockRef::from(&self.listener).try_clone())
    }

    /// Listens at a path, unless a file that is no socket is there, or a process listens there.
    ///
    /// # Errors
    /// As [`PrivateSocket::bind`]; `AddrInUse` or `AlreadyExists` if the path is in use.
    pub(crate) fn bind_unused(path: &Path) -> io::Result<Self> {
        if let Ok(metadata) = fs::symlink_metadata(path) {
            if !metadata.file_type().is_socket() {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            if StdStream::connect(path).is_ok() {
                return Err(io::ErrorKind::AddrInUse.into());
            }
        }
        PrivateSocket::bind(path)
    }

    /// Accepts the next connection.
    pub(crate) async fn accept(&self) -> UnixStream {
        loop {
            match self.listener.accept().await {
                Ok((stream, _)) => return stream,
                Err(error) => {
                    // The process has no file descriptors left, for example.
                    tracing::warn!(%error, "cannot accept a connection of a Unix socket");
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_its_user_may_open_it_and_it_takes_no_ones_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let socket = PrivateSocket::bind_unused(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let taken = PrivateSocket::bind_unused(&path).err().map(|error| error.kind());
        assert_eq!(taken, Some(io::ErrorKind::AddrInUse));
        drop(socket);
        assert!(!path.exists());
        // The socket of a process that was killed stays, and nobody listens on it.
        drop(StdListener::bind(&path).unwrap());
        assert!(path.exists() && PrivateSocket::bind_unused(&path).is_ok());
        fs::write(&path, "a letter").unwrap();
        let file = PrivateSocket::bind_unused(&path).err().map(|error| error.kind());
        assert_eq!(file, Some(io::ErrorKind::AlreadyExists));
        assert_eq!(fs::read_to_string(&path).unwrap(), "a letter");
    }
}

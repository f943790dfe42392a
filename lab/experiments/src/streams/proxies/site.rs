//! The files of an HTTP server: those of the experiment and others that the system has.

use std::fs::{self, File};
use std::io::{self, Read};
use std::net::SocketAddr;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use groupwire_ports::free_port;

use super::{Files, folder};
use crate::host::Folder;
use crate::server::{Server, Start};

/// Directories with files of many kinds.
const FOLDERS: [&str; 3] = ["/usr/lib", "/usr/share", "/usr/bin"];
/// The smallest file. With smaller ones the server would be measured, not the network.
const SMALLEST: u64 = 64 << 10;
/// The largest file. A larger one would be nearly all of the bytes.
const LARGEST: u64 = 32 << 20;
/// How deep folders are searched.
const DEPTH: usize = 5;

/// A folder of mixed files and a server for it.
pub(super) struct Site {
    folder: Folder,
    /// The names of the files, in the order in which they are fetched.
    names: Vec<String>,
    pub(super) bytes: u64,
}

impl Site {
    /// Collects files of at most `bytes` bytes, and hardly fewer, if the system has them: first the
    /// benchmark's files, then the system's.
    pub(super) fn new(files: &Files, bytes: u64) -> io::Result<Site> {
        let mut site = Site { folder: folder()?, names: Vec::new(), bytes: 0 };
        let samples = files.benchmark.iter();
        for sample in samples {
            let left = (bytes - site.bytes) as usize;
            let part = &sample.bytes[..sample.bytes.len().min(left)];
            if !part.is_empty() {
                fs::write(site.next(part.len() as u64), part)?;
            }
        }
        for folder in FOLDERS {
            site.gather(Path::new(folder), DEPTH, bytes)?;
        }
        Ok(site)
    }

    /// The path of the next file, whose bytes are counted.
    fn next(&mut self, bytes: u64) -> std::path::PathBuf {
        let name = format!("{:05}", self.names.len());
        let path = self.folder.path().join(&name);
        self.names.push(name);
        self.bytes += bytes;
        path
    }

    /// Adds links to the files in a folder and its folders.
    fn gather(&mut self, folder: &Path, depth: usize, most: u64) -> io::Result<()> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            let Ok(about) = path.symlink_metadata() else { continue };
            let fits =
                (SMALLEST..=LARGEST).contains(&about.len()) && about.len() <= most - self.bytes;
            if about.is_dir() && depth > 0 {
                self.gather(&path, depth - 1, most)?;
            } else if about.is_file() && fits && File::open(&path).is_ok() {
                symlink(&path, self.next(about.len()))?;
            }
        }
        Ok(())
    }

    /// curl's configuration: every file from there, one behind the other.
    pub(super) fn configuration(&self, from: SocketAddr) -> String {
        self.names
            .iter()
            .map(|name| format!("url = \"http://{from}/{name}\"\noutput = \"-\"\n"))
            .collect()
    }

    /// Compares the bytes that arrive with the files, to the end of both. Returns what came, and
    /// what is wrong first.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(super) fn compare(&self, mut from: impl Read) -> io::Result<(u64, Option<String>)> {
        let (mut came, mut theirs, mut ours) = (0, vec![0; 1 << 16], vec![0; 1 << 16]);
        for name in &self.names {
            let mut file = File::open(self.folder.path().join(name))?;
            loop {
                let count = file.read(&mut ours)?;
                if count == 0 {
                    break;
                }
                if from.read_exact(&mut theirs[..count]).is_err() {
                    return Ok((came, Some(format!("it ends after {came} bytes"))));
                }
                if theirs[..count] != ours[..count] {
                    return Ok((came, Some(format!("another byte in the {count} after {came}"))));
                }
                came += count as u64;
            }
        }
        let more = from.read(&mut theirs)?;
        Ok((came, (more > 0).then(|| "more than was asked for".to_owned())))
    }

    /// An HTTP server that everybody has: the one of Python, on all addresses.
    ///
    /// # Errors
    /// If it does not start.
    pub(super) fn serve(&self, python: &Path) -> io::Result<Server> {
        let port = free_port()?;
        let mut command = Command::new(python);
        // Connections are kept alive, as by any other server.
        command.args([
            "-m",
            "http.server",
            &port.to_string(),
            "--protocol",
            "HTTP/1.1",
            "--directory",
        ]);
        command.arg(self.folder.path());
        command.stderr(Stdio::null());
        Server::start(Start { command, port: Some(port) }).map_err(io::Error::other)
    }
}

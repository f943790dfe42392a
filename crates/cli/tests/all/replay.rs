//! Runs of `groupwire replay` against `groupwire serve`.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

const GROUPWIRE: &str = env!("CARGO_BIN_EXE_groupwire");

/// A running `groupwire serve`.
struct Server {
    process: Child,
    /// Host and port for HTTP and for WebTransport.
    address: String,
    /// Host and port for plain TCP.
    socket: String,
}

impl Server {
    fn start() -> Self {
        let mut process = Command::new(GROUPWIRE)
            .args(["serve", "--listen", "127.0.0.1:0", "--socket", "127.0.0.1:0"])
            .args(["--log", "warn"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        // The administration's address stands between the two.
        let mut said = |scheme: &str| {
            let found = lines.find_map(|line| {
                let line = line.unwrap();
                let (_, address) = line.split_once(scheme)?;
                Some(address.split('/').next()?.to_owned())
            });
            found.expect("it says where it is")
        };
        let (address, socket) = (said("http://"), said("tcp://"));
        Server { process, address, socket }
    }

    fn urls(&self) -> [String; 3] {
        let Server { address, socket, .. } = self;
        [format!("ws://{address}"), format!("https://{address}"), format!("tcp://{socket}")]
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

fn replay(arguments: &[&str]) -> Output {
    Command::new(GROUPWIRE).arg("replay").args(arguments).output().unwrap()
}

fn samples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples");
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "bin")).collect()
}

#[test]
fn all_messages_of_the_samples_arrive() {
    let samples = samples();
    assert!(!samples.is_empty(), "there are no recordings in samples/");
    let server = Server::start();
    let [url, ..] = server.urls();
    for path in samples {
        let trace = path.to_str().unwrap();
        let output = replay(&[
            "--trace",
            trace,
            "--speed",
            "40",
            "--receivers",
            "2",
            "--json",
            "--url",
            &url,
        ]);
        let text = String::from_utf8(output.stdout).unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{trace}: {error}\n{text}");
        let all: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert_eq!((&all["channel"], &all["verified"]), (&"all".into(), &true.into()));
        let bytes = |name: &str| all[name].as_u64().unwrap();
        assert!(bytes("bytes_in_after") * 4 < bytes("bytes_in_before"), "{text}");
        assert!(bytes("bytes_out_after") * 4 < bytes("bytes_out_before"), "{text}");
    }
}

#[test]
fn every_qos_is_met_at_a_fixed_rate() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("replay");
    std::fs::create_dir_all(&folder).unwrap();
    let trace = folder.join("pointer.csv");
    let rows =
        (0..100).map(|n| format!("{},NoButton,Move,{},{}\n", n * 40, 3 * n % 97, 5 * n % 89));
    std::fs::write(&trace, rows.collect::<String>()).unwrap();
    let server = Server::start();
    let choices = ["transaction", "aggregate", "conflate", "by-kind"];
    for (url, qos) in server.urls().iter().flat_map(|url| choices.map(|one| (url, one))) {
        let room = format!("{qos} {url}");
        // Values of two senders wait for each receiver. Over datagrams at most 64 may wait on a
        // channel until the oldest is dropped, so that even if the machine stops both ends for as
        // long as messages are sent, none of 2 * 30 is lost.
        let seconds = if url.starts_with("https:") { "0.3" } else { "1" };
        let output = replay(&[
            "--trace",
            trace.to_str().unwrap(),
            "--room",
            &room,
            "--qos",
            qos,
            "--rate",
            "100",
            "--seconds",
            seconds,
            "--participants",
            "3",
            "--sample",
            "2",
            "--url",
            url,
        ]);
        let text = String::from_utf8_lossy(&output.stdout);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{room}: {error}\n{text}");
        assert!(text.contains("Every expected message arrived"), "{text}");
        // The port for plain TCP has no status.
        let asks_status = cfg!(target_os = "linux") && !url.starts_with("tcp:");
        assert_eq!(text.contains("per delivery"), asks_status, "{text}");
    }
}

#[test]
fn errors_say_what_to_do() {
    for (arguments, words) in [
        (&["--trace", "nowhere.bin"][..], "nowhere.bin"),
        (&["--trace", "Cargo.toml"], "*.bin"),
        (&["--trace", "x.bin", "--speed", "0"], "above 0"),
    ] {
        let output = replay(arguments);
        assert!(!output.status.success());
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.contains(words), "{arguments:?}: {error}");
    }
    let trace = samples().pop().unwrap();
    let port = groupwire_ports::free_port().unwrap();
    let url = format!("ws://127.0.0.1:{port}");
    let output = replay(&["--trace", trace.to_str().unwrap(), "--url", &url]);
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("groupwire serve"), "{error}");
}

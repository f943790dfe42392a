//! Errors of `groupwire serve` at its start.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs a server that cannot start, and returns its standard error.
fn refused(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_groupwire"));
    let output = command.args(["serve", "--log", "off"]).args(arguments).output().unwrap();
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn an_unreadable_certificate_is_named_without_a_hint_about_other_servers() {
    let listen = ["--listen", "127.0.0.1:0"];
    let error = refused(&[&listen[..], &["--cert", "/nope.pem", "--key", "/nope.key"]].concat());
    assert!(error.contains("cannot read /nope.pem"), "{error}");
    assert!(error.contains("--cert and --key must name two PEM files"), "{error}");
    assert!(!error.contains("another server"), "{error}");
}

#[test]
fn a_certificate_that_is_no_pem_is_named_without_a_hint_about_other_servers() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-certificate.pem");
    std::fs::write(&path, "hello").unwrap();
    let path = path.to_str().unwrap();
    let error = refused(&["--listen", "127.0.0.1:0", "--cert", path, "--key", path]);
    assert!(error.contains(path) && error.contains("PEM"), "{error}");
    assert!(!error.contains("another server"), "{error}");
}

/// Makes a self-signed certificate; `None` if openssl is not installed.
fn certificate(name: &str) -> Option<(String, String)> {
    let path = |end| format!("{}/{name}-{end}.pem", env!("CARGO_TARGET_TMPDIR"));
    let (cert, key) = (path("cert"), path("key"));
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]);
    openssl.args(["-nodes", "-subj", "/CN=localhost", "-days", "10"]);
    let made = openssl.args(["-keyout", &key, "-out", &cert]).output().ok()?;
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    Some((cert, key))
}

#[test]
fn a_wrong_key_is_named_in_plain_words() {
    let Some((cert, key)) = certificate("one") else { return };
    let Some((_, other)) = certificate("two") else { return };
    let encrypted = format!("{}/encrypted.pem", env!("CARGO_TARGET_TMPDIR"));
    let mut openssl = Command::new("openssl");
    openssl.args(["pkey", "-aes256", "-passout", "pass:x", "-in", &key, "-out", &encrypted]);
    assert!(openssl.output().unwrap().status.success());
    for (cert, key, said) in [
        (&cert, &other, "does not fit the certificate"),
        (&key, &cert, "it contains a PRIVATE KEY"),
        (&cert, &cert, "it contains a CERTIFICATE"),
        (&cert, &encrypted, "encrypted with a passphrase"),
    ] {
        let error = refused(&["--listen", "127.0.0.1:0", "--cert", cert, "--key", key]);
        assert!(error.contains(said) && error.contains("--cert and --key must"), "{error}");
    }
    let error = refused(&["--plain-listen", "127.0.0.1:0"]);
    assert!(error.contains("--cert"), "{error}");
}

#[cfg(unix)]
#[test]
fn an_encrypted_server_prints_its_address_and_warns() {
    use std::io::{BufRead, BufReader, Read};
    use std::os::unix::fs::PermissionsExt;
    let Some((cert, key)) = certificate("warned") else { return };
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let mut server = Command::new(env!("CARGO_BIN_EXE_groupwire"));
    server.args(["serve", "--listen", "127.0.0.1:0", "--cert", &cert, "--key", &key]);
    server.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut server = server.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    server.kill().unwrap();
    let mut warnings = String::new();
    server.stderr.take().unwrap().read_to_string(&mut warnings).unwrap();
    server.wait().unwrap();
    assert!(line.contains("https://127.0.0.1:"), "{line}");
    assert!(warnings.contains("every user of this machine can read"), "{warnings}");
}

#[test]
fn wrong_options_of_stored_rooms_are_named() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unused-rooms");
    let folder = folder.to_str().unwrap();
    let error = refused(&["--durable", "docs/*=local"]);
    assert!(error.contains("--data <FOLDER>"), "{error}");
    let error = refused(&["--data", folder, "--durable", "docs/*=disk"]);
    assert!(error.contains("docs/*=disk") && error.contains("memory, local or cluster"), "{error}");
    let error = refused(&["--data", folder, "--forget", "tmp/*=soon"]);
    assert!(error.contains("tmp/*=30d"), "{error}");
    let error = refused(&["--listen", "127.0.0.1:0", "--data", "/dev/null/rooms"]);
    assert!(error.contains("/dev/null/rooms"), "{error}");
}

#[test]
fn an_address_in_use_has_a_hint_about_other_servers() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let error = refused(&["--listen", &taken.local_addr().unwrap().to_string()]);
    assert!(error.contains("another server") && error.contains("--listen"), "{error}");
}

#[test]
fn an_administration_that_others_could_use_does_not_start() {
    let listen = ["--listen", "127.0.0.1:0"];
    let refused = |more: &[&str]| refused(&[&listen[..], more].concat());
    let error = refused(&["--admin-listen", "0.0.0.0:0"]);
    assert!(error.contains("needs a token") && error.contains("--admin-token-file"), "{error}");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("short-admin-token");
    std::fs::write(&path, "short").unwrap();
    let path = path.to_str().unwrap();
    let set_mode = |mode| {
        #[cfg(unix)]
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    };
    set_mode(0o600);
    let error = refused(&["--admin-listen", "0.0.0.0:0", "--admin-token-file", path]);
    assert!(error.contains("5 bytes") && error.contains("at least 32"), "{error}");
    if cfg!(unix) {
        set_mode(0o644);
        let error = refused(&["--admin-token-file", path]);
        assert!(error.contains("mode 644") && error.contains("chmod 600"), "{error}");
    }
    let error = refused(&["--admin-listen", "9090"]);
    assert!(error.contains("127.0.0.1:9090") && error.contains("unix:PATH"), "{error}");
}

#[test]
fn numbers_that_a_clock_or_a_size_cannot_hold_are_refused() {
    let most = u64::MAX.to_string();
    let hook = ["--hook", "https://example.org/who", "--hook-keep", &most];
    let data = ["--data", "/nope/never/made", "--max-data", &most];
    for options in [&["--keep-empty", &most][..], &hook, &data] {
        let error = refused(options);
        assert!(error.contains("is not in"), "{options:?}: {error}");
    }
    let token = ["token", "--keys", "/nope/keys", "--sub", "ann", "--room", "*", "--for", &most];
    let output = Command::new(env!("CARGO_BIN_EXE_groupwire")).args(token).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && error.contains("is not in"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_server_goes_on_when_nobody_reads_its_log() {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpStream;
    let mut server = Command::new(env!("CARGO_BIN_EXE_groupwire"));
    server.args(["serve", "--listen", "127.0.0.1:0", "--log", "debug", "--log-format", "json"]);
    let mut server = server.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
    // Each request is a line of the log; a pipe holds 64 KiB.
    let upload = format!("POST /http/up HTTP/1.1\r\nhost: {address}\r\ncontent-length: 16\r\n\r\n");
    let mut ask = || {
        stream.write_all(upload.as_bytes()).unwrap();
        stream.write_all(&[7; 16]).unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"no open transport has this id") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            answer.push(byte[0]);
        }
    };
    (0..2000).for_each(|_| ask());
    let mut log = BufReader::new(server.stderr.take().unwrap()).lines();
    // With a reader again, the log says what is missing.
    let mut is_said = false;
    for _ in 0..2000 {
        let line = log.next().unwrap().unwrap();
        is_said = line.contains("lines of the log are missing here");
        if is_said {
            let line: serde_json::Value = serde_json::from_str(&line).unwrap();
            assert_eq!(line["level"], "WARN");
            break;
        }
        ask();
    }
    assert!(is_said);
    server.kill().unwrap();
    server.wait().unwrap();
}

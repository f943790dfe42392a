//! Certificates by ACME, ordered from Pebble by the command as its users start it. `make test-acme`
//! builds Pebble and runs these.
#![cfg(unix)]

mod pebble;
mod server;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use groupwire_client::{Options, Qos, Room, Trust};
use groupwire_ports::free_port;
use tokio::time::timeout;

use self::pebble::Pebble;
use self::server::{Server, text};

/// Longer than anything here takes on a busy machine; a test that hangs ends by this.
const FOREVER: Duration = Duration::from_secs(150);

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Joins a room over TLS as a native client that trusts what Pebble issues.
async fn join(url: &str, pebble: &Pebble) -> Result<(), String> {
    let trust = Trust::File(pebble.issuer());
    let (room, _events) = Room::connect_trusting(url, trust, Options::new("demo")).unwrap();
    let _channel = room.channel("draw", Qos::transaction()).unwrap();
    let joined = timeout(FOREVER, room.joined()).await.expect("it neither joins nor fails");
    room.leave().await;
    joined.map(drop).map_err(|error| error.to_string())
}

/// The files of the server with this folder: the account and the certificate.
fn files(data: &Path) -> (String, String) {
    let folders: Vec<_> = fs::read_dir(data.join("acme")).unwrap().collect();
    assert_eq!(folders.len(), 1);
    let folder = folders[0].as_ref().unwrap().path();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let [account, certificate] = ["account.json", "certificate.pem"].map(|name| {
        let path = folder.join(name);
        assert_eq!(mode(&path), 0o600, "{name}");
        fs::read_to_string(path).unwrap()
    });
    (account, certificate)
}

#[tokio::test(flavor = "multi_thread")]
async fn one_ordered_certificate_is_for_https_wss_and_webtransport_and_lasts_over_restarts() {
    let Some(pebble) = Pebble::start("acme-order", 90 * DAY) else { return };
    let data = pebble.folder("data");
    let names = ["localhost", "b.example"];
    let server = Server::start(&pebble, &data, &names);
    // Pebble waits for a second before it validates, so there is no certificate yet.
    assert_eq!(server.plain("/readyz"), (503, "not ready\n".to_owned()));
    assert!(!server.plain("/transports").1.contains("webtransport"));
    assert!(server.openssl("localhost", &[]).contains("alert"));
    assert_eq!(server.status("certificate_expiry_timestamp_seconds"), serde_json::Value::Null);
    server.until_certified();
    assert!(server.plain("/transports").1.contains("webtransport"));
    let expiry = server.status("certificate_expiry_timestamp_seconds").as_i64().unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let left = expiry - now.as_secs() as i64;
    assert!((89 * 86400..=90 * 86400).contains(&left), "{left}");

    for name in names {
        let said = server.curl(name, "/healthz");
        assert!(["ok\n HTTP/2", "ok\n HTTP/1.1"].contains(&said.as_str()), "{said}");
        for version in ["-tls1_2", "-tls1_3"] {
            let said = server.openssl(name, &[version, "-alpn", "h2"]);
            let is_verified = said.contains("Verify return code: 0 (ok)");
            assert!(is_verified && said.contains("ALPN protocol: h2"), "{said}");
        }
    }
    // The proof is served only to the authority, and only while an order is under way.
    assert!(server.openssl("localhost", &["-alpn", "acme-tls/1"]).contains("alert"));
    assert!(server.openssl("localhost", &["-alpn", "acme-tls/1,h2"]).contains("ALPN protocol: h2"));
    for scheme in ["wss", "https"] {
        join(&format!("{scheme}://localhost:{}", server.port), &pebble).await.unwrap();
    }
    assert_eq!((pebble.orders(), pebble.accounts()), (1, 1));
    let (account, certificate) = files(&data);

    // A restart and an upgrade in place serve it at once, and order nothing.
    drop(server);
    let mut server = Server::start(&pebble, &data, &names);
    assert_eq!(server.plain("/readyz").0, 200);
    let root = pebble.root();
    let options = ["--trusted-root", text(&root), "--upgrade"];
    let next = Server::start_with(&pebble, &data, pebble.port, &names, &options);
    assert_eq!(server.wait(), Some(0));
    assert!(next.curl("b.example", "/healthz").starts_with("ok\n"));
    assert_eq!(files(&data), (account.clone(), certificate.clone()));
    assert_eq!((pebble.orders(), pebble.accounts()), (1, 1));

    // A further name needs another certificate. The old one is served meanwhile, and the account
    // stays.
    drop(next);
    let server = Server::start(&pebble, &data, &["localhost", "b.example", "c.example"]);
    assert!(server.curl("b.example", "/healthz").starts_with("ok\n"));
    server.until(|server| server.curl("c.example", "/healthz").starts_with("ok\n"), "c is missing");
    let (same, other) = files(&data);
    assert!(same == account && other != certificate);
    assert_eq!((pebble.orders(), pebble.accounts()), (2, 1));
}

/// The server looks every 30 s whether its certificate is due.
#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_is_renewed_before_its_end_and_always_served() {
    let Some(pebble) = Pebble::start("acme-renewal", Duration::from_secs(75)) else { return };
    let data = pebble.folder("data");
    let server = Server::start(&pebble, &data, &["localhost"]);
    server.until_certified();
    let expiry =
        |server: &Server| server.status("certificate_expiry_timestamp_seconds").as_i64().unwrap();
    let (first, (account, _)) = (expiry(&server), files(&data));
    server.until(
        |server| {
            let said = server.curl("localhost", "/healthz");
            assert!(said.starts_with("ok\n"), "{said}");
            expiry(server) != first
        },
        "it is not renewed",
    );
    assert!(expiry(&server) > first);
    assert_eq!(files(&data).0, account);
    assert_eq!((pebble.orders(), pebble.accounts()), (2, 1));
    for scheme in ["wss", "https"] {
        join(&format!("{scheme}://localhost:{}", server.port), &pebble).await.unwrap();
    }
}

#[test]
fn a_directory_that_is_not_trusted_gets_no_account_and_the_log_says_what_to_do() {
    let Some(pebble) = Pebble::start("acme-untrusted", 90 * DAY) else { return };
    let data = pebble.folder("data");
    let server = Server::start_with(&pebble, &data, pebble.port, &["localhost"], &[]);
    server.until_logged("no certificate was issued by ACME");
    let log = server.log();
    for due in ["UnknownIssuer", "--trusted-root", "next_try_seconds=6"] {
        assert!(log.contains(due), "{due}: {log}");
    }
    assert_eq!((pebble.orders(), pebble.accounts()), (0, 0));
    assert_eq!(server.plain("/healthz"), (200, "ok\n".to_owned()));
    // The root of the certificates that Pebble issues is not that of Pebble's own certificate.
    drop(server);
    let issuer = pebble.issuer();
    let options = ["--trusted-root", text(&issuer)];
    let server = Server::start_with(&pebble, &data, pebble.port, &["localhost"], &options);
    server.until_logged("invalid peer certificate");
    assert_eq!(pebble.accounts(), 0);
}

/// After a failure the server waits for a minute.
#[test]
fn names_that_lead_elsewhere_are_explained_and_tried_again() {
    let Some(pebble) = Pebble::start("acme-refused", 90 * DAY) else { return };
    let data = pebble.folder("data");
    pebble.set_address("a.example", "127.0.0.9");
    let server = Server::start(&pebble, &data, &["a.example"]);
    server.until_logged("no certificate was issued by ACME");
    let log = server.log();
    for due in ["a.example:", "Failed to connect", "TCP port 443", "A and AAAA records"] {
        assert!(log.contains(due), "{due}: {log}");
    }
    pebble.clear_address("a.example");
    server.until_certified();
    assert_eq!((pebble.orders(), pebble.accounts()), (2, 1));
    drop(server);

    let server = Server::start(&pebble, &data, &["a.example", "blocked.example"]);
    server.until_logged("rejectedIdentifier");
    assert!(server.log().contains("check --acme"), "{}", server.log());
    assert!(server.curl("a.example", "/healthz").starts_with("ok\n"), "the old one is served");
}

#[test]
fn two_processes_with_one_folder_order_once() {
    let Some(pebble) = Pebble::start("acme-two", 90 * DAY) else { return };
    let [root, folder] = [pebble.root(), pebble.folder("shared")];
    let options = ["--trusted-root", text(&root), "--acme-folder", text(&folder)];
    let (first, second) = (pebble.folder("first"), pebble.folder("second"));
    let other = free_port().unwrap();
    let first = Server::start_with(&pebble, &first, pebble.port, &["localhost"], &options);
    first.until_logged("orders a certificate");
    // Pebble cannot reach the second server, so an order of its own would fail.
    let second = Server::start_with(&pebble, &second, other, &["localhost"], &options);
    second.until_certified();
    assert!(second.curl("localhost", "/healthz").starts_with("ok\n"));
    assert!(first.curl("localhost", "/healthz").starts_with("ok\n"));
    assert_eq!((pebble.orders(), pebble.accounts()), (1, 1));
    assert!(!second.log().contains("orders a certificate"), "{}", second.log());
}

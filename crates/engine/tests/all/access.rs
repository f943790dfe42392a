//! Credentials and certificates, and the errors of a service that cannot be used.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use groupwire_engine::{Options, Tls, open};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use tempfile::TempDir;

use super::nats::Nats;
use super::postgres::Postgres;
use super::program::ports;
use super::service::{Service, append};

/// Opens what cannot be opened; returns the error's text, which an operator reads.
async fn refused(url: &str, options: Options) -> String {
    let options = Options { patience: Duration::from_secs(2), ..options };
    let error = open(url, options).await.err().expect("it is not opened");
    println!("{error}");
    error.to_string()
}

fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{text:?} says nothing of {part:?}");
    }
}

#[tokio::test]
async fn errors_name_the_address_the_cause_and_what_to_check() {
    let [port] = ports();
    let address = format!("127.0.0.1:{port}");
    let options = Options::new("cluster");
    let text = refused(&format!("nats://{address}"), options.clone()).await;
    has(&text, &[&address, "refused", "check the address"]);
    let text = refused(&format!("postgres://u:secret@{address}/db"), options.clone()).await;
    has(&text, &[&address, "refused", "check the address"]);
    assert!(!text.contains("secret"));

    has(
        &refused("nats://no-such-host.invalid:1", options.clone()).await,
        &["no-such-host.invalid"],
    );
    has(&refused("redis://host", options.clone()).await, &["nats://", "postgres://"]);
    has(&refused("postgres://host:port/db", options.clone()).await, &["URL", "port"]);
    has(&refused("nats://host:port", options.clone()).await, &["URL", "port"]);

    let missing = Some(PathBuf::from("/no/such/file"));
    let with = Options { credentials: missing.clone(), ..options.clone() };
    has(&refused(&format!("nats://{address}"), with).await, &["/no/such/file"]);
    let tls = Tls { roots: missing, identity: None };
    let with = Options { tls, ..options };
    has(&refused(&format!("postgres://u@{address}/db"), with).await, &["/no/such/file"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nats_asks_for_a_user_and_certificates() {
    let files = Files::new();
    let more = format!(
        "jetstream {{ STORE }}\nauthorization {{ user: groupwire, password: \"pass word\" }}
         tls {{ cert_file: {:?}, key_file: {:?}, ca_file: {:?}, verify: true }}",
        files.path("server.crt"),
        files.path("server.key"),
        files.path("ca.crt"),
    );
    let Some(nats) = Nats::start::<1>(&more) else { return };
    let good = Options {
        tls: files.tls(),
        credentials: Some(files.write("user", "groupwire\npass word\n")),
        ..nats.options("tls")
    };
    let engine = loop {
        match (&nats as &dyn Service).open_with(good.clone()).await {
            Ok(engine) => break engine,
            Err(error) => assert!(error.to_string().contains("refused"), "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    append(&*engine, 0, 0, &"entry".into()).await;

    let url = nats.url();
    let password = files.write("password", "pass word");
    let named = url.replace("nats://", "tls://groupwire@");
    open(&named, Options { credentials: Some(password.clone()), ..good.clone() }).await.unwrap();
    let text = refused(&url, Options { credentials: Some(password), ..good.clone() }).await;
    has(&text, &["names no user"]);
    let wrong = Some(files.write("wrong", "groupwire\nwrong"));
    let text = refused(&url, Options { credentials: wrong, ..good.clone() }).await;
    has(&text, &["check the file with the credential"]);
    let text = refused(&url, Options { tls: Tls::default(), ..good.clone() }).await;
    has(&text, &["check the certificates"]);
    let anonymous = Tls { identity: None, ..files.tls() };
    let text = refused(&url, Options { tls: anonymous, ..good }).await;
    has(&text, &["cannot use the engine"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nats_without_jetstream_says_so() {
    let Some(nats) = Nats::start::<1>("") else { return };
    for _ in 0..50 {
        let text = refused(&nats.url(), nats.options("off")).await;
        if !text.contains("refused") {
            return has(&text, &["JetStream is off", "--jetstream"]);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the server did not start");
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_asks_for_a_password_and_certificates() {
    let files = Files::new();
    let Some(mut postgres) = Postgres::prepare(&["ssl=on", "ssl_ca_file=ca.crt"]) else { return };
    for name in ["server.crt", "server.key", "ca.crt"] {
        let path = postgres.data().join(name);
        fs::copy(files.path(name), &path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        postgres.give(&path);
    }
    let access = postgres.data().join("pg_hba.conf");
    let rules = "host all groupwire 127.0.0.1/32 trust
        hostssl all app 127.0.0.1/32 scram-sha-256 clientcert=verify-ca\n";
    fs::write(&access, rules).unwrap();
    postgres.launch();
    let admin = (&postgres as &dyn Service).wait("tls").await;
    append(&*admin, 0, 0, &"entry".into()).await;
    let client = postgres.client().await;
    let role = "CREATE ROLE app LOGIN PASSWORD 'pass word'";
    client.batch_execute(role).await.unwrap();

    let url = format!("postgres://app@127.0.0.1:{}/postgres", postgres.port);
    let good = Options {
        tls: files.tls(),
        credentials: Some(files.write("password", "pass word\n")),
        ..postgres.options("app")
    };
    let text = refused(&url, good.clone()).await;
    has(&text, &["permission denied", "right to create schemas"]);
    client.batch_execute("GRANT CREATE ON DATABASE postgres TO app").await.unwrap();
    let engine = open(&url, good.clone()).await.unwrap();
    append(&*engine, 0, 0, &"entry".into()).await;
    let text = refused(
        &url,
        Options { creates: false, ..Options { cluster: "tls".into(), ..good.clone() } },
    );
    has(&text.await, &["permission denied", "use the schema"]);

    let user = Some(files.write("user", "app\npass word"));
    let anybody = url.replace("app@", "") + "?sslmode=verify-full";
    open(&anybody, Options { credentials: user, ..good.clone() }).await.unwrap();
    let wrong = Some(files.write("wrong", "wrong"));
    let text = refused(&url, Options { credentials: wrong, ..good.clone() }).await;
    has(&text, &["password", "pg_hba.conf"]);
    // 127.0.0.1 needs no TLS, but this server asks for it.
    let text = refused(&url, Options { tls: Tls::default(), ..good.clone() }).await;
    has(&text, &["no encryption", "pg_hba.conf"]);
    let require = format!("{url}?sslmode=require");
    let text = refused(&require, Options { tls: Tls::default(), ..good.clone() });
    has(&text.await, &["certificate"]);
    let anonymous = Tls { identity: None, ..files.tls() };
    let text = refused(&url, Options { tls: anonymous, ..good.clone() }).await;
    has(&text, &["certificate"]);
    let text = refused(&url.replace("/postgres", "/nothing"), good).await;
    has(&text, &["nothing", "create the database"]);
}

/// Certificates of an authority, and other files.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        let files = Self(TempDir::new().unwrap());
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let ca = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        files.write("ca.crt", &ca.pem());
        for name in ["server", "client"] {
            let key = KeyPair::generate().unwrap();
            let mut params = CertificateParams::new(vec!["127.0.0.1".into()]).unwrap();
            params.distinguished_name.push(DnType::CommonName, name);
            files.write(&format!("{name}.crt"), &params.signed_by(&key, &ca).unwrap().pem());
            files.write(&format!("{name}.key"), &key.serialize_pem());
        }
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn tls(&self) -> Tls {
        let identity = Some((self.path("client.crt"), self.path("client.key")));
        Tls { roots: Some(self.path("ca.crt")), identity }
    }
}

//! Credentials and certificates, and the errors of a service that cannot be used.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use groupwire_engine::{Appended, Options, Tls, open};
use groupwire_ports::free_port;
use nkeys::KeyPair;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::nats::Nats;
use super::postgres::Postgres;
use super::service::{Service, append, read};

/// The patience of an engine that will not get an answer.
const SHORT: Duration = Duration::from_secs(2);

/// Opens what cannot be opened; returns the error's text, which an operator reads.
async fn refused(url: &str, options: Options) -> String {
    let options = Options { patience: SHORT, ..options };
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
    let port = free_port().unwrap();
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
    let engine = (&nats as &dyn Service).wait_with(&good).await;
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

/// A user of `nsc` who may do no more than the README says.
#[tokio::test(flavor = "multi_thread")]
async fn nats_takes_a_credential_of_nsc() {
    let (operator, account) = (KeyPair::new_operator(), KeyPair::new_account());
    let (system, user) = (KeyPair::new_account(), KeyPair::new_user());
    let limits = json!({ "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1,
        "wildcards": true, "conn": -1, "leaf": -1, "mem_storage": -1, "disk_storage": -1,
        "streams": -1, "consumer": -1 });
    let open = json!({ "type": "account", "limits": limits });
    let closed = json!({ "type": "account", "limits": { "subs": -1, "conn": -1, "payload": -1,
        "data": -1, "leaf": -1, "imports": -1, "exports": -1 } });
    let rights = json!({ "type": "user", "subs": -1, "data": -1, "payload": -1,
        "pub": { "allow": ["gw.nsc.>", "$JS.API.>"] },
        "sub": { "allow": ["gw.nsc.hint", "_INBOX.>"] } });
    let more = format!(
        "jetstream {{ STORE }}\noperator: {}\nresolver: MEMORY\nsystem_account: {}
         resolver_preload {{ {}: {}, {}: {} }}",
        token(&operator, &operator, json!({ "type": "operator" })),
        system.public_key(),
        account.public_key(),
        token(&operator, &account, open),
        system.public_key(),
        token(&operator, &system, closed),
    );
    let Some(nats) = Nats::start::<1>(&more) else { return };
    let credential = format!(
        "-----BEGIN NATS USER JWT-----\n{}\n------END NATS USER JWT------\n
         -----BEGIN USER NKEY SEED-----\n{}\n------END USER NKEY SEED------\n",
        token(&account, &user, rights),
        user.seed().unwrap(),
    );
    let files = Files::new();
    let credentials = Some(files.write("user.creds", &credential));
    let options = Options { credentials, ..nats.options("nsc") };
    let service: &dyn Service = &nats;
    let engine = service.wait_with(&options).await;
    let mut hints = engine.hints().await.unwrap();
    let (last, _) = append(&*engine, 0, 0, &"entry".into()).await;
    assert_eq!(read(&*engine, 0, 0, last).await.len(), 1);
    engine.put_blob("blob", "blob".into()).await.unwrap();
    assert_eq!(engine.get_blob("blob").await.unwrap(), Some("blob".into()));
    engine.beat("node", "beat".into()).await.unwrap();
    assert_eq!(engine.nodes().await.unwrap().len(), 1);
    append(&*engine, 0, last, &"entry".into()).await;
    assert_eq!(hints.recv().await, Some(0));
    engine.trim(0, u64::MAX).await.unwrap();
    engine.delete_blob("blob").await.unwrap();

    // What the user may not do is told after a while.
    let other = Options { cluster: "other".into(), ..options };
    let other = service.open_with(Options { patience: SHORT, ..other }).await.unwrap();
    let appended = other.append(0, 0, "entry".into()).await;
    let Appended::Unknown(why) = appended else { panic!("{appended:?}") };
    has(&why, &["no answer", "Permissions Violation"]);
}

/// A JSON web token as NATS wants it.
fn token(issuer: &KeyPair, subject: &KeyPair, mut nats: Value) -> String {
    nats["version"] = 2.into();
    let (issued, about) = (issuer.public_key(), subject.public_key());
    let claims = json!({ "jti": "1", "iat": 1, "iss": issued, "sub": about, "name": "test",
        "nats": nats });
    let header = json!({ "typ": "JWT", "alg": "ed25519-nkey" });
    let [header, claims] = [header, claims].map(|part| BASE64.encode(part.to_string()));
    let text = format!("{header}.{claims}");
    let signature = issuer.sign(text.as_bytes()).unwrap();
    format!("{text}.{}", BASE64.encode(signature))
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
        let ca = CertifiedIssuer::self_signed(params, rcgen::KeyPair::generate().unwrap()).unwrap();
        files.write("ca.crt", &ca.pem());
        for name in ["server", "client"] {
            let key = rcgen::KeyPair::generate().unwrap();
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

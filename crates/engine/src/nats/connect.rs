//! The connection to the servers of NATS, which the client renews by itself.

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event, ServerAddr};

use super::jetstream::{JetStream, Trouble};
use crate::credentials::{self, Credentials};
use crate::{MAX_ENTRY, OpenError, Options, Tls, tls};

/// The first version that answers several messages to one request, which reading needs.
const OLDEST: (i64, i64, &str) = (2, 11, "2.11");
/// Bytes of headers beside an entry, at most.
const HEADERS: usize = 1 << 10;
/// Three pings without an answer end a connection: a server that hangs is left after 6 s.
const PING: Duration = Duration::from_secs(2);

pub(super) async fn connect(url: &str, options: &Options) -> Result<JetStream, OpenError> {
    let servers = servers(url)?;
    let hosts: Vec<String> =
        servers.iter().map(|server| format!("{}:{}", server.host(), server.port())).collect();
    let address = hosts.join(", ");
    let trouble = Trouble::default();
    let client = settings(&servers, options, &trouble)?.connect(servers.clone()).await;
    let client = client.map_err(|error| {
        let cause =
            error.source().map_or_else(|| error.to_string(), |why| format!("{error}: {why}"));
        failed(error.kind(), address.clone(), cause)
    })?;
    check(&client, &address)?;
    Ok(JetStream::new(client, options.patience, trouble, address))
}

fn servers(url: &str) -> Result<Vec<ServerAddr>, OpenError> {
    // A part without a scheme has that of the first part.
    let scheme = url.split_once("://").map_or("nats", |(scheme, _)| scheme);
    let parse = |part: &str| {
        let part = part.trim();
        let part =
            if part.contains("://") { part.to_owned() } else { format!("{scheme}://{part}") };
        part.parse::<ServerAddr>().map_err(|error| {
            OpenError::Options(format!("the URL of the engine cannot be read: {error}"))
        })
    };
    url.split(',').map(parse).collect()
}

fn settings(
    servers: &[ServerAddr],
    options: &Options,
    trouble: &Trouble,
) -> Result<ConnectOptions, OpenError> {
    let trouble = Arc::clone(trouble);
    let mut settings = ConnectOptions::new()
        .name("groupwire")
        .connection_timeout(options.patience)
        .request_timeout(Some(options.patience))
        .ping_interval(PING)
        .reconnect_delay_callback(|attempts| Duration::from_millis(100 * attempts.min(10) as u64))
        .event_callback(move |event| {
            note(&trouble, &event);
            async {}
        });
    if options.tls != Tls::default() || servers.iter().any(ServerAddr::tls_required) {
        settings = settings.require_tls(true).tls_client_config(tls::config(&options.tls)?);
    }
    let Some(path) = &options.credentials else { return Ok(settings) };
    let wrong = |why: String| OpenError::File { path: path.clone(), why };
    match credentials::read(path)? {
        Credentials::Nsc(text) => {
            settings.credentials(&text).map_err(|error| wrong(error.to_string()))
        }
        Credentials::User(user, password) => Ok(settings.user_and_password(user, password)),
        Credentials::Password(password) => {
            let user = servers.iter().find_map(ServerAddr::username).ok_or_else(|| {
                wrong("has one line, a password, but the URL names no user".into())
            })?;
            Ok(settings.user_and_password(user.into(), password))
        }
    }
}

/// Remembers an error, which explains requests without an answer, until the connection is back.
fn note(trouble: &Mutex<String>, event: &Event) {
    let text = match event {
        Event::Connected => String::new(),
        Event::Disconnected | Event::ServerError(_) | Event::ClientError(_) => event.to_string(),
        _ => return,
    };
    *trouble.lock().unwrap_or_else(PoisonError::into_inner) = text;
}

fn check(client: &Client, address: &str) -> Result<(), OpenError> {
    let info = client.server_info();
    if !client.is_server_compatible(OLDEST.0, OLDEST.1, 0) {
        let (address, found) = (address.into(), info.version);
        return Err(OpenError::OldService { address, found, wanted: OLDEST.2 });
    }
    if info.max_payload < MAX_ENTRY + HEADERS {
        return Err(OpenError::Unusable {
            address: address.into(),
            cause: format!("its messages have at most {} bytes", info.max_payload),
            check: "set max_payload in the configuration of nats-server to 1MB or more",
        });
    }
    if !info.jetstream {
        return Err(OpenError::Unusable {
            address: address.into(),
            cause: "JetStream is off".into(),
            check: "start nats-server with --jetstream, or with jetstream {} in its configuration",
        });
    }
    Ok(())
}

fn failed(kind: ConnectErrorKind, address: String, cause: String) -> OpenError {
    let check = match kind {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
            let check = "check the file with the credential, and the users of nats-server";
            return OpenError::Unusable { address, cause, check };
        }
        _ if kind == ConnectErrorKind::Tls || tls::is_about(&cause) => {
            let check = "check the certificates: which authority the server's has, and whether the server asks for one";
            return OpenError::Unusable { address, cause, check };
        }
        ConnectErrorKind::Dns => "check the name of the host",
        _ => "check the address, that nats-server runs there, and the firewalls between",
    };
    OpenError::Unreachable { address, cause, check }
}

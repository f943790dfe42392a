//! Who may use the administration listener of a real server.

use std::net::SocketAddr;

use groupwire_server::{AdminConfig, AdminListen, AdminToken, Config, Error, Server};

use crate::support::http::{BEARER, TOKEN, get, post};
use crate::support::{Administered, administered};

/// The requests that need the token.
const GUARDED: [&str; 5] = [
    "/inspect/rooms",
    "/inspect/stream?room=r",
    "/inspect/templates?room=r&participant=1",
    "/emulation?room=r",
    "/metrics",
];

async fn admin(config: AdminConfig) -> Result<Server, Error> {
    let listen = SocketAddr::from(([127, 0, 0, 1], 0));
    let admin = Some(config);
    Server::bind(Config { listen, admin, webtransport: None, ..Config::default() }).await
}

#[tokio::test]
async fn every_request_needs_the_token_in_its_header() {
    let Administered { admin, .. } = administered(Config::default()).await;
    let basic = format!("Basic {TOKEN}");
    let longer = format!("Bearer {TOKEN}0");
    for path in GUARDED {
        for headers in [
            vec![],
            vec![("authorization", "Bearer ")],
            vec![("authorization", &*basic)],
            vec![("authorization", &*longer)],
            vec![("authorization", &BEARER.1[..BEARER.1.len() - 1])],
            vec![("cookie", TOKEN)],
        ] {
            let answer = get(admin, path, &headers).await;
            assert_eq!(answer.status, 401, "{path} {headers:?}");
            assert_eq!(answer.header("www-authenticate"), "Bearer");
        }
        for name in ["token", "access_token"] {
            let mark = if path.contains('?') { '&' } else { '?' };
            let path = format!("{path}{mark}{name}={TOKEN}");
            assert_eq!(get(admin, &path, &[]).await.status, 401, "{path}");
        }
        assert_ne!(get(admin, path, &[BEARER]).await.status, 401, "{path}");
    }
    for path in ["/inspect/record?room=r", "/emulation?room=r"] {
        assert_eq!(post(admin, path, &[], b"{}".to_vec()).await.status, 401, "{path}");
    }
}

#[tokio::test]
async fn other_hosts_and_origins_are_refused_even_with_the_token() {
    let Administered { admin, .. } = administered(Config::default()).await;
    let ask = async |path: &str, headers: &[(&str, &str)]| {
        get(admin, path, &[&[BEARER], headers].concat()).await.status
    };
    let (own, local) = (format!("http://{admin}"), format!("localhost:{}", admin.port()));
    let own_of_local = format!("http://{local}");
    // A page that has rebound its name can read neither the inspector nor requests that need no
    // token.
    for path in ["/inspect/rooms", "/inspector/", "/healthz", "/readyz"] {
        let page = ask(path, &[]).await;
        assert!([200, 404].contains(&page), "{path}: {page}");
        assert_eq!(ask(path, &[("origin", &own)]).await, page, "{path}");
        assert_eq!(ask(path, &[("host", &local), ("origin", &own_of_local)]).await, page, "{path}");
        for host in
            ["evil.example", "localhost.evil.example:80", "10.0.0.1", "127.0.0.1.nip.io", ""]
        {
            assert_eq!(ask(path, &[("host", host)]).await, 421, "{path} {host}");
        }
        for origin in ["https://evil.example", "null", "http://localhost:1", &own_of_local] {
            assert_eq!(ask(path, &[("origin", origin)]).await, 403, "{path} {origin}");
        }
    }
}

#[tokio::test]
async fn a_request_from_this_machine_to_localhost_has_no_rights_without_the_token() {
    let Administered { public, admin, .. } = administered(Config::default()).await;
    for host in ["localhost", "127.0.0.1", "[::1]"] {
        let refused = get(admin, "/inspect/rooms", &[("host", host)]).await.status;
        assert!([401, 421].contains(&refused), "{host}: {refused}");
        assert_eq!(get(public, "/inspect/rooms", &[("host", host)]).await.status, 404);
    }
}

#[tokio::test]
async fn the_public_listener_has_nothing_of_it() {
    let Administered { public, admin, .. } = administered(Config::default()).await;
    for path in GUARDED.into_iter().chain(["/inspector", "/inspector/", "/inspector/index.html"]) {
        for headers in [&[][..], &[BEARER]] {
            assert_eq!(get(public, path, headers).await.status, 404, "{path}");
        }
    }
    for path in ["/inspect/record?room=r", "/emulation?room=r"] {
        assert_eq!(post(public, path, &[BEARER], b"{}".to_vec()).await.status, 404, "{path}");
    }
    for path in ["/healthz", "/readyz"] {
        assert_eq!(get(public, path, &[]).await.status, 200, "{path}");
        assert_eq!(get(admin, path, &[]).await.status, 200, "{path}");
    }
    // And the other way round: nobody joins a room over the administration listener.
    for path in ["/ws", "/transports", "/status", "/http/up"] {
        assert_eq!(get(admin, path, &[BEARER]).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn without_a_token_only_a_loopback_address_is_listened_on_and_gets_a_random_one() {
    let open = AdminListen::Tcp(SocketAddr::from(([0, 0, 0, 0], 0)));
    let refused = admin(AdminConfig { listen: open.clone(), ..AdminConfig::default() }).await;
    assert!(matches!(refused.err(), Some(Error::AdminToken { .. })));
    let token = Some(AdminToken::new(TOKEN).unwrap());
    let server =
        admin(AdminConfig { listen: open, token, ..AdminConfig::default() }).await.unwrap();
    // The URL does not show a token that was configured.
    assert!(server.admin_url().unwrap().ends_with("/inspector/"), "{:?}", server.admin_url());

    let server = admin(AdminConfig::default()).await.unwrap();
    let address = server.admin_addr().unwrap();
    let url = server.admin_url().unwrap().to_owned();
    let token =
        url.strip_prefix(&format!("http://{address}/inspector/#token=")).unwrap().to_owned();
    assert!(token.len() >= 32, "{token}");
    tokio::spawn(server.run(std::future::pending()));
    let bearer = format!("Bearer {token}");
    let answer = get(address, "/inspect/rooms", &[("authorization", &bearer)]).await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn a_configured_name_is_admitted() {
    let token = Some(AdminToken::new(TOKEN).unwrap());
    let hosts = vec!["Admin.example".to_owned()];
    let server = admin(AdminConfig { token, hosts, ..AdminConfig::default() }).await.unwrap();
    let address = server.admin_addr().unwrap();
    tokio::spawn(server.run(std::future::pending()));
    for (host, origin, status) in [
        ("admin.example", "https://admin.example", 200),
        ("admin.example:9090", "http://admin.example:9090", 200),
        ("admin.example", "https://evil.example", 403),
        ("app.example", "https://app.example", 421),
    ] {
        let headers = [BEARER, ("host", host), ("origin", origin)];
        assert_eq!(get(address, "/inspect/rooms", &headers).await.status, status, "{host}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_unix_socket_is_for_its_user_and_needs_no_token() {
    use std::os::unix::fs::PermissionsExt;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("admin");
    let listen = AdminListen::Unix(path.clone());
    let server = admin(AdminConfig { listen, ..AdminConfig::default() }).await.unwrap();
    assert_eq!((server.admin_addr(), server.admin_url()), (None, None));
    tokio::spawn(server.run(std::future::pending()));
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    for (host, status) in [("localhost", "200"), ("evil.example", "421")] {
        let mut stream = tokio::net::UnixStream::connect(&path).await.unwrap();
        let request =
            format!("GET /inspect/rooms HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert_eq!(answer.split(' ').nth(1), Some(status), "{host}");
    }
}

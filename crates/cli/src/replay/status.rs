//! The status of the server, before and after a replay.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The most bytes of an answer that are read. A status has no lists and takes about 1 KB.
const MAX_ANSWER: u64 = 64 << 10;

/// The most time for the status request, which a loaded server answers late.
const PATIENCE: Duration = Duration::from_secs(3);

/// The totals of the server that a report uses.
#[derive(Debug, Clone, Copy)]
pub(super) struct Status {
    cpu_seconds: f64,
    rss_bytes: u64,
    deliveries: u64,
}

/// The resources of the server that a replay used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    pub(super) cpu_seconds: f64,
    pub(super) us_per_delivery: f64,
    pub(super) rss_bytes: u64,
}

impl Cost {
    pub(super) fn between(before: Option<Status>, after: Option<Status>) -> Option<Cost> {
        let (before, after) = (before?, after?);
        let cpu_seconds = after.cpu_seconds - before.cpu_seconds;
        let deliveries =
            after.deliveries.checked_sub(before.deliveries).filter(|count| *count > 0)?;
        let us_per_delivery = cpu_seconds * 1e6 / deliveries as f64;
        Some(Cost { cpu_seconds, us_per_delivery, rss_bytes: after.rss_bytes })
    }
}

/// Requests the status of the server over HTTP. `None` if it does not answer, as at the port for
/// plain TCP.
pub(super) async fn read(url: &str) -> Option<Status> {
    timeout(PATIENCE, ask(url)).await.ok()?
}

async fn ask(url: &str) -> Option<Status> {
    let authority = url.strip_prefix("ws://").or_else(|| url.strip_prefix("https://"))?;
    let authority = authority.split(['/', '?']).next()?;
    let address = match authority.rsplit_once(':') {
        Some((_, port)) if port.parse::<u16>().is_ok() => authority.to_owned(),
        _ => format!("{authority}:80"),
    };
    let mut stream = TcpStream::connect(address).await.ok()?;
    let request = format!("GET /status HTTP/1.0\r\nHost: {authority}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut answer = String::new();
    stream.take(MAX_ANSWER).read_to_string(&mut answer).await.ok()?;
    parse(&answer)
}

fn parse(answer: &str) -> Option<Status> {
    let (_, body) = answer.split_once("\r\n\r\n")?;
    let json: serde_json::Value = serde_json::from_str(body).ok()?;
    Some(Status {
        cpu_seconds: json.get("cpu_seconds")?.as_f64()?,
        rss_bytes: json.get("rss_bytes")?.as_u64()?,
        deliveries: json.get("deliveries")?.as_u64()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_is_the_difference_of_two_statuses() {
        let answer = |cpu, deliveries| {
            parse(&format!(
                "HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n\
                 {{\"cpu_seconds\":{cpu},\"rss_bytes\":1024,\"deliveries\":{deliveries},\"x\":[]}}"
            ))
        };
        let cost = Cost::between(answer(1.0, 10), answer(1.5, 50_010)).unwrap();
        assert_eq!((cost.us_per_delivery, cost.rss_bytes), (10.0, 1024));
        assert!(Cost::between(answer(1.0, 10), answer(1.0, 10)).is_none());
        assert!(parse("HTTP/1.0 404 Not Found\r\n\r\nno").is_none());
    }
}

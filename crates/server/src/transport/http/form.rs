//! The format of requests and responses of HTTP transports (docs/transports.md, T9, T13 to T16).

use std::fmt;

use axum::body::Bytes;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groupwire_session::Error;

use crate::cluster::http::Mark;
use crate::ends::framing::varint;
use crate::tools::secret::random_secret;

/// The secret id of an HTTP transport, known to its client only. In a cluster it begins with the
/// mark of the server that has opened the transport; all else is random.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct HttpTransportId([u8; 16]);

impl HttpTransportId {
    pub(super) const DIGITS: usize = 32;

    pub(super) fn random(mark: Option<Mark>) -> Self {
        let mut id: [u8; 16] = random_secret();
        if let Some(mark) = mark {
            id[..mark.len()].copy_from_slice(&mark);
        }
        HttpTransportId(id)
    }

    /// The mark of the server that has opened the transport.
    pub(super) fn mark(self) -> Mark {
        let [a, b, c, d, ..] = self.0;
        [a, b, c, d]
    }

    pub(super) fn read(digits: &[u8]) -> Option<Self> {
        let digits: &[u8; Self::DIGITS] = digits.try_into().ok()?;
        let mut id = [0; 16];
        for (byte, pair) in id.iter_mut().zip(digits.chunks_exact(2)) {
            for &digit in pair {
                let value = match digit {
                    b'0'..=b'9' => digit - b'0',
                    b'a'..=b'f' => digit - b'a' + 10,
                    _ => return None,
                };
                *byte = *byte << 4 | value;
            }
        }
        Some(HttpTransportId(id))
    }
}

impl fmt::Display for HttpTransportId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// How a down request, which fetches packets for the client, is answered.
pub(super) enum Form {
    Stream(StreamForm),
    /// The answer waits until there is a packet (`longpoll`).
    Held,
    /// The answer is sent immediately (`poll`).
    AtOnce,
}

/// The format of a streamed response.
pub(super) enum StreamForm {
    Multipart,
    /// A document of scripts for the page of `origin`, which has no character that could end a
    /// string in a script.
    Iframe {
        origin: String,
    },
}

/// Bytes of padding at the beginning of a streamed response. Proxies that hold back the beginning
/// of a response hold back fewer bytes (T13), and browsers do not render a document before they
/// have some of it.
const PADDING: usize = 2 << 10;

impl StreamForm {
    pub(super) fn content_type(&self) -> &'static str {
        match self {
            StreamForm::Multipart => "multipart/mixed; boundary=gw",
            StreamForm::Iframe { .. } => "text/html; charset=utf-8",
        }
    }

    /// The beginning of the response, with the preamble (T9).
    pub(super) fn opening(&self, id: HttpTransportId, first: u64) -> Bytes {
        let preamble = format!("{id} {first}");
        match self {
            StreamForm::Multipart => {
                let mut out = vec![b' '; PADDING];
                part(preamble.as_bytes(), &mut out);
                out.into()
            }
            StreamForm::Iframe { origin } => format!(
                "<!doctype html><!--{:PADDING$}--><script>function p(t){{parent.postMessage([\"groupwire\",\"{id}\",t],\
                 \"{origin}\")}}p(\"{preamble}\")</script>\n",
                ""
            )
            .into(),
        }
    }

    pub(super) fn packet(&self, packet: &[u8]) -> Bytes {
        match self {
            StreamForm::Multipart => {
                let mut out = Vec::with_capacity(packet.len() + 40);
                part(packet, &mut out);
                out.into()
            }
            StreamForm::Iframe { .. } => {
                let mut out = String::with_capacity(packet.len() / 3 * 4 + 40);
                out.push_str("<script>p(\"");
                STANDARD.encode_string(packet, &mut out);
                out.push_str("\")</script>\n");
                out.into()
            }
        }
    }

    /// The end of the response, if it has one. An empty chunk would be an empty frame of HTTP/2, of
    /// which clients take only some.
    pub(super) fn closing(&self) -> Option<Bytes> {
        match self {
            StreamForm::Multipart => Some(Bytes::from_static(b"\r\n--gw--\r\n")),
            StreamForm::Iframe { .. } => None,
        }
    }
}

fn part(content: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"\r\n--gw\r\nContent-Length: ");
    out.extend_from_slice(content.len().to_string().as_bytes());
    out.extend_from_slice(b"\r\n\r\n");
    out.extend_from_slice(content);
}

/// Parses the body of a down request, `id=<id>&received=<n>`.
pub(super) fn read_asked(body: &[u8]) -> Option<(HttpTransportId, u64)> {
    let (id, received) = std::str::from_utf8(body).ok()?.strip_prefix("id=")?.split_once('&')?;
    let received = received.strip_prefix("received=")?;
    let is_number = !received.is_empty() && received.bytes().all(|byte| byte.is_ascii_digit());
    Some((HttpTransportId::read(id.as_bytes())?, received.parse().ok().filter(|_| is_number)?))
}

/// The numbers before the packets of an upload (T16).
#[derive(Debug, PartialEq)]
pub(super) struct Head {
    pub(super) number: u64,
    pub(super) received: u64,
    /// Bytes of both numbers together.
    pub(super) size: usize,
}

/// Parses the numbers that follow the id; `None` if they are not complete yet.
pub(super) fn read_head(bytes: &[u8]) -> Result<Option<Head>, Error> {
    let Some((number, size)) = varint(bytes)? else { return Ok(None) };
    let Some((received, more)) = varint(&bytes[size..])? else { return Ok(None) };
    Ok(Some(Head { number, received, size: size + more }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ends::framing::put_varint;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn random_requests_never_panic(body: Vec<u8>, tail: String) {
            let _ = read_asked(&body);
            let _ = read_asked(format!("id={tail}").as_bytes());
            let _ = read_head(&body);
        }

        #[test]
        fn requests_round_trip(number: u64, received: u64) {
            let id = HttpTransportId::random(None);
            let asked = format!("id={id}&received={received}");
            prop_assert!(read_asked(asked.as_bytes()) == Some((id, received)));
            let mut head = Vec::new();
            put_varint(number, &mut head);
            put_varint(received, &mut head);
            let size = head.len();
            prop_assert_eq!(read_head(&head[..size - 1]).unwrap(), None);
            head.push(7);
            prop_assert_eq!(read_head(&head).unwrap(), Some(Head { number, received, size }));
        }
    }

    #[test]
    fn an_id_says_which_server_opened_its_transport() {
        let id = HttpTransportId::random(Some(*b"mark"));
        assert_eq!(id.mark(), *b"mark");
        assert!(id != HttpTransportId::random(Some(*b"mark")), "all else is random");
    }

    #[test]
    fn malformed_requests_are_refused() {
        let id = HttpTransportId::random(None);
        for wrong in [
            String::new(),
            format!("id={id}"),
            format!("id={id}&received="),
            format!("id={id}&received=+1"),
            format!("id={id}&received=-1"),
            format!("id={id}0&received=1"),
            format!("received=1&id={id}"),
            format!("id={}&received=1", id.to_string().replace(char::is_alphanumeric, "A")),
            format!("id={id}&received=99999999999999999999"),
        ] {
            assert!(read_asked(wrong.as_bytes()).is_none(), "{wrong}");
        }
    }

    #[test]
    fn parts_have_delimiters_and_a_length() {
        let packet = StreamForm::Multipart.packet(b"\r\n--gw\r\n");
        assert_eq!(packet, &b"\r\n--gw\r\nContent-Length: 8\r\n\r\n\r\n--gw\r\n"[..]);
        assert!(StreamForm::Multipart.packet(&[0; 100]).len() <= 135, "about 35 bytes of overhead");
        let form = StreamForm::Iframe { origin: "https://a.example".to_owned() };
        assert_eq!(form.packet(b"abc"), "<script>p(\"YWJj\")</script>\n");
    }
}

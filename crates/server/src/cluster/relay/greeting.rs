//! The first frames of a connection between two servers: both learn that the other one is the
//! server that it takes it for, and speaks the same version.

use axum::body::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use super::fields::{Fields, Malformed, put_bytes};
use crate::ends::framing::{Framed, framed};

/// The version of the frames between servers.
const VERSION: u8 = 1;

/// The most bytes of a greeting.
const MAX_GREETING: usize = 1 << 10;

/// The answer to a greeting.
const WELCOME: u8 = 0;
const OTHER_VERSION: u8 = 1;
const OTHER_NODE: u8 = 2;

/// Why two servers do not go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotGreeted {
    #[error("the connection broke in the greeting")]
    Broken,
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// Servers are updated one after the other; a release says which versions go together.
    #[error(
        "the other server speaks version {theirs} between servers, this one version {VERSION}: update the older one"
    )]
    Version { theirs: u8 },
    /// The address that a server advertises leads to another server.
    #[error("this address leads to server {there:?}, not to {wanted:?}: check --advertise of both")]
    Node { there: String, wanted: String },
}

/// Greets the server that is called `to`, as the edge.
pub(super) async fn greet(
    mut write: impl AsyncWrite + Unpin,
    frames: &mut Framed<impl AsyncRead + Unpin>,
    (from, to): (&str, &str),
) -> Result<(), NotGreeted> {
    let mut greeting = vec![VERSION];
    put_bytes(from.as_bytes(), &mut greeting);
    put_bytes(to.as_bytes(), &mut greeting);
    send(&mut write, &greeting).await?;
    let mut answer = Fields::new(next(frames).await?);
    match answer.byte()? {
        WELCOME => Ok(()),
        OTHER_VERSION => Err(NotGreeted::Version { theirs: answer.byte()? }),
        _ => Err(NotGreeted::Node { there: text(&answer.bytes()?), wanted: to.to_owned() }),
    }
}

/// Answers the greeting of an edge, as the owner, which is called `own`. Returns the edge's name.
pub(super) async fn answer(
    mut write: impl AsyncWrite + Unpin,
    frames: &mut Framed<impl AsyncRead + Unpin>,
    own: &str,
) -> Result<String, NotGreeted> {
    let mut greeting = Fields::new(next(frames).await?);
    let theirs = greeting.byte()?;
    if theirs != VERSION {
        send(&mut write, &[OTHER_VERSION, VERSION]).await?;
        return Err(NotGreeted::Version { theirs });
    }
    let (from, to) = (text(&greeting.bytes()?), text(&greeting.bytes()?));
    if to != own {
        let mut refusal = vec![OTHER_NODE];
        put_bytes(own.as_bytes(), &mut refusal);
        send(&mut write, &refusal).await?;
        return Err(NotGreeted::Node { there: own.to_owned(), wanted: to });
    }
    send(&mut write, &[WELCOME]).await?;
    Ok(from)
}

async fn send(write: &mut (impl AsyncWrite + Unpin), frame: &[u8]) -> Result<(), NotGreeted> {
    let written = async {
        write.write_all(&framed(frame)).await?;
        write.flush().await
    };
    written.await.map_err(|_| NotGreeted::Broken)
}

async fn next(frames: &mut Framed<impl AsyncRead + Unpin>) -> Result<Bytes, NotGreeted> {
    match frames.next().await {
        Ok(Some(frame)) if frame.len() <= MAX_GREETING => Ok(frame),
        Ok(None) => Err(NotGreeted::Broken),
        _ => Err(Malformed("the greeting is too large").into()),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

//! The rights to read and change a document: those of a participant of the room of the same name,
//! on the channels that `groupwire-yjs` in `web/yjs` uses there.

use std::time::Duration;

use groupwire_session::{Access as Wanted, Error, Identity, OpenRequest, Qos, Quota};

use super::channels::{AWARENESS, DOCUMENT};
use super::open_document::Rights;
use crate::access::{Access, Admitted};
use crate::rooms::context::RoomContext;
use crate::traces::Span;
use crate::transport::context::TransportContext;

/// A client that was let in.
pub(super) struct Entry {
    pub(super) rights: Rights,
    /// How long it may stay.
    pub(super) access: Access,
    /// The quota of the client, and the time for which unused quota is saved.
    pub(super) quota: (Quota, Duration),
}

/// Asks whether a client may open the document.
pub(super) async fn ask(
    context: &TransportContext,
    document: &str,
    token: &[u8],
    span: &Span,
) -> Result<Entry, Error> {
    let Admitted { identity, access } = context.gate.ask(document, token, span).await?;
    let document_access = open(context, document, &identity, DOCUMENT, Qos::transaction())
        .map_err(|why| Error::Refused { why })?;
    if !document_access.subscribe {
        let why = "this token does not permit to read the document".to_owned();
        return Err(Error::Refused { why });
    }
    let awareness = open(context, document, &identity, AWARENESS, Qos::awareness());
    let rights = Rights {
        may_write: document_access.publish,
        may_be_seen: awareness.is_ok_and(|access| access.publish),
    };
    let RoomContext { config, authority, .. } = context.rooms.context();
    let quotas = config.quotas;
    let quota = authority.quota(&identity, quotas.participant);
    Ok(Entry { rights, access, quota: (quota, quotas.burst) })
}

/// The rights on a channel. It counts as one that exists, so that readers need no right to set its
/// QoS.
fn open(
    context: &TransportContext,
    document: &str,
    identity: &Identity,
    channel: &str,
    qos: Qos,
) -> Result<Wanted, String> {
    let wanted = Wanted { publish: true, subscribe: true };
    let request = OpenRequest::new(document, identity, channel, wanted, qos).existing(qos);
    context.rooms.context().authority.open(&request).map(|grant| grant.access)
}

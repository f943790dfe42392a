//! The administration's requests to export stored rooms as one file, and the file of an import.
//! `openapi.json` describes the requests.
//!
//! The file is in the store's folder until the transfer ends, because it may be as large as the
//! store; that of a store in memory is in the system's folder of temporary files. One request is
//! carried out at a time.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_util::{StreamExt, stream};
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::context::AdminContext;
use super::refusal::Refusal;
use super::transfers::Transfers;
use crate::durable::{Durable, StoreError};
use crate::rooms::directory::Directory;
use crate::tools::private_files::create_private;
use crate::tools::secret::random_number;
use crate::web::answers::{NO_SNIFF, NO_STORE};

/// Bytes that are read of the file at a time.
const CHUNK: usize = 256 << 10;

/// How long an upload may pause before it is given up.
const PATIENCE: Duration = Duration::from_secs(30);

/// An uploaded export may be larger than twice the quota by this many bytes: an export is larger
/// than its content.
const OVERHEAD: u64 = 64 << 20;

/// How the files' names begin.
const PREFIX: &str = "transfer-";

/// Maps paths to their handlers.
pub(super) fn router() -> Router<AdminContext> {
    Router::new().route("/api/export", get(export_all))
}

/// Maps the path of requests about one room to its handler.
pub(super) fn router_of_rooms() -> Router<AdminContext> {
    Router::new().route("/api/rooms/{room}/export", get(export_room))
}

async fn export_all(
    State(durable): State<Option<Arc<Durable>>>,
    State(transfers): State<Arc<Transfers>>,
) -> Result<Response, Refusal> {
    send_export(durable, &transfers, None).await
}

async fn export_room(
    State(durable): State<Option<Arc<Durable>>>,
    State(transfers): State<Arc<Transfers>>,
    room: Result<Path<String>, PathRejection>,
) -> Result<Response, Refusal> {
    let Path(room) = room.map_err(Refusal::Path)?;
    send_export(durable, &transfers, Some(room)).await
}

/// Sends all stored rooms, or one of them.
async fn send_export(
    durable: Option<Arc<Durable>>,
    transfers: &Transfers,
    room: Option<String>,
) -> Result<Response, Refusal> {
    let durable = durable.ok_or(Refusal::NoStore)?;
    if room.as_ref().is_some_and(|room| !durable.stores.directory.contains(room)) {
        return Err(Refusal::NotStored);
    }
    let (transfer, stored) = (Transfer::begin(transfers)?, Arc::clone(&durable.stores.transfer));
    let opening = spawn_blocking(move || {
        let wanted = |name: &str| room.as_ref().is_none_or(|room| room == name);
        stored.export(&transfer.path, &wanted)?;
        let file = File::open(&transfer.path).and_then(|file| Ok((file.metadata()?.len(), file)));
        let (length, file) = file.map_err(|error| StoreError::Io(error.to_string()))?;
        Ok::<_, StoreError>((transfer, length, file))
    });
    let opened = opening.await.map_err(|error| Refusal::Store(error.to_string()))?;
    let (transfer, length, file) = opened.map_err(|error| Refusal::Store(error.to_string()))?;
    let headers = [
        (header::CONTENT_TYPE, "application/vnd.sqlite3".to_owned()),
        (header::CONTENT_LENGTH, length.to_string()),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"rooms.export\"".to_owned()),
    ];
    Ok(([NO_SNIFF, NO_STORE], headers, content(file, Arc::new(transfer))).into_response())
}

/// The content of a file, which stays until all was read.
fn content(file: File, transfer: Arc<Transfer>) -> Body {
    Body::from_stream(stream::unfold((file, transfer), |(mut file, transfer)| async move {
        let read = spawn_blocking(move || {
            let mut chunk = vec![0; CHUNK];
            let read = file.read(&mut chunk);
            (read.map(|count| Bytes::from(chunk).slice(..count)), file)
        });
        match read.await {
            Ok((Ok(chunk), _)) if chunk.is_empty() => None,
            Ok((chunk, file)) => Some((chunk, (file, transfer))),
            Err(_) => None,
        }
    }))
}

/// The file of an export that was received, from which rooms are taken.
pub(super) struct Received {
    pub(super) durable: Arc<Durable>,
    directory: Arc<Directory>,
    transfer: Arc<Transfer>,
}

impl Received {
    /// Receives a file, which is removed with the result.
    pub(super) async fn new(context: &AdminContext, body: Body) -> Result<Self, Refusal> {
        let directory = Arc::clone(&context.transports.rooms);
        let durable = directory.context().durable.clone().ok_or(Refusal::NoStore)?;
        let transfer = Transfer::begin(&context.transfers)?;
        receive(&durable, &transfer.path, body).await?;
        Ok(Received { durable, directory, transfer: Arc::new(transfer) })
    }

    /// The names of the rooms in the file that are wanted.
    pub(super) async fn names(
        &self,
        wanted: impl Fn(&str) -> bool + Send + 'static,
    ) -> Result<Vec<String>, Refusal> {
        let (stores, transfer) = (self.durable.stores.clone(), Arc::clone(&self.transfer));
        let reading = spawn_blocking(move || {
            let names = RefCell::new(Vec::new());
            // Nothing is taken.
            let look = |name: &str| {
                if wanted(name) {
                    names.borrow_mut().push(name.to_owned());
                }
                false
            };
            stores.transfer.import(&transfer.path, &look, true, &mut random_number)?;
            Ok::<_, StoreError>(names.into_inner())
        });
        let read = reading.await.map_err(|error| Refusal::Store(error.to_string()))?;
        read.map_err(|error| Refusal::File(error.to_string()))
    }

    /// Opens the file, to send it to another server.
    pub(super) async fn open(&self) -> Result<Body, Refusal> {
        let transfer = Arc::clone(&self.transfer);
        let opening = spawn_blocking(move || Ok((File::open(&transfer.path)?, transfer))).await;
        let opened = opening.map_err(|error| Refusal::Store(error.to_string()))?;
        let (file, transfer) =
            opened.map_err(|error: io::Error| Refusal::Store(error.to_string()))?;
        Ok(content(file, transfer))
    }

    /// Takes the rooms that are wanted, and ends those that they replace. Returns their names.
    pub(super) async fn take(
        &self,
        wanted: impl Fn(&str) -> bool + Send + 'static,
        replace: bool,
    ) -> Result<Vec<String>, Refusal> {
        let Received { durable, directory, transfer } = self;
        let (stores, directory) = (durable.stores.clone(), Arc::clone(directory));
        let transfer = Arc::clone(transfer);
        let importing = spawn_blocking(move || {
            let file = &transfer.path;
            let imported = stores.transfer.import(file, &wanted, replace, &mut random_number);
            // The rooms end even if the client has disconnected.
            imported.iter().flatten().for_each(|room| directory.end_stored(room));
            imported
        });
        match importing.await {
            Ok(Ok(rooms)) => Ok(rooms),
            Ok(Err(error @ StoreError::Exists(_))) => Err(Refusal::Exists(error.to_string())),
            Ok(Err(error @ (StoreError::NotNow(_) | StoreError::Poisoned(_)))) => {
                Err(Refusal::Store(error.to_string()))
            }
            Ok(Err(StoreError::Moved)) => Err(Refusal::NoOwner),
            Ok(Err(error)) => Err(Refusal::File(error.to_string())),
            Err(error) => Err(Refusal::Store(error.to_string())),
        }
    }
}

/// Writes the body of a request to a file.
async fn receive(durable: &Durable, path: &FilePath, body: Body) -> Result<(), Refusal> {
    let failed = |error: io::Error| Refusal::Store(error.to_string());
    let limit = durable.stores.monitor.max_bytes().saturating_mul(2).saturating_add(OVERHEAD);
    let mut file = create_private(path).map_err(failed)?;
    let mut chunks = body.into_data_stream();
    let mut size = 0_u64;
    while let Some(chunk) = timeout(PATIENCE, chunks.next()).await.map_err(|_| Refusal::Stalled)? {
        let chunk = chunk.map_err(|error| Refusal::File(error.to_string()))?;
        size += chunk.len() as u64;
        if size > limit {
            return Err(Refusal::FileSize(limit));
        }
        let write = spawn_blocking(move || file.write_all(&chunk).map(|()| file)).await;
        file = write.map_err(|error| Refusal::Store(error.to_string()))?.map_err(failed)?;
    }
    Ok(())
}

/// A transfer under way: the only permit, and the file, which is removed on drop.
struct Transfer {
    path: PathBuf,
    _place: OwnedSemaphorePermit,
}

impl Transfer {
    fn begin(transfers: &Transfers) -> Result<Self, Refusal> {
        let place =
            Arc::clone(&transfers.place).try_acquire_owned().map_err(|_| Refusal::Copying)?;
        let folder = match &transfers.folder {
            Some(folder) => {
                remove_old(folder);
                folder.clone()
            }
            None => std::env::temp_dir(),
        };
        let path = folder.join(format!("{PREFIX}{:016x}", random_number()));
        Ok(Transfer { path, _place: place })
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes files that a killed process left behind. None of them is in use, because there is one
/// transfer at a time.
fn remove_old(folder: &FilePath) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

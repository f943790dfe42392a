//! The administration's requests to export and to import stored rooms, as one file. `openapi.json`
//! describes them.
//!
//! The file is in the store's folder until the transfer ends, because it may be as large as the
//! store; that of a store in memory is in the system's folder of temporary files. One request is
//! carried out at a time.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::{StreamExt, stream};
use serde::{Deserialize, Serialize};
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
    Router::new()
        .route("/api/export", get(export_all))
        .route("/api/rooms/{room}/export", get(export_room))
        .route("/api/import", post(import).layer(DefaultBodyLimit::disable()))
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
    let chunks = stream::unfold((file, transfer), |(mut file, transfer)| async move {
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
    });
    Ok(([NO_SNIFF, NO_STORE], headers, Body::from_stream(chunks)).into_response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Import {
    /// The room to take; all if it is missing.
    room: Option<String>,
    #[serde(default)]
    replace: bool,
}

#[derive(Serialize)]
struct Imported {
    rooms: Vec<String>,
}

async fn import(
    State(directory): State<Arc<Directory>>,
    State(durable): State<Option<Arc<Durable>>>,
    State(transfers): State<Arc<Transfers>>,
    query: Result<Query<Import>, QueryRejection>,
    body: Body,
) -> Result<impl IntoResponse, Refusal> {
    let Query(Import { room, replace }) = query.map_err(Refusal::Query)?;
    let durable = durable.ok_or(Refusal::NoStore)?;
    let transfer = Transfer::begin(&transfers)?;
    receive(&durable, &transfer.path, body).await?;
    let importing = spawn_blocking(move || {
        let wanted = |name: &str| room.as_ref().is_none_or(|room| room == name);
        let imported =
            durable.stores.transfer.import(&transfer.path, &wanted, replace, &mut random_number);
        drop(transfer);
        // The rooms end even if the client has disconnected.
        imported.iter().flatten().for_each(|room| directory.end_stored(room));
        imported
    });
    match importing.await {
        Ok(Ok(rooms)) => {
            tracing::info!(?rooms, "rooms imported");
            Ok(([NO_SNIFF, NO_STORE], Json(Imported { rooms })))
        }
        Ok(Err(error @ StoreError::Exists(_))) => Err(Refusal::Exists(error.to_string())),
        Ok(Err(error @ (StoreError::NotNow(_) | StoreError::Poisoned(_)))) => {
            Err(Refusal::Store(error.to_string()))
        }
        Ok(Err(error)) => Err(Refusal::File(error.to_string())),
        Err(error) => Err(Refusal::Store(error.to_string())),
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

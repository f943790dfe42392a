//! What the inspector uses of the server.

use std::path::PathBuf;
use std::sync::Arc;

use super::recordings::Recordings;
use super::report_streams::ReportStreams;
use crate::rooms::directory::Directory;

/// See the [module](self).
pub(crate) struct InspectContext {
    pub(super) rooms: Arc<Directory>,
    /// The folder for recordings; `None`: rooms cannot be recorded.
    pub(super) record_dir: Option<PathBuf>,
    pub(super) recordings: Recordings,
    /// The streams of reports to inspectors, by room.
    pub(super) report_streams: ReportStreams,
}

impl InspectContext {
    pub(crate) fn new(rooms: Arc<Directory>, record_dir: Option<PathBuf>) -> Self {
        InspectContext {
            rooms,
            record_dir,
            recordings: Recordings::default(),
            report_streams: ReportStreams::default(),
        }
    }
}

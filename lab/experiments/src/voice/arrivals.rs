//! The file that lab/experiments/voice/score.mjs reads: when each frame came to a listener.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;

use super::row::Scheme;
use super::speech::Frame;
use crate::Result;

/// See the [module](self).
pub(super) struct Arrivals {
    /// The first error is kept until the end.
    file: Mutex<std::io::Result<BufWriter<File>>>,
}

impl Arrivals {
    pub(super) fn create(path: &Path) -> Result<Self> {
        let file = File::create(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Arrivals { file: Mutex::new(Ok(BufWriter::new(file))) })
    }

    /// Writes a line of JSON: the frames of a call, each with the number of its 20 ms, whether
    /// somebody talks in it, and the time in ms at which it came, or null.
    pub(super) fn write(
        &self,
        network: &str,
        scheme: Scheme,
        frames: &[Frame],
        came: &[Option<Duration>],
    ) {
        let frames: Vec<_> = frames
            .iter()
            .zip(came)
            .map(|(frame, came)| {
                let came = came.map(|came| (came.as_secs_f64() * 1e6).round() / 1e3);
                json!([frame.slot, u8::from(frame.voice), came])
            })
            .collect();
        let line = json!({ "network": network, "scheme": scheme.to_string(), "frames": frames });
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(open) = &mut *file
            && let Err(error) = writeln!(open, "{line}")
        {
            *file = Err(error);
        }
    }

    /// Writes the rest.
    ///
    /// # Errors
    /// Something could not be written.
    pub(super) fn finish(self) -> Result<()> {
        let file = self.file.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(file?.flush()?)
    }
}

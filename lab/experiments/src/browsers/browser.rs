//! A browser without a window.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::Result;
use crate::program::installed;

/// The names under which browsers are looked for on the path, in the same order as in
/// scripts/browser.sh.
const NAMES: [&str; 5] = [
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// No network traffic of the browser's own, and no throttled timers in hidden pages. QUIC stays on.
const FLAGS: [&str; 14] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-popup-blocking",
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
    "--no-proxy-server",
    "--hide-scrollbars",
];

/// Finds a browser: `$GROUPWIRE_BROWSER`, or a Chromium or Chrome on the path.
pub(super) fn find() -> Result<PathBuf> {
    if let Some(given) = env::var_os("GROUPWIRE_BROWSER").filter(|given| !given.is_empty()) {
        return Ok(given.into());
    }
    installed(&NAMES).ok_or_else(|| {
        "no Chromium or Chrome found; install one (Debian's package is chromium-headless-shell), or set GROUPWIRE_BROWSER to one".into()
    })
}

/// The name and version of a browser, such as `chromium 156.0.7100.2`.
pub(super) fn version(browser: &PathBuf) -> Result<String> {
    let output = Command::new(browser).arg("--version").stderr(Stdio::null()).output();
    let output = output.map_err(|error| cannot_run(browser, &error))?;
    let text = String::from_utf8_lossy(&output.stdout).to_lowercase();
    let mut words = text.split_whitespace();
    let name = words.next().unwrap_or("unknown");
    let number = words.find(|word| word.starts_with(|digit: char| digit.is_ascii_digit()));
    Ok([Some(name), number].into_iter().flatten().collect::<Vec<_>>().join(" "))
}

fn cannot_run(browser: &Path, error: &io::Error) -> String {
    format!("cannot run the browser {}: {error}", browser.display())
}

/// A browser that runs until this is dropped.
#[derive(Debug)]
pub(super) struct Browser {
    child: Child,
    profile: PathBuf,
}

impl Browser {
    /// Opens a page.
    pub(super) fn open(browser: &PathBuf, url: &str) -> Result<Self> {
        let profile = env::temp_dir().join(format!("groupwire-lab-{}", std::process::id()));
        let mut command = Command::new(browser);
        command.args(FLAGS).arg(format!("--user-data-dir={}", profile.display())).arg(url);
        // The browser's output is of no use here.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().map_err(|error| cannot_run(browser, &error))?;
        Ok(Browser { child, profile })
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Its other processes end when this one does.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.profile);
    }
}

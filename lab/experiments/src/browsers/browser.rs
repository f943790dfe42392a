//! A browser without a window.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use clap::ValueEnum;

use crate::Result;
use crate::options::named;
use crate::program::installed;

/// What participants run in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    /// Chromium or Chrome.
    Chromium,
    /// Firefox, with which the WEB paper measured.
    Firefox,
    /// No browser: the native client, which alone has the transport `socket`.
    Native,
}

named!(Engine);

/// The names under which Chromium is looked for on the path, in the same order as in
/// scripts/browser.sh.
const CHROMIUM: [&str; 5] = [
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// The names of Firefox, in the same order as in `web/e2e/engines/firefox.mjs`.
const FIREFOX: [&str; 2] = ["firefox-esr", "firefox"];

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

/// The same for Firefox. Its clock has the steps of Chromium's, and it does not ask the user before
/// a form loads an iframe, that of the transport `iframe`, from the emulated network.
const PREFERENCES: [(&str, &str); 16] = [
    ("browser.startup.homepage_override.mstone", r#""ignore""#),
    ("browser.shell.checkDefaultBrowser", "false"),
    ("browser.aboutwelcome.enabled", "false"),
    ("datareporting.policy.dataSubmissionEnabled", "false"),
    ("toolkit.telemetry.server", r#""""#),
    ("app.normandy.enabled", "false"),
    ("app.update.disabledForTesting", "true"),
    ("extensions.update.enabled", "false"),
    ("services.settings.server", r#""data:,""#),
    ("network.captive-portal-service.enabled", "false"),
    ("network.connectivity-service.enabled", "false"),
    ("network.proxy.type", "0"),
    ("dom.disable_open_during_load", "false"),
    ("dom.min_background_timeout_value", "4"),
    ("privacy.reduceTimerPrecision", "false"),
    ("security.warn_submit_secure_to_insecure", "false"),
];

impl Engine {
    /// Finds the browser: `$GROUPWIRE_BROWSER` for Chromium, or one on the path.
    pub(super) fn find(self) -> Result<PathBuf> {
        let given = env::var_os("GROUPWIRE_BROWSER").filter(|given| !given.is_empty());
        if let Some(given) = given.filter(|_| self == Engine::Chromium) {
            return Ok(given.into());
        }
        let (found, why) = match self {
            Engine::Chromium => (
                installed(&CHROMIUM),
                "no Chromium or Chrome found; install one (Debian's package is chromium-headless-shell), or set \
                 GROUPWIRE_BROWSER to one",
            ),
            Engine::Firefox => (
                installed(&FIREFOX),
                "no Firefox found; install one (Debian's package is firefox-esr)",
            ),
            Engine::Native => (None, "the native client is no browser"),
        };
        found.ok_or_else(|| why.into())
    }

    /// The name and version of a browser, such as `chromium 156.0.7100.2`.
    pub(super) fn version(self, browser: &Path) -> Result<String> {
        let output = Command::new(browser).arg("--version").stderr(Stdio::null()).output();
        let output = output.map_err(|error| cannot_run(browser, &error))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let is_digit = |digit: char| digit.is_ascii_digit();
        let number = text.split_whitespace().find(|word| word.starts_with(is_digit));
        let name = [Some(self.to_string()), number.map(str::to_owned)];
        Ok(name.into_iter().flatten().collect::<Vec<_>>().join(" "))
    }

    /// The command that opens a page with the profile in this directory.
    fn command(self, browser: &Path, profile: &Path, url: &str) -> io::Result<Command> {
        let mut command = Command::new(browser);
        if self == Engine::Firefox {
            fs::create_dir_all(profile)?;
            let line = |(name, value): &(&str, &str)| format!("user_pref(\"{name}\", {value});\n");
            let preferences: String = PREFERENCES.iter().map(line).collect();
            fs::write(profile.join("user.js"), preferences)?;
            command.args(["--headless", "--no-remote", "--profile"]).arg(profile);
        } else {
            command.args(FLAGS).arg(format!("--user-data-dir={}", profile.display()));
        }
        command.arg(url);
        Ok(command)
    }
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
    pub(super) fn open(engine: Engine, browser: &Path, url: &str) -> Result<Self> {
        let profile =
            env::temp_dir().join(format!("groupwire-lab-{}-{engine}", std::process::id()));
        let command = engine.command(browser, &profile, url);
        // The browser's output is of no use here.
        let child = command.and_then(|mut command| {
            #[cfg(unix)]
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
        });
        let child = child.map_err(|error| cannot_run(browser, &error))?;
        Ok(Browser { child, profile })
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The program may be a script that waits for the browser, as Debian's is: all of its group
        // end, and the browser's other processes with it.
        #[cfg(unix)]
        {
            use rustix::process::{Pid, Signal, kill_process_group};
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.profile);
    }
}

//! The output of every experiment: a progress bar on standard error, and rows on standard output.

use std::error::Error;
use std::process::ExitCode;

use groupwire_lab::Update;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

/// Prints the rows and the progress of an experiment.
pub(super) struct Rows {
    bar: ProgressBar,
    json: bool,
    count: usize,
    wrong: usize,
    failure: Option<serde_json::Error>,
}

impl Rows {
    /// Output with rows as lines of JSON, or as tables.
    pub(super) fn new(json: bool) -> Result<Self, Box<dyn Error>> {
        let bar = ProgressBar::new(0);
        let style = ProgressStyle::with_template("{bar:32} {pos}/{len} runs, {elapsed}, {msg}")?;
        bar.set_style(style);
        Ok(Rows { bar, json, count: 0, wrong: 0, failure: None })
    }

    /// Prints an update. `is_right` tells whether a row is correct, `print` prints it as part of a table.
    pub(super) fn update<R: Serialize>(
        &mut self,
        update: Update<R>,
        is_right: impl FnOnce(&R) -> bool,
        print: impl FnOnce(&R),
    ) {
        match update {
            Update::Progress { done, total, what } => {
                self.bar.set_length(total as u64);
                self.bar.set_position(done as u64);
                self.bar.set_message(what);
            }
            Update::Row(row) => {
                self.count += 1;
                self.wrong += usize::from(!is_right(&row));
                self.bar.suspend(|| match self.json {
                    true => match serde_json::to_string(&row) {
                        Ok(json) => println!("{json}"),
                        Err(error) => self.failure = Some(error),
                    },
                    false => print(&row),
                });
            }
            Update::Skipped { what, why } => self.bar.suspend(|| {
                eprintln!("groupwire-lab: {what} was skipped: {why}");
            }),
            _ => {}
        }
    }

    /// Ends the output. It is an error with the text `wrong` if a row was not correct, and with the text `none` if there was
    /// no row.
    pub(super) fn finish(self, wrong: &str, none: &str) -> Result<ExitCode, Box<dyn Error>> {
        self.bar.finish_and_clear();
        match self.failure {
            Some(error) => Err(error.into()),
            None if self.wrong > 0 => {
                Err(format!("{} of {} rows are wrong: {wrong}", self.wrong, self.count).into())
            }
            None if self.count == 0 => Err(none.into()),
            None => Ok(ExitCode::SUCCESS),
        }
    }
}

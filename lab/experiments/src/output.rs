//! The output of an experiment: progress on standard error, rows on standard output.

use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressStyle};

use crate::table::Table;
use crate::{Result, Row};

/// An update of a running experiment.
#[derive(Debug)]
pub(crate) enum Update {
    /// `done` of about `total` runs have ended.
    Progress {
        done: usize,
        total: usize,
        /// The run that began last.
        what: String,
    },
    Row(Row),
    /// A part of the experiment could not run.
    Skipped {
        what: String,
        why: String,
    },
}

impl Update {
    /// A run begins, one of several that go on at the same time. The code that starts them counts
    /// them.
    pub(crate) fn begun(what: impl ToString) -> Update {
        Update::Progress { done: 0, total: 0, what: what.to_string() }
    }
}

/// Prints the updates of an experiment.
pub(crate) struct Output {
    bar: ProgressBar,
    /// Rows of the table that is not complete yet; none if rows are printed as JSON.
    table: Option<Table>,
    count: usize,
    wrong: usize,
}

impl Output {
    /// Output with rows as lines of JSON, or as tables.
    pub(crate) fn new(json: bool) -> Output {
        let bar = ProgressBar::new(0);
        let style = ProgressStyle::with_template("{bar:32} {pos}/{len} runs, {elapsed}, {msg}");
        bar.set_style(style.expect("the template is valid"));
        Output { bar, table: (!json).then(Table::default), count: 0, wrong: 0 }
    }

    /// Prints an update.
    pub(crate) fn show(&mut self, update: Update) {
        match update {
            Update::Progress { done, total, what } => {
                self.bar.set_length(total as u64);
                self.bar.set_position(done as u64);
                self.bar.set_message(what);
            }
            Update::Row(row) => {
                self.count += 1;
                self.wrong += usize::from(row.is_wrong());
                let text = match &mut self.table {
                    Some(table) => table.add(row),
                    None => {
                        Some(serde_json::to_string(&row).expect("rows have only text as names"))
                    }
                };
                self.print(text);
            }
            Update::Skipped { what, why } => self.bar.suspend(|| {
                eprintln!("groupwire-lab: {what} was skipped: {why}");
            }),
        }
    }

    /// Ends the output.
    ///
    /// # Errors
    /// A row was wrong, or there was no row.
    pub(crate) fn finish(mut self) -> Result<ExitCode> {
        let rest = self.table.as_mut().and_then(Table::end);
        self.print(rest);
        self.bar.finish_and_clear();
        match (self.wrong, self.count) {
            (0, 0) => Err("nothing of what was named can be measured here".into()),
            (0, _) => Ok(ExitCode::SUCCESS),
            (wrong, count) => {
                Err(format!("{wrong} of {count} rows are wrong: other data arrived than was sent")
                    .into())
            }
        }
    }

    fn print(&self, text: Option<String>) {
        if let Some(text) = text {
            self.bar.suspend(|| println!("{text}"));
        }
    }
}

//! Saved rows of experiments as one page with plots.
//!
//! ```no_run
//! use groupwire_lab::report::{self, Saved};
//!
//! let saved = Saved::read("rows".as_ref())?;
//! std::fs::write("rows/report.html", report::page(&saved)).expect("a page can be written there");
//! # Ok::<(), report::Error>(())
//! ```
//!
//! The page needs nothing beside itself: its style, its script and its drawings are within. It is the same for the same
//! rows.

mod ace;
mod afec;
mod chart;
mod contract;
mod error;
mod fanout;
mod gmc;
mod lossless;
mod page;
mod saved;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod web;

pub use error::Error;
pub use saved::{Experiment, Saved};
pub use text::grouped;

use page::{Page, Section};
use saved::Row;

/// The page: a section for each experiment that there are rows of.
pub fn page(saved: &Saved) -> String {
    let sections = saved.rows.iter().map(|(&experiment, rows)| section(experiment, rows));
    let page = Page {
        title: "Groupwire's lab".to_owned(),
        lead: format!(
            "What the lab measured, beside what the papers have. From {}.",
            match saved.files.as_slice() {
                [] => "no rows".to_owned(),
                files => files.join(", "),
            }
        ),
        warnings: saved.not_understood.clone(),
        sections: sections.collect(),
    };
    page.html()
}

fn section(experiment: Experiment, rows: &[Row]) -> Section {
    match experiment {
        Experiment::Lossless => lossless::section(rows),
        Experiment::Gmc => gmc::section(rows),
        Experiment::Afec => afec::section(rows),
        Experiment::Web => web::section(rows),
        Experiment::Ace => ace::section(rows),
        Experiment::Fanout => fanout::section(rows),
        Experiment::Contract => contract::section(rows),
    }
}

//! Options and headings that all experiments share.

use clap::Args as ClapArgs;

/// Options of every experiment.
#[derive(Debug, Clone, Copy, ClapArgs)]
pub(super) struct Common {
    /// The seed of generated messages and of simulated networks. The same number gives the same results.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(super) seed: u64,

    /// Take at most 30 seconds: print every row, measured with fewer messages.
    #[arg(long)]
    pub(super) quick: bool,

    /// Print rows of JSON instead of tables.
    #[arg(long)]
    pub(super) json: bool,
}

/// The heading above a group of rows.
#[derive(Debug, Default)]
pub(super) struct Heading(String);

impl Heading {
    /// Prints the heading of the next row and the titles of its columns, unless it is the heading of the last row.
    pub(super) fn print(&mut self, heading: String, titles: impl FnOnce() -> String) {
        if heading != self.0 {
            println!("\n{heading}\n\n{}", titles());
            self.0 = heading;
        }
    }
}

/// The suffix of headings with `--quick`.
pub(super) fn quick(is_quick: bool) -> &'static str {
    if is_quick { " (quick)" } else { "" }
}

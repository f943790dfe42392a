//! What experiments have in common for people: options, headings.

use clap::Args as ClapArgs;

/// The options of every experiment.
#[derive(Debug, Clone, Copy, ClapArgs)]
pub(super) struct Common {
    /// Of what is generated and of the network's luck: the same number gives the same.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(super) seed: u64,

    /// At most 30 seconds: every row, of fewer messages.
    #[arg(long)]
    pub(super) quick: bool,

    /// Print rows of JSON instead of tables.
    #[arg(long)]
    pub(super) json: bool,
}

/// What stands above a group of rows.
#[derive(Debug, Default)]
pub(super) struct Heading(String);

impl Heading {
    /// Prints the heading of the next row and the titles of its columns, unless the last row had the same.
    pub(super) fn print(&mut self, heading: String, titles: impl FnOnce() -> String) {
        if heading != self.0 {
            println!("\n{heading}\n\n{}", titles());
            self.0 = heading;
        }
    }
}

/// What `--quick` adds to a heading.
pub(super) fn quick(is_quick: bool) -> &'static str {
    if is_quick { " (quick)" } else { "" }
}

//! `groupwire-lab report`.

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args as ClapArgs;
use groupwire_lab::report::{self, Saved};

/// The file name of the page.
const PAGE: &str = "report.html";

/// The options of `groupwire-lab report`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// The directory of saved rows: *.json and *.jsonl, as experiments print them with --json.
    #[arg(long, value_name = "DIRECTORY")]
    from: Option<PathBuf>,

    /// The directory to write report.html to. Default: the directory of the rows.
    #[arg(long, value_name = "DIRECTORY")]
    out: Option<PathBuf>,
}

pub(super) fn run(args: Args) -> Result<ExitCode, Box<dyn Error>> {
    let Some(from) = args.from else {
        return Err("a report is made of saved rows. Save some and name their directory:\n  \
             groupwire-lab lossless --json > DIRECTORY/lossless.json\n  \
             groupwire-lab report --from DIRECTORY"
            .into());
    };
    let saved = Saved::read(&from)?;
    for line in &saved.not_understood {
        eprintln!("groupwire-lab: {line}");
    }
    let out = args.out.unwrap_or(from);
    let path = out.join(PAGE);
    fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    fs::write(&path, report::page(&saved))
        .map_err(|error| format!("{}: {error}", path.display()))?;
    println!("{}", path.display());
    Ok(ExitCode::SUCCESS)
}

//! `groupwire replay`: native clients send a recorded session through a running server and check
//! what arrives.

mod channels;
mod clients;
mod load;
mod options;
mod plan;
mod report;
mod status;
mod verify;

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use groupwire_trace::Trace;

pub(crate) use options::Args;

use clients::Clients;
use plan::{Pace, Plan};
use report::Report;

pub(crate) async fn run(args: Args) -> Result<ExitCode, Box<dyn Error>> {
    let trace = Arc::new(Trace::read(&args.trace)?);
    let senders = match args.participants {
        Some(count) => count as usize,
        None => trace.senders().len().max(2),
    };
    let count = senders + args.receivers as usize;
    let channels = channels::of(&trace, args.qos);
    let clients = Clients::join(&args, &channels, count).await?;
    let pace = match args.rate {
        Some(hz) => Pace::Rate { hz, seconds: args.seconds },
        None => Pace::Recorded { speed: args.speed },
    };
    let plan = Arc::new(Plan::new(&trace, senders, pace, clients.qos()));

    let server = status::read(&args.url).await;
    let outcome = load::run(&args, &trace, &plan, clients).await?;
    let server = status::Cost::between(server, status::read(&args.url).await);

    let report = Report::new(&args, &trace, &plan, &outcome, server);
    match args.json {
        true => report.print_json(),
        false => report.print_table(),
    }
    match report.complaint() {
        None => Ok(ExitCode::SUCCESS),
        Some(complaint) => Err(complaint.into()),
    }
}

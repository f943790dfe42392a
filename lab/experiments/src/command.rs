//! The command line of `groupwire-lab`.

use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};

use crate::output::Output;
use crate::{
    Result, Update, browsers, cluster, contract, deadlines, durable, emulate, fairness, fanout,
    far, lossless, messages, report, storm, streams, voice, yjs,
};

/// Experiments that compare Groupwire with similar software.
#[derive(Debug, Parser)]
#[command(name = "groupwire-lab", version, propagate_version = true, max_term_width = 100)]
struct Command {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Debug, Subcommand)]
enum Experiment {
    /// Measure the choice of a codec for each block of a stream.
    Ace(streams::Options),
    /// Measure the share of messages that miss their deadline, and the cost of meeting a target.
    Afec(deadlines::Options),
    /// Measure several servers that share their rooms: confirmations, the time until people of a
    /// server that ended are back, and what it costs to pass clients on.
    Cluster(cluster::Options),
    /// Measure whether channels meet their QoS contract, from application to application.
    Contract(contract::Options),
    /// Measure rooms that outlive their server: confirmations, the cost of storing, and the start
    /// after a crash.
    Durable(durable::Options),
    /// Run a program in an emulated network, which that program changes.
    Emulate(emulate::Options),
    /// Measure our share of a bottleneck beside the kernel's TCP, and the queue that we make alone.
    Fairness(fairness::Options),
    /// Serve another machine, whose experiments measure the path to this one.
    Far(far::Options),
    /// Measure the cost of a delivery when few participants send and all receive, for several
    /// servers.
    Fanout(fanout::Options),
    /// Measure size, time and memory of message compression.
    Gmc(messages::Options),
    /// Measure the gain of lossless codecs for single messages, by size and link.
    Lossless(lossless::Options),
    /// Measure many who join or come back at once, and people who flood the server.
    Storm(storm::Options),
    /// Write a page with plots of rows that were saved with --json.
    Report(report::Options),
    /// Measure what arrives of speech, when it is played and what it costs, and rooms in which many
    /// speak.
    Voice(voice::Options),
    /// Measure latency and rate of messages from browser to browser, over each transport and
    /// network.
    Web(browsers::Options),
    /// Measure Yjs documents with many editors, and many documents, beside other servers of Yjs.
    Yjs(yjs::Options),
}

/// Runs the experiment that the command line names, and prints errors.
pub fn main() -> ExitCode {
    Command::parse().experiment.run().unwrap_or_else(|error| {
        eprintln!("groupwire-lab: {error}");
        ExitCode::FAILURE
    })
}

impl Experiment {
    fn run(&self) -> Result<ExitCode> {
        /// Runs an experiment with its options, and prints its updates.
        macro_rules! shown {
            ($experiment:ident, $options:expr) => {
                show($options.common.json, |emit| $experiment::run($options, emit))
            };
        }
        match self {
            Experiment::Ace(options) => match options.dummy {
                Some(core) => Ok(streams::dummy(core)?),
                None => shown!(streams, options),
            },
            Experiment::Afec(options) => shown!(deadlines, options),
            Experiment::Cluster(options) => shown!(cluster, options),
            Experiment::Contract(options) => shown!(contract, options),
            Experiment::Durable(options) => shown!(durable, options),
            Experiment::Emulate(options) => emulate::run(options),
            Experiment::Fairness(options) => shown!(fairness, options),
            Experiment::Far(options) => far::run(options),
            Experiment::Fanout(options) => match options.serve_bare {
                Some(tick_ms) => {
                    fanout::bare::serve(Duration::from_millis(tick_ms))?;
                    Ok(ExitCode::SUCCESS)
                }
                None => shown!(fanout, options),
            },
            Experiment::Gmc(options) => shown!(messages, options),
            Experiment::Lossless(options) => match options.memory_of {
                Some(contender) => lossless::memory_of(contender).map(|()| ExitCode::SUCCESS),
                None => shown!(lossless, options),
            },
            Experiment::Report(options) => report::run(options),
            Experiment::Storm(options) => shown!(storm, options),
            Experiment::Voice(options) => shown!(voice, options),
            Experiment::Web(options) => shown!(browsers, options),
            Experiment::Yjs(options) => shown!(yjs, options),
        }
    }
}

/// Runs an experiment and prints its updates.
fn show(json: bool, run: impl FnOnce(&mut dyn FnMut(Update)) -> Result<()>) -> Result<ExitCode> {
    let mut output = Output::new(json);
    run(&mut |update| output.show(update))?;
    output.finish()
}

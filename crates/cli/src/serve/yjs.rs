//! The options of documents of Yjs.

use clap::Args;
use groupwire_server::YjsLimits;

/// The options of documents of Yjs.
#[derive(Debug, Args)]
pub(crate) struct YjsArgs {
    /// Do not serve Yjs documents to clients of y-websocket, at /yjs/DOCUMENT.
    #[arg(long)]
    no_yjs: bool,

    /// The limit of connections to a Yjs document.
    #[arg(long, value_name = "COUNT", default_value_t = 1000)]
    max_document_people: usize,

    /// The largest size of a Yjs document, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=64))]
    max_document_size: u16,

    /// The largest size of a message to a Yjs document, in MiB, such as a pasted text or everything
    /// that was written offline.
    #[arg(long, value_name = "MIB", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=16))]
    max_document_message: u16,

    /// The memory that all open Yjs documents may take, in MiB. Above it, no further one is opened,
    /// none grows, and nobody is answered.
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    max_document_memory: u32,

    /// Remove deleted content from Yjs documents when they are merged, if their name matches this
    /// pattern, such as notes/*. May be given several times.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    collect_documents: Vec<String>,
}

impl YjsArgs {
    /// The limits of Yjs documents; `None` without them. As many may be open as rooms, which they
    /// are.
    pub(super) fn limits(&self, max_rooms: usize) -> Option<YjsLimits> {
        let limits = YjsLimits {
            documents: max_rooms,
            connections: self.max_document_people,
            message_bytes: usize::from(self.max_document_message) << 20,
            document_bytes: usize::from(self.max_document_size) << 20,
            memory_bytes: usize::try_from(u64::from(self.max_document_memory) << 20)
                .unwrap_or(usize::MAX),
            collect: self.collect_documents.clone(),
        };
        (!self.no_yjs).then_some(limits)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        yjs: YjsArgs,
    }

    #[test]
    fn the_options_have_the_defaults_of_the_library() {
        let limits = |arguments: &[&str]| Command::parse_from(arguments).yjs.limits(10_000);
        assert_eq!(limits(&["serve"]), Some(YjsLimits::default()));
        assert_eq!(limits(&["serve", "--no-yjs"]), None);
        let larger = limits(&["serve", "--max-document-size", "64"]).unwrap();
        assert_eq!(larger.document_bytes, 64 << 20);
        let collected = limits(&["serve", "--collect-documents", "notes/*,plan"]).unwrap();
        assert_eq!(collected.collect, ["notes/*", "plan"]);
        assert!(Command::try_parse_from(["serve", "--max-document-message", "17"]).is_err());
    }
}

//! `groupwire admin`: asks a running server about its rooms and people, over its administration listener.

mod request;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args as ClapArgs, Subcommand};
use groupwire_server::AdminToken;
use serde_json::Value;

use request::{Server, encoded};

/// The options of `groupwire admin`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// The administration listener of the server: the address that `groupwire serve` prints, with the token behind #; or
    /// http://HOST:PORT with --token-file; or unix:PATH.
    #[arg(long, value_name = "URL", env = "GROUPWIRE_ADMIN", hide_env_values = true)]
    server: String,

    /// The file with the token, as in `groupwire serve --admin-token-file`.
    #[arg(long, value_name = "FILE", env = "GROUPWIRE_ADMIN_TOKEN_FILE")]
    token_file: Option<PathBuf>,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the rooms that are open or stored.
    Rooms,
    /// List the participants of an open room.
    People {
        /// The room's name.
        room: String,
    },
    /// Close a participant's connection, after which its client does not come back by itself.
    Kick {
        /// The room's name.
        room: String,
        /// The participant's number, as in the list of people.
        participant: u32,
    },
    /// Delete what is stored of a room. Its participants come back to an empty room.
    Delete {
        /// The room's name.
        room: String,
    },
    /// Make the server not ready at once (/readyz), and stop it after a time.
    Drain {
        /// Seconds until the server stops, in which balancers notice. Default: the server's --drain-wait.
        #[arg(long, value_name = "SECONDS")]
        wait: Option<u64>,
    },
}

pub(crate) async fn run(args: Args) -> Result<ExitCode, Box<dyn Error>> {
    let token = args.token_file.map(AdminToken::from_file).transpose()?;
    let server = Server::new(&args.server, token)?;
    match args.command {
        Command::Rooms => {
            let answer = server.ask("GET", "/api/rooms", None).await?;
            print!(
                "{}",
                table(&read(&answer)?["rooms"], &["name", "participants", "stored_bytes"])
            );
        }
        Command::People { room } => {
            let path = format!("/api/rooms/{}/participants", encoded(&room));
            let answer = read(&server.ask("GET", &path, None).await?)?;
            print!("{}", table(&answer["participants"], &["participant", "state", "transport"]));
        }
        Command::Kick { room, participant } => {
            let path = format!("/api/rooms/{}/participants/{participant}", encoded(&room));
            server.ask("DELETE", &path, None).await?;
        }
        Command::Delete { room } => {
            server.ask("DELETE", &format!("/api/rooms/{}", encoded(&room)), None).await?;
        }
        Command::Drain { wait } => {
            let body = serde_json::json!({ "wait_seconds": wait }).to_string();
            server.ask("POST", "/api/drain", Some(&body)).await?;
            match wait {
                Some(wait) => println!("The server is not ready any more, and stops in {wait} s."),
                None => {
                    println!("The server is not ready any more, and stops after its --drain-wait.")
                }
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn read(answer: &str) -> Result<Value, Box<dyn Error>> {
    Ok(serde_json::from_str(answer)?)
}

/// The columns of a list, as lines with tabs between. Control characters of names become blanks.
fn table(list: &Value, columns: &[&str]) -> String {
    let mut text = columns.join("\t") + "\n";
    for row in list.as_array().into_iter().flatten() {
        let cells: Vec<_> = columns.iter().map(|column| cell(&row[column])).collect();
        text += &(cells.join("\t") + "\n");
    }
    text
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.replace(char::is_control, " "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_a_table_whose_cells_hold_no_control_characters() {
        let list = serde_json::json!([
            {"name": "a\tb\u{1b}[2J", "participants": 2, "stored_bytes": null},
            {"name": "c", "participants": 0, "stored_bytes": 7, "more": true},
        ]);
        let text = table(&list, &["name", "participants", "stored_bytes"]);
        assert_eq!(text, "name\tparticipants\tstored_bytes\na b [2J\t2\t-\nc\t0\t7\n");
        assert_eq!(table(&Value::Null, &["name"]), "name\n");
    }
}

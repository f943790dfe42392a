//! `groupwire admin`: asks a running server about its rooms and people, over its administration
//! listener.

mod command;
pub(crate) mod request;
mod table;

use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args as ClapArgs;
use groupwire_server::store::create_private;
use groupwire_server::{AdminToken, random_number};
use serde_json::{Value, json};

use command::{Command, Content};
use request::{Body, Server, encoded};
use table::{names, table};

/// The options of `groupwire admin`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// The administration listener of the server: the address that `groupwire serve` prints, with
    /// the token after #; or http://HOST:PORT with --token-file; or unix:PATH.
    #[arg(long, value_name = "URL", env = "GROUPWIRE_ADMIN", hide_env_values = true)]
    server: String,

    /// The file with the token, as in `groupwire serve --admin-token-file`.
    #[arg(long, value_name = "FILE", env = "GROUPWIRE_ADMIN_TOKEN_FILE")]
    token_file: Option<PathBuf>,

    #[command(subcommand)]
    command: Command,
}

/// The columns of the lists.
const ROOMS: [&str; 3] = ["name", "participants", "stored_bytes"];
const PEOPLE: [&str; 4] = ["participant", "state", "user", "transport"];
const CHANNELS: [&str; 7] = ["id", "name", "kind", "receivers", "transactions", "values", "reset"];
const BANS: [&str; 7] = ["id", "user", "token", "issued_before", "room", "until", "reason"];
const SNAPSHOTS: [&str; 8] =
    ["snapshot", "part", "is_reset", "channels", "as_of", "taken", "bytes", "is_newest"];

type Result<T> = std::result::Result<T, Box<dyn Error>>;

pub(crate) async fn run(args: Args) -> Result<ExitCode> {
    let token = args.token_file.map(AdminToken::from_file).transpose()?;
    let server = Server::new(&args.server, token)?;
    match args.command {
        Command::Rooms => print_rooms(&server).await?,
        Command::People { room } => {
            print_list(&server, &under(&room, "participants"), "participants", &PEOPLE).await?;
        }
        Command::Channels { room } => {
            print_list(&server, &under(&room, "channels"), "channels", &CHANNELS).await?;
        }
        Command::Values { room, channel, limit, before, values_before } => {
            let before = [("before", before), ("values_before", values_before)];
            print_values(&server, (&room, &channel), limit, before).await?;
        }
        Command::Publish { room, channel, content, key, idempotency_key } => {
            publish(&server, (&room, &channel), content, key, idempotency_key).await?;
        }
        Command::Kick { room, participant, ban } => {
            let ban = ban.map(|ban| format!("?ban={}", encoded(&ban))).unwrap_or_default();
            let path = under(&room, &format!("participants/{participant}{ban}"));
            server.ask("DELETE", &path, Body::None).await?;
        }
        Command::Bans => print_list(&server, "/api/bans", "bans", &BANS).await?,
        Command::Ban(ban) => {
            let made = server.post("/api/bans", &ban.to_json()).await?;
            let id = &made["id"];
            println!("Ban {id} is in force. `groupwire admin unban {id}` ends it.");
        }
        Command::Unban { ban } => {
            server.ask("DELETE", &format!("/api/bans/{ban}"), Body::None).await?;
        }
        Command::Reset { room, channels, yes } => {
            confirm(yes, "everything that these channels hold is dropped")?;
            let wanted = json!({ "channels": channels });
            let done = server.post(&under(&room, "reset"), &wanted).await?;
            println!("The channels are reset, at position {}.", done["position"]);
        }
        Command::Delete { room } => {
            server.ask("DELETE", &of(&room), Body::None).await?;
        }
        Command::Export { file, room } => {
            let path = room.map_or_else(|| "/api/export".to_owned(), |room| under(&room, "export"));
            let bytes = download(&server, &path, &file).await?;
            println!("{bytes} bytes are in {}.", file.display());
        }
        Command::Import { file, room, replace } => {
            let room = room.map(|room| format!("&room={}", encoded(&room))).unwrap_or_default();
            let path = format!("/api/import?replace={replace}{room}");
            let answer = server.ask("POST", &path, Body::File(open(&file)?)).await?;
            print!("{}", table(&read(&answer)?["rooms"], &[]));
        }
        Command::Snapshots { room } => print_snapshots(&server, &room).await?,
        Command::Restore { room, snapshot, position, yes } => {
            confirm(
                yes,
                "the participants are disconnected, and what came later may be taken back",
            )?;
            let moment = match (snapshot, position) {
                (Some(snapshot), _) => json!({ "snapshot": snapshot }),
                (_, position) => json!({ "position": position }),
            };
            let body = Body::Json(moment.to_string());
            server.ask("POST", &under(&room, "restore"), body).await?;
            println!("The room is taken back.");
        }
        Command::Drain { wait } => drain(&server, wait).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The path of a room.
fn of(room: &str) -> String {
    format!("/api/rooms/{}", encoded(room))
}

/// The path of something that belongs to a room.
fn under(room: &str, what: &str) -> String {
    format!("{}/{what}", of(room))
}

/// Prints the list `name` in the answer.
async fn print_list(server: &Server, path: &str, name: &str, columns: &[&str]) -> Result<()> {
    let list = server.get(path).await?;
    print!("{}", table(&list[name], columns));
    Ok(())
}

/// Prints the list of rooms, and whose rooms are missing in it.
async fn print_rooms(server: &Server) -> Result<()> {
    let list = server.get("/api/rooms").await?;
    print!("{}", table(&list["rooms"], &ROOMS));
    let unanswered = names(&list["unanswered"]);
    if !unanswered.is_empty() {
        eprintln!(
            "These servers did not answer, so that rooms open there may be missing: {unanswered}"
        );
    }
    Ok(())
}

async fn print_values(
    server: &Server,
    (room, channel): (&str, &str),
    limit: u32,
    before: [(&str, Option<u64>); 2],
) -> Result<()> {
    let mut path = under(room, &format!("channels/{}?limit={limit}", encoded(channel)));
    for (name, before) in before {
        if let Some(before) = before {
            path += &format!("&{name}={before}");
        }
    }
    let contents = server.get(&path).await?;
    println!("{}", serde_json::to_string_pretty(&contents)?);
    Ok(())
}

async fn print_snapshots(server: &Server, room: &str) -> Result<()> {
    let list = server.get(&under(room, "snapshots")).await?;
    print!("{}", table(&list["snapshots"], &SNAPSHOTS));
    println!(
        "The newest transaction has position {}. The room can be taken back to each from {} on.",
        list["head"], list["oldest"]
    );
    Ok(())
}

async fn drain(server: &Server, wait: Option<u64>) -> Result<()> {
    let body = json!({ "wait_seconds": wait }).to_string();
    server.ask("POST", "/api/drain", Body::Json(body)).await?;
    match wait {
        Some(wait) => println!("The server is not ready any more, and stops in {wait} s."),
        None => println!("The server is not ready any more, and stops after its --drain-wait."),
    }
    Ok(())
}

async fn publish(
    server: &Server,
    (room, channel): (&str, &str),
    content: Content,
    key: Option<String>,
    idempotency_key: Option<String>,
) -> Result<()> {
    let mut message = content.to_json()?;
    if let Some(key) = key {
        message["key"] = Value::String(key);
    }
    let name = match idempotency_key {
        Some(name) => name,
        None => format!("{:016x}{:016x}", random_number(), random_number()),
    };
    let path = under(room, &format!("channels/{}/messages", encoded(channel)));
    let sent =
        server.ask("POST", &path, Body::Message { name: name.clone(), json: message.to_string() });
    let answer = sent.await.map_err(|error| {
        format!("{error}\nIf you ask again, do so with --idempotency-key {name}: then nothing is published twice")
    })?;
    match &read(&answer)?["position"] {
        Value::Null => println!("The value is published."),
        position => println!("The transaction is published, at position {position}."),
    }
    Ok(())
}

/// Writes an answer to a new file, which gets its name when it is complete.
async fn download(server: &Server, path: &str, file: &Path) -> Result<u64> {
    if file.exists() {
        return Err(format!("{} exists; choose another name or remove it", file.display()).into());
    }
    let unfinished = file.with_extension("unfinished");
    let at = |error: std::io::Error| format!("{}: {error}", unfinished.display());
    // A file that an earlier download left behind may have other permissions.
    let _ = std::fs::remove_file(&unfinished);
    let mut to = create_private(&unfinished).map_err(at)?;
    let downloaded = server.download(path, &mut to).await;
    let finished = downloaded.and_then(|bytes| {
        to.flush().and_then(|()| to.sync_all()).map_err(at)?;
        std::fs::rename(&unfinished, file).map_err(at)?;
        Ok(bytes)
    });
    if finished.is_err() {
        let _ = std::fs::remove_file(&unfinished);
    }
    finished
}

fn open(file: &Path) -> Result<File> {
    File::open(file).map_err(|error| format!("{}: {error}", file.display()).into())
}

/// Asks the person at the terminal, unless the command line has the answer.
fn confirm(yes: bool, what: &str) -> Result<()> {
    if yes {
        return Ok(());
    }
    eprint!("Are you sure: {what}? Write yes: ");
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    match answer.trim() {
        "yes" => Ok(()),
        _ => Err("nothing was done; --yes answers the question".into()),
    }
}

fn read(answer: &str) -> Result<Value> {
    Ok(serde_json::from_str(answer)?)
}

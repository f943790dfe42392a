//! Where the token comes from by which the agent joins rooms.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use groupwire_client::limits::MAX_TOKEN;
use tokio::process::Command;
use tokio::time::timeout;

/// How long a command may take to print a token. One that asks a person would never end.
const PATIENCE: Duration = Duration::from_secs(30);

/// Where the agent's token comes from. It is read again whenever the server wants another one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum TokenSource {
    /// The server requires no token.
    #[default]
    None,
    /// A file that contains the token.
    File(PathBuf),
    /// A program and its arguments, which prints the token. It is not run by a shell.
    Command(Vec<String>),
}

impl TokenSource {
    /// Reads the token.
    ///
    /// ```
    /// # async fn example() {
    /// use groupwire_agent::TokenSource;
    ///
    /// assert_eq!(TokenSource::None.read().await, Ok(Vec::new()));
    /// # }
    /// ```
    ///
    /// # Errors
    /// A sentence that says why there is no token.
    pub async fn read(&self) -> Result<Vec<u8>, String> {
        let bytes = match self {
            TokenSource::None => return Ok(Vec::new()),
            TokenSource::File(path) => tokio::fs::read(path).await.map_err(|error| {
                format!("cannot read the token file {}: {error}", path.display())
            })?,
            TokenSource::Command(words) => run(words).await?,
        };
        let token = bytes.trim_ascii();
        match token.len() {
            0 => Err("the token file or command gives no token".to_owned()),
            1..=MAX_TOKEN => Ok(token.to_vec()),
            size => Err(format!("the token has {size} bytes; the limit is {MAX_TOKEN}")),
        }
    }
}

async fn run(words: &[String]) -> Result<Vec<u8>, String> {
    let [program, arguments @ ..] = words else {
        return Err("the token command is empty: name a program".to_owned());
    };
    // Standard input is closed: over stdio, it carries the messages of the MCP host.
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stderr(Stdio::inherit()).kill_on_drop(true);
    let output = timeout(PATIENCE, command.output());
    let output = output.await.map_err(|_| format!("{program} printed no token within 30 s"))?;
    let output = output.map_err(|error| format!("cannot run {program}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{program}, which should print a token, failed: {}", output.status));
    }
    Ok(output.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn tokens_come_from_files_and_commands_and_are_checked() {
        let command = |words: &[&str]| {
            TokenSource::Command(words.iter().map(|&word| word.to_owned()).collect())
        };
        assert_eq!(command(&["echo", "secret"]).read().await, Ok(b"secret".to_vec()));
        assert!(command(&[]).read().await.unwrap_err().contains("empty"));
        assert!(command(&["false"]).read().await.unwrap_err().contains("failed"));
        assert!(command(&["no-such-program-here"]).read().await.is_err());
        assert!(command(&["true"]).read().await.unwrap_err().contains("no token"));
        let long = "x".repeat(MAX_TOKEN + 1);
        assert!(command(&["echo", &long]).read().await.unwrap_err().contains("limit"));
        let missing = TokenSource::File("/nonexistent/token".into()).read().await;
        assert!(missing.unwrap_err().contains("/nonexistent/token"));
    }
}

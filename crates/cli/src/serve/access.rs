//! The options of access: who may join, and who decides it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use groupwire_server::{
    Admission, Answer, Authenticator, ByRights, Config, HookAuthenticator, HookConfig, JoinRequest,
    JwtAuthenticator, JwtConfig, KeySource, Refusal, is_same_secret,
};

use crate::process::TEN_YEARS;

/// The options of access.
#[derive(Debug, Args)]
pub(crate) struct AccessArgs {
    /// The token that clients must present to join. Default: everybody may join.
    #[arg(long, value_name = "SECRET", hide_env_values = true)]
    token: Option<String>,

    /// Let in clients with a JSON web token that one of these keys signed: a file with a set of
    /// keys (JWKS) or a public key in PEM, or an https:// address of a set of keys. `groupwire
    /// token` makes keys and tokens for trying.
    #[arg(
        long,
        value_name = "FILE|ADDRESS",
        conflicts_with = "token",
        requires_all = ["jwt_issuer", "jwt_audience"]
    )]
    jwt_keys: Option<String>,

    /// The `iss` that tokens must have.
    #[arg(long, value_name = "NAME", requires = "jwt_keys")]
    jwt_issuer: Option<String>,

    /// The `aud` that tokens must have.
    #[arg(long, value_name = "NAME", requires = "jwt_keys")]
    jwt_audience: Option<String>,

    /// Ask this address who a client is and whether it may join: https://, or http:// on this
    /// machine. docs/operations/access.md describes requests and answers.
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["token", "jwt_keys"])]
    hook: Option<String>,

    /// A file with the secret that is sent to the address of --hook as `Authorization: Bearer`.
    #[arg(long, value_name = "FILE", requires = "hook")]
    hook_secret_file: Option<PathBuf>,

    /// How long an answer of --hook that lets a client in is reused for the same token and room, in
    /// seconds.
    #[arg(long, value_name = "SECONDS", requires = "hook", default_value_t = 30, value_parser = clap::value_parser!(u64).range(0..=TEN_YEARS))]
    hook_keep: u64,
}

impl AccessArgs {
    /// Sets who decides about clients: one token, JSON web tokens, or the application. Without an
    /// option everybody may join. `root` is a certificate that is trusted beside the system's.
    ///
    /// # Errors
    /// What is wrong with an option, or why the keys cannot be read.
    pub(super) async fn configure(
        self,
        root: Option<PathBuf>,
        config: &mut Config,
    ) -> Result<(), String> {
        if let Some(jwt) = self.jwt(root.clone()) {
            let keys =
                JwtAuthenticator::open(jwt).await.map_err(|why| format!("--jwt-keys: {why}"))?;
            config.authenticator = Arc::new(keys);
            config.authority = Arc::new(ByRights);
        }
        if let Some(hook) = self.hook(root)? {
            let hook = HookAuthenticator::new(hook).map_err(|why| format!("--hook: {why}"))?;
            config.authenticator = Arc::new(hook);
            config.authority = Arc::new(ByRights);
        }
        if let Some(token) = self.token {
            config.authenticator = Arc::new(OneToken(token.into_bytes()));
        }
        Ok(())
    }

    fn jwt(&self, root: Option<PathBuf>) -> Option<JwtConfig> {
        let (Some(keys), Some(issuer), Some(audience)) =
            (&self.jwt_keys, &self.jwt_issuer, &self.jwt_audience)
        else {
            return None;
        };
        let keys = match keys.contains("://") {
            true => KeySource::Address(keys.clone()),
            false => KeySource::File(keys.into()),
        };
        let (issuer, audience) = (issuer.clone(), audience.clone());
        Some(JwtConfig { keys, issuer, audience, root })
    }

    fn hook(&self, root: Option<PathBuf>) -> Result<Option<HookConfig>, String> {
        let Some(address) = self.hook.clone() else { return Ok(None) };
        let secret = match &self.hook_secret_file {
            Some(file) => {
                let read = std::fs::read_to_string(file)
                    .map_err(|error| format!("{}: {error}", file.display()))?;
                Some(read.trim_end().to_owned())
            }
            None => None,
        };
        let keep = Duration::from_secs(self.hook_keep);
        Ok(Some(HookConfig { address, secret, keep, root }))
    }
}

/// Lets in clients with one token.
struct OneToken(Vec<u8>);

impl Authenticator for OneToken {
    fn authenticate<'a>(&'a self, request: JoinRequest<'a>) -> Answer<'a> {
        let answer = match is_same_secret(request.token, &self.0) {
            true => Ok(Admission::default()),
            false => {
                let why = "the token is not the one this server was started with";
                Err(Refusal::Refused(why.to_owned()))
            }
        };
        Box::pin(std::future::ready(answer))
    }
}

//! Decides which clients may join: a client's token is checked before a room hears of the client,
//! and again whenever the client sends another one (wire W11, W98).

mod authenticator;
mod bans;
mod hook;
mod jwt;
mod keep;

pub use authenticator::{Admission, Answer, Authenticator, JoinRequest, Refusal};
pub(crate) use bans::{Ban, BanChange, Bans, NewBan, NotChanged};
pub use hook::{HookAuthenticator, HookConfig};
pub use jwt::{ByRights, JwtAuthenticator, JwtConfig, KeySource, Rights, UserLimits};
pub(crate) use keep::{Access, AccessChange, Admitted, Gate, keep_access};

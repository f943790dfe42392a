//! The routes of the administration listener.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::get;

use super::access::{self, Access};
use super::context::AdminContext;
use super::{api, bans, channels, publish, snapshots, transfer};
use crate::metrics::health;
use crate::transport::emulation::control;
use crate::web::assets;
use crate::{inspect, metrics};

/// Maps paths to their handlers. The inspector's page needs no token, because it has no secrets: a
/// browser loads it without one, and its requests bear the token of its address.
pub(super) fn router(context: AdminContext, access: Arc<Access>) -> Router {
    let [inspect, transports] = [
        inspect::routes(Arc::clone(&context.inspect)),
        control::admin_routes(Arc::clone(&context.transports)),
    ];
    let health = health::routes(Arc::clone(&context.sources));
    Router::new()
        .route("/metrics", get(metrics::serve))
        .merge(api::router())
        .merge(bans::router())
        .merge(channels::router())
        .merge(publish::router())
        .merge(snapshots::router())
        .merge(transfer::router())
        .with_state(context)
        .merge(inspect)
        .merge(transports)
        .route_layer(from_fn_with_state(Arc::clone(&access), access::check_token))
        .merge(health)
        .fallback(assets::serve_inspector)
        .layer(from_fn_with_state(access, access::check_address))
}

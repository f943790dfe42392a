//! The routes of the administration listener.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::get;

use super::access::{self, Access};
use super::context::AdminContext;
use super::{api, bans, channels, elsewhere, import, overview, publish, snapshots, transfer};
use crate::metrics::health;
use crate::transport::emulation::control;
use crate::web::assets;
use crate::{inspect, metrics};

/// Maps paths to their handlers. The inspector's page needs no token, because it has no secrets: a
/// browser loads it without one, and its requests bear the token of its address.
pub(crate) fn router(context: AdminContext, access: Arc<Access>) -> Router {
    let health = health::routes(Arc::clone(&context.sources));
    let (forward, transports) = (context.forward.clone(), Arc::clone(&context.transports));
    Router::new()
        .route("/metrics", get(metrics::serve))
        .merge(overview::router())
        .merge(transfer::router())
        .merge(import::router())
        .merge(api::router_of_server())
        .merge(bans::router())
        .with_state(context.clone())
        .merge(inspect::routes(Arc::clone(&context.inspect), forward.clone()))
        .merge(about_rooms(context))
        .route_layer(from_fn_with_state(forward, elsewhere::pass_on))
        .merge(control::admin_routes(transports))
        .route_layer(from_fn_with_state(Arc::clone(&access), access::check_token))
        .merge(health)
        .fallback(assets::serve_inspector)
        .layer(from_fn_with_state(access, access::check_address))
}

/// Maps the paths of requests that other servers of a cluster pass on, which have checked the
/// token.
pub(crate) fn router_of_servers(context: AdminContext) -> Router {
    let forward = context.forward.clone();
    Router::new()
        .merge(overview::router_of_servers())
        .merge(import::router_of_servers())
        .with_state(context.clone())
        .merge(inspect::routes(Arc::clone(&context.inspect), None))
        .merge(about_rooms(context))
        .route_layer(from_fn_with_state(forward, elsewhere::refuse_others))
}

/// Requests about one room.
fn about_rooms(context: AdminContext) -> Router {
    Router::new()
        .merge(api::router())
        .merge(bans::router_of_rooms())
        .merge(channels::router())
        .merge(publish::router())
        .merge(snapshots::router())
        .merge(transfer::router_of_rooms())
        .with_state(context)
}

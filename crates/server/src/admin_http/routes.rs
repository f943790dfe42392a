//! The routes of the administration listener.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};

use super::access::{self, Access};
use super::{api, bans, channels, publish, snapshots, transfer};
use crate::listen::routes;
use crate::rooms::hub::Hub;
use crate::transport::emulation::control;
use crate::web::assets;
use crate::{inspect, metrics};

/// Maps paths to their handlers. The inspector's page needs no token, because it has no secrets: a browser loads it without
/// one, and its requests bear the token of its address.
pub(crate) fn router(hub: Arc<Hub>, access: Arc<Access>) -> Router {
    Router::new()
        .route("/inspect/rooms", get(inspect::rooms))
        .route("/inspect/stream", get(inspect::stream))
        .route("/inspect/templates", get(inspect::templates))
        .route(
            "/inspect/record",
            post(inspect::record).layer(DefaultBodyLimit::max(inspect::MAX_BODY)),
        )
        .route(
            "/emulation",
            get(control::get).post(control::set).layer(DefaultBodyLimit::max(control::MAX_BODY)),
        )
        .route("/metrics", get(metrics::serve))
        .merge(api::router())
        .merge(bans::router())
        .merge(channels::router())
        .merge(publish::router())
        .merge(snapshots::router())
        .merge(transfer::router())
        .route_layer(from_fn_with_state(Arc::clone(&access), access::check_token))
        .merge(routes::health())
        .fallback(assets::serve_inspector)
        .layer(from_fn_with_state(access, access::check_address))
        .with_state(hub)
}

#!/usr/bin/env bash
# Builds the groupwire command with the web parts inside: build.sh PROFILE (Cargo's: release, dev).
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ -n ${GROUPWIRE_IS_BUILT:-} ]]; then exit; fi

profile=$1
locked=()
if [[ -n ${CI:-} ]]; then locked=(--locked); fi

if [[ $profile == dev ]]; then
    "${MAKE:-make}" --no-print-directory web
    # Without --package and with an example, Cargo resolves the features of dependencies as it does for tests, so that they and
    # groupwire are compiled once for both.
    exec cargo build "${locked[@]}" --bin groupwire --example datagrams
fi

# No page of the server needs the testing kit, whose module takes half a minute. A checkout that has built it once keeps it up to date.
if [[ $profile == quick && ! -f web/client/wasm/groupwire_wasm_room_bg.wasm ]]; then
    export GROUPWIRE_WITHOUT_TESTING=1
fi

# The libraries do not need the web parts, so both are built at the same time. Naming groupwire-cli gives the libraries the same features as
# in the program.
echo "build: compiling the libraries beside the web parts (the first time some 3 minutes on 2 cores, later seconds)"
cargo build "${locked[@]}" --quiet --profile "$profile" --lib \
    --package groupwire-cli --package groupwire-client --package groupwire-trace --package groupwire-tunnel &
libraries=$!
trap 'kill "$libraries" 2>/dev/null || true' EXIT
"${MAKE:-make}" --no-print-directory web
wait "$libraries"
echo "build: compiling and linking groupwire (the first time about a minute)"
cargo build "${locked[@]}" --profile "$profile" --package groupwire-cli

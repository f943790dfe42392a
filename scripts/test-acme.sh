#!/usr/bin/env bash
# Builds Pebble, the ACME authority for tests, and runs the tests that need it: certificates that are ordered and renewed, and
# browsers that meet one. It is not part of `make test`, because Pebble takes some 45 s of processor time to build, and renewals
# take a minute.
set -euo pipefail
cd "$(dirname "$0")/.."

# Pinned, so that a new version of Pebble cannot break the tests of an old commit.
version=v2.10.1
folder=$PWD/.cache/pebble/$version

for program in pebble pebble-challtestsrv; do
    if [[ -x $folder/$program ]]; then continue; fi
    if ! command -v go >/dev/null; then
        echo "test-acme: building Pebble needs Go" >&2
        exit 1
    fi
    echo "test-acme: building $program (the first time some 45 s)"
    GOBIN=$folder GOFLAGS=-buildvcs=false go install "github.com/letsencrypt/pebble/v2/cmd/$program@$version"
done
export GROUPWIRE_PEBBLE=$folder

# They mostly wait, so all run at a time. Without --package, so that nothing is compiled again that `make test` has compiled.
cargo test ${CI:+--locked} --test all -- --test-threads=8 acme::

GROUPWIRE_BROWSER=$(scripts/browser.sh)
export GROUPWIRE_BROWSER
cd web
exec node --test e2e/tls.test.mjs

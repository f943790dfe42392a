#!/usr/bin/env bash
# Packs all public npm packages as for publishing: npm.sh FOLDER. `make web` has built the modules of WebAssembly.
set -euo pipefail
# shellcheck source=scripts/release/common.sh
. "$(dirname "$0")/common.sh"

folder=$(realpath -m "$1")
mkdir -p "$folder/npm"

for file in web/*/package.json; do
    if grep --quiet '^  "private": true' "$file"; then continue; fi
    # npm builds the package before it packs it.
    npm pack "./$(dirname "$file")" --silent --pack-destination "$folder/npm"
done

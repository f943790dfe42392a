#!/usr/bin/env bash
# Packs the crates as for publishing: crates.sh FOLDER. `make package` also builds each from its package, which takes minutes.
set -euo pipefail
# shellcheck source=scripts/release/common.sh
. "$(dirname "$0")/common.sh"

folder=$(realpath -m "$1")
mkdir -p "$folder/crates"

rm -f "$target_dir"/package/groupwire-*.crate
scripts/package.sh --no-verify
cp "$target_dir"/package/groupwire-*.crate "$folder/crates"
echo "crates: packed $(find "$folder/crates" -name '*.crate' | wc -l) crates"

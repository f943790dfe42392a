#!/usr/bin/env bash
# Writes what takes the programs to machines without a package: the sources, the formula of Homebrew with the hashes of the archives, and
# install.sh: installers.sh FOLDER.
set -euo pipefail
# shellcheck source=scripts/release/common.sh
. "$(dirname "$0")/common.sh"

folder=$(realpath -m "$1")

main() {
    sources "$folder/groupwire-$version-source.tar.gz"
    filled packaging/install.sh > "$folder/install.sh"
    filled packaging/homebrew/groupwire.rb.in |
        sed -e "s|@SHA256_source@|$(sha256 source)|" -e "s|@SHA256_x86_64@|$(sha256 x86_64-linux)|" \
            -e "s|@SHA256_aarch64@|$(sha256 aarch64-linux)|" > "$folder/groupwire.rb"
    echo "installers: wrote install.sh, groupwire.rb and the sources"
}

sources() {
    git archive --format=tar --prefix="groupwire-$version/" HEAD | gzip -9 --no-name > "$1"
}

filled() {
    sed -e "s|@VERSION@|$version|g" -e "s|@BASE_URL@|$repository/releases/download/v$version|g" -e "s|@REPOSITORY@|$repository|g" "$1"
}

# sha256 WHAT: of the archive with this end of its name.
sha256() {
    local hash
    hash=$(sha256sum "$folder/groupwire-$version-$1.tar.gz")
    echo "${hash%% *}"
}

main

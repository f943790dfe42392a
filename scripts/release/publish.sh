#!/usr/bin/env bash
# `make publish`: publishes what `make release` has made. By default it only prints the commands; with PUBLISH=1 it runs them, and stops
# at the first that fails. docs/releasing.md says which accounts it needs.
set -euo pipefail
# shellcheck source=scripts/release/common.sh
. "$(dirname "$0")/common.sh"

folder=$target_dir/release-files
image=${GROUPWIRE_IMAGE:-ghcr.io/groupwire/groupwire}

main() {
    if [[ ! -f $folder/SHA256SUMS ]]; then fail "there is no release in $folder: run 'make release'"; fi
    (cd "$folder" && sha256sum --quiet --check SHA256SUMS) || fail "files differ from SHA256SUMS: run 'make release' again"
    if [[ -n ${PUBLISH:-} && ! -f $folder/SHA256SUMS.sig ]]; then fail "the release is not signed: set GROUPWIRE_SIGNING_KEY and run 'make release' again"; fi

    # The package that all others need goes first.
    for package in "$folder/npm/groupwire-$version.tgz" "$folder"/npm/*-*-"$version".tgz; do
        step npm publish --access public "$package"
    done
    step scripts/package.sh --publish
    local maturin=maturin
    if [[ -n ${PUBLISH:-} ]]; then maturin=$(scripts/release/zigbuild.sh)/bin/maturin; fi
    step "$maturin" upload "$folder"/python/*
    local layout=$folder/.unpacked/image crane
    step mkdir -p "$layout"
    step tar --extract --directory "$layout" --file "$folder/groupwire-$version-image.tar"
    crane=crane
    if [[ -n ${PUBLISH:-} ]]; then crane=$(scripts/release/go-tool.sh crane); fi
    # Without --index: the layout names one index, which is pushed itself. With it, crane would push an index of that index.
    step "$crane" push "$layout" "$image:$version"
    step "$crane" tag "$image:$version" latest
    step rm -rf "$folder/.unpacked"
    local files=()
    mapfile -t files < <(find "$folder" -type f -not -path '*/.unpacked/*' | sort)
    step gh release create "v$version" --repo "${repository#https://github.com/}" --draft --verify-tag --title "v$version" \
        --notes "What is new: $repository/blob/main/CHANGELOG.md" "${files[@]}"
    if [[ -z ${PUBLISH:-} ]]; then echo "publish: nothing was published. PUBLISH=1 make publish runs these commands"; fi
}

# step COMMAND...: prints a command, and runs it if it was asked for.
step() {
    printf '+'
    printf ' %q' "$@"
    echo
    if [[ -n ${PUBLISH:-} ]]; then "$@"; fi
}

main

#!/usr/bin/env bash
# Packs the programs that programs.sh has built as .deb and .rpm: packages.sh FOLDER [ARCHITECTURE...] (x86_64, aarch64).
set -euo pipefail
# shellcheck source=scripts/release/common.sh
. "$(dirname "$0")/common.sh"

folder=$(realpath -m "$1")
architectures=("${@:2}")
if ((${#architectures[@]} == 0)); then architectures=(x86_64 aarch64); fi

main() {
    nfpm=$(scripts/release/go-tool.sh nfpm)
    for architecture in "${architectures[@]}"; do
        for format in deb rpm; do
            pack "$architecture" "$format"
        done
    done
}

pack() {
    local root=$folder/.unpacked/$1-$2
    rm -rf "$root"
    common_files "$root" "$1"
    "files_of_$2" "$root"
    find "$root" -exec touch --no-dereference --date "@$SOURCE_DATE_EPOCH" {} +
    local name=groupwire-$version-$1-linux.$2
    PACKAGE_ROOT=$root PACKAGE_VERSION=$version PACKAGE_HOMEPAGE=$repository PACKAGE_ARCH=$(go_name "$1") \
        "$nfpm" package --config packaging/packages/nfpm.yaml --packager "$2" --target "$folder/$name" >&2
    echo "packages: wrote $name, $(stat --format %s "$folder/$name") bytes"
}

# nfpm translates Go's names of architectures into those of each kind of package.
go_name() {
    case $1 in
        x86_64) echo amd64 ;;
        aarch64) echo arm64 ;;
    esac
}

# common_files ROOT ARCHITECTURE: what both kinds have at the same place.
common_files() {
    local share=$1/usr/share
    install -D -m 0755 "$folder/.unpacked/$2/groupwire" "$1/usr/bin/groupwire"
    install -D -m 0644 packaging/systemd/groupwire.sysusers "$1/usr/lib/sysusers.d/groupwire.conf"
    install -d "$1/usr/lib/systemd/system"
    sed 's|/usr/local/bin/|/usr/bin/|' packaging/systemd/groupwire.service > "$1/usr/lib/systemd/system/groupwire.service"
    for page in "$folder"/.unpacked/man/*.1; do
        install -d "$share/man/man1"
        gzip -9 --no-name < "$page" > "$share/man/man1/$(basename "$page").gz"
    done
    install -D -m 0644 "$folder/.unpacked/completions/groupwire.bash" "$share/bash-completion/completions/groupwire"
    install -D -m 0644 "$folder/.unpacked/completions/groupwire.fish" "$share/fish/vendor_completions.d/groupwire.fish"
}

files_of_deb() {
    local share=$1/usr/share
    install -D -m 0644 "$folder/.unpacked/completions/groupwire.zsh" "$share/zsh/vendor-completions/_groupwire"
    install -D -m 0644 packaging/packages/lintian-overrides "$share/lintian/overrides/groupwire"
    install -d "$share/doc/groupwire"
    copyright > "$share/doc/groupwire/copyright"
    changelog | gzip -9 --no-name > "$share/doc/groupwire/changelog.gz"
}

files_of_rpm() {
    local share=$1/usr/share
    install -D -m 0644 "$folder/.unpacked/completions/groupwire.zsh" "$share/zsh/site-functions/_groupwire"
    install -D -m 0644 --target-directory "$share/licenses/groupwire" LICENSE-APACHE LICENSE-MIT
    install -D -m 0644 --target-directory "$share/doc/groupwire" CHANGELOG.md
}

# In Debian's format, in which an empty line is a dot.
copyright() {
    local holder
    holder=$(sed -n 's/^Copyright (c) //p' LICENSE-MIT)
    sed -e "s|@REPOSITORY@|$repository|" -e "s|@HOLDER@|$holder|" packaging/packages/copyright
    echo "License: Expat"
    sed -e '1,/^Copyright/d' LICENSE-MIT | sed -e '1{/^$/d}' -e 's/^$/./' -e 's/^/ /'
    echo
    echo "License: Apache-2.0"
    echo " The whole text is in /usr/share/common-licenses/Apache-2.0."
}

changelog() {
    local maintainer
    maintainer=$(sed -n 's/^maintainer: //p' packaging/packages/nfpm.yaml)
    printf 'groupwire (%s) stable; urgency=medium\n\n  * What is new: %s\n\n -- %s  %s\n' "$version" \
        "$repository/blob/main/CHANGELOG.md" "$maintainer" "$(date --utc --date "@$SOURCE_DATE_EPOCH" -R)"
}

main

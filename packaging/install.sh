#!/bin/sh
# Installs the groupwire program of version @VERSION@:
#
#   curl -fsSL @REPOSITORY@/releases/download/v@VERSION@/install.sh | sh
#
# Variables:
#   GROUPWIRE_INSTALL_DIR  the folder of the program. Default: /usr/local/bin for root, otherwise ~/.local/bin
#   GROUPWIRE_BASE_URL     where the files of the release are. Default: the release at the address above
set -eu

version=@VERSION@
base=${GROUPWIRE_BASE_URL:-@REPOSITORY@/releases/download/v$version}

main() {
    name=groupwire-$version-$(platform)
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    download "$name.tar.gz"
    download SHA256SUMS
    check "$name.tar.gz"
    tar -xzf "$work/$name.tar.gz" -C "$work"
    install_program "$work/$name/groupwire"
}

# Prints the part of the file's name that says for which machines it is.
platform() {
    system=$(uname -s)
    machine=$(uname -m)
    case $system-$machine in
        Linux-x86_64 | Linux-amd64) echo x86_64-linux ;;
        Linux-aarch64 | Linux-arm64) echo aarch64-linux ;;
        *) fail "there is no program for $system on $machine. Build it from its sources: @REPOSITORY@#start-in-one-of-three-ways" ;;
    esac
}

# download FILE: fetches a file of the release.
download() {
    if command -v curl >/dev/null; then
        curl --fail --silent --show-error --location --output "$work/$1" "$base/$1" || cannot_download "$1"
    elif command -v wget >/dev/null; then
        wget -q -O "$work/$1" "$base/$1" || cannot_download "$1"
    else
        fail "neither curl nor wget is installed. Install one of them, and run this again"
    fi
}

cannot_download() {
    fail "$base/$1 cannot be downloaded. Check the connection, and that this version exists"
}

# check FILE: compares the SHA-256 of a file with the one in SHA256SUMS.
check() {
    expected=$(awk -v name="$1" '$2 == name { print $1 }' "$work/SHA256SUMS")
    if [ -z "$expected" ]; then fail "SHA256SUMS at $base does not name $1, so nothing was installed"; fi
    found=$(sha256 "$work/$1")
    if [ "$found" != "$expected" ]; then
        fail "the SHA-256 of $1 is $found, but SHA256SUMS says $expected: the file is damaged or not ours. Nothing was installed"
    fi
}

sha256() {
    if command -v sha256sum >/dev/null; then
        sha256sum "$1" | cut -d ' ' -f 1
    elif command -v shasum >/dev/null; then
        shasum -a 256 "$1" | cut -d ' ' -f 1
    else
        fail "neither sha256sum nor shasum is installed, so the download cannot be checked"
    fi
}

install_program() {
    if [ -n "${GROUPWIRE_INSTALL_DIR:-}" ]; then
        folder=$GROUPWIRE_INSTALL_DIR
    elif [ "$(id -u)" = 0 ]; then
        folder=/usr/local/bin
    else
        folder=$HOME/.local/bin
    fi
    mkdir -p "$folder" || fail "$folder cannot be created. Name another folder in GROUPWIRE_INSTALL_DIR"
    # A running program cannot be overwritten, but its name can be given to another file.
    { cp "$1" "$folder/.groupwire.new" && chmod 755 "$folder/.groupwire.new" && mv -f "$folder/.groupwire.new" "$folder/groupwire"; } ||
        fail "$folder cannot be written. Run this as root, or name another folder in GROUPWIRE_INSTALL_DIR"
    "$folder/groupwire" --version >/dev/null || fail "$folder/groupwire is installed, but does not run on this machine"
    echo "groupwire $version is installed: $folder/groupwire"
    case :$PATH: in
        *:$folder:*) ;;
        *) echo "$folder is not in PATH. Add it: export PATH=\"$folder:\$PATH\"" ;;
    esac
}

# fail MESSAGE: ends the script, also out of a subshell, because of set -e.
fail() {
    echo "install.sh: $1" >&2
    exit 1
}

main

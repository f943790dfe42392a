#!/usr/bin/env bash
# Installs Debian packages, as root or through sudo. Fails, with a message, where neither is possible.
set -euo pipefail

as_root=()
if [[ $(id -u) != 0 ]]; then as_root=(sudo); fi
for tool in apt-get "${as_root[@]}"; do
    if ! command -v "$tool" >/dev/null; then
        echo "cannot install $*: this machine has no $tool" >&2
        exit 1
    fi
done

install() {
    # All output goes to standard error, because callers print results on standard output.
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends "$@" </dev/null >&2 9>&-
}

# Several steps of `make test` may install at the same time, and apt-get fails while another one runs.
exec 9>"${TMPDIR:-/tmp}/groupwire-apt-install.lock"
flock 9

# A fresh machine's package list is often empty or old: fetch it only when it is needed.
install "$@" || { "${as_root[@]}" apt-get update >&2 9>&- && install "$@"; }

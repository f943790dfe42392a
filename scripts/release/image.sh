#!/usr/bin/env bash
# Makes the container image of the programs that programs.sh has built, without a daemon: image.sh FOLDER [ARCHITECTURE...]. It writes
# groupwire-VERSION-image.tar, an OCI layout of an index of both architectures, and for each architecture an archive for `docker load`.
set -euo pipefail
# shellcheck source=scripts/release/common.sh
. "$(dirname "$0")/common.sh"

folder=$(realpath -m "$1")
architectures=("${@:2}")
if ((${#architectures[@]} == 0)); then architectures=(x86_64 aarch64); fi

# The authorities that programs trust, for addresses that the server asks itself: ACME, keys of tokens, webhooks.
certificates=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}
if [[ ! -f $certificates ]]; then fail "the file with trusted certificates is missing: install ca-certificates, or name it in SSL_CERT_FILE"; fi

for architecture in "${architectures[@]}"; do
    root=$folder/.unpacked/$architecture-image
    rm -rf "$root"
    install -D -m 0755 "$folder/.unpacked/$architecture/groupwire" "$root/usr/local/bin/groupwire"
    install -D -m 0644 "$certificates" "$root/etc/ssl/certs/ca-certificates.crt"
    echo "groupwire:x:10001:10001::/var/lib/groupwire:/nonexistent" > "$root/etc/passwd"
    echo "groupwire:x:10001:" > "$root/etc/group"
    install -d -m 1777 "$root/tmp"
    install -d -m 0700 "$root/var/lib/groupwire" "$root/run/groupwire"
done
node scripts/release/image.mjs "$folder" "$version" "$repository" "${architectures[@]}"

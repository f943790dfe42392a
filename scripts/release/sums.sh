#!/usr/bin/env bash
# Writes SHA256SUMS of all files of a release, and signs it if GROUPWIRE_SIGNING_KEY names a private key of OpenSSH: sums.sh FOLDER.
# OpenSSH is on nearly every machine, so nobody has to install a program to check the signature: docs/releasing.md says how.
set -euo pipefail
# shellcheck source=scripts/release/common.sh
. "$(dirname "$0")/common.sh"

folder=$(realpath -m "$1")
cd "$folder"
rm -f SHA256SUMS SHA256SUMS.sig allowed_signers
# The file itself is there before its first line is.
find . -type f -not -path './.unpacked/*' -not -name SHA256SUMS -printf '%P\n' | sort | xargs -d '\n' sha256sum > SHA256SUMS
echo "sums: SHA256SUMS names $(wc -l < SHA256SUMS) files"

if [[ -z ${GROUPWIRE_SIGNING_KEY:-} ]]; then
    echo "sums: this release is NOT SIGNED, because GROUPWIRE_SIGNING_KEY names no key (docs/releasing.md)"
    exit
fi
ssh-keygen -q -Y sign -f "$GROUPWIRE_SIGNING_KEY" -n groupwire-release SHA256SUMS
# What a checker needs, from the public half of the key.
printf 'groupwire namespaces="groupwire-release" %s\n' "$(ssh-keygen -y -f "$GROUPWIRE_SIGNING_KEY" | cut -d ' ' -f 1,2)" > allowed_signers
ssh-keygen -q -Y verify -f allowed_signers -I groupwire -n groupwire-release -s SHA256SUMS.sig < SHA256SUMS

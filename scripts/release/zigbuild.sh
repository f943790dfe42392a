#!/usr/bin/env bash
# Prints the folder of cargo-zigbuild, of maturin, which makes wheels, and of zig, with which both compile and link for other systems. All
# come from wheels of PyPI, whose SHA-256 pip compares.
set -euo pipefail
cd "$(dirname "$0")/../.."

zig=0.17.1
zigbuild=0.24.1
maturin=1.16.0
folder=$PWD/.cache/tools/zigbuild/$zigbuild-$zig-$maturin
# Each on x86-64 and ARM64 Linux.
zig_hashes=(ea6cc5d87b033cf0aedfbc8f9549a908cae6c50ac31f1698188fa48a74524b54
    b7c5f02fccd40f89b999ee16a1f5ddced56e6182370f8affe494bcf8a28cf07e)
zigbuild_hashes=(238a1ab54a95053a4eadc34775c81f795a8ad75f80bfed63f3f445f518102375
    07c5e3dcddf208500462ec927c556bb306cca2b533b0abe29446bffb63767b85)
maturin_hashes=(837db2f4d93d4899c3ac393fb3cc9eebf35b6002336e5d574f4a4fb6c49fe283
    e285ec9eb10243d45d10417178cb2eb76e0cbb184d0aa4378b503489fa12ee78)

if [[ ! -x $folder/bin/cargo-zigbuild ]]; then
    echo "zigbuild: fetching zig $zig, cargo-zigbuild $zigbuild and maturin $maturin (once, 110 MB)" >&2
    rm -rf "$folder.new"
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --only-binary :all: \
        --require-hashes --target "$folder.new" --requirement <(
        echo "ziglang==$zig" "${zig_hashes[@]/#/--hash=sha256:}"
        echo "cargo-zigbuild==$zigbuild" "${zigbuild_hashes[@]/#/--hash=sha256:}"
        echo "maturin==$maturin" "${maturin_hashes[@]/#/--hash=sha256:}"
    ) >&2
    mv "$folder.new" "$folder"
fi
echo "$folder"

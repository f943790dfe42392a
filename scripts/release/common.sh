# What the scripts of a release share. They source this file, which goes to the folder of the repository.
# shellcheck shell=bash disable=SC2034

cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit

version=$(node scripts/release/versions.mjs --print version)
repository=$(node scripts/release/versions.mjs --print repository)
target_dir=$(realpath -m "${CARGO_TARGET_DIR:-target}")
# All times in what is released are that of the commit, so that two builds of one commit are equal.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022

# archive FILE FOLDER NAME: packs NAME, which is in FOLDER, always into the same bytes.
archive() {
    tar --create --sort=name --format=ustar --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
        --mode=u=rwX,go=rX --directory "$2" "$3" | gzip -9 --no-name > "$1"
}

# fail MESSAGE: ends the script.
fail() {
    echo "$(basename "$0"): $1" >&2
    exit 1
}

# add_target TARGET: installs the standard library of Rust for it.
add_target() {
    if [[ ! -d $(rustc --print target-libdir --target "$1") ]]; then rustup target add "$1"; fi
}

# Prints flags of rustc. Paths of this machine would otherwise be in messages of panics. Those of the standard library have no path,
# unless its sources are installed.
remapped() {
    local commit sources
    commit=$(rustc -vV | sed -n 's/^commit-hash: //p')
    sources=$(rustc --print sysroot)/lib/rustlib/src/rust
    printf '%s ' --remap-path-prefix={"$PWD=/groupwire","${CARGO_HOME:-$HOME/.cargo}=/cargo","$sources=/rustc/$commit"}
}

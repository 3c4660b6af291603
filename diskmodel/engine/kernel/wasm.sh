#!/usr/bin/env bash
# Compiles the kernel to WebAssembly: wasm.sh OUTPUT. Needs the target's standard library, from the first of:
#   1. the Rust toolchain in use, where it has the target already;
#   2. rustup, where it reaches its server;
#   3. Debian's packages rustc-web, cargo-web, rust-web-src and lld, where they are installed: the standard library is then
#      compiled, too (some three minutes).
# Binaryen's wasm-opt would save 9 % of the size and 1 % of the compressed size, for half a minute: it is not used.
set -euo pipefail
output="$1"
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
target=wasm32-unknown-unknown
# a folder of its own: cargo would wait until nothing else is compiled in the usual one
folder=target/wasm
options=(--locked --quiet --release --target "$target" --target-dir "$folder" --package diskmodel-web)
# readers download it: without line numbers and names
export CARGO_PROFILE_RELEASE_DEBUG=false CARGO_PROFILE_RELEASE_STRIP=true

has_target() { [ -n "$(find "$(rustc --print sysroot)/lib/rustlib/$target/lib" -name 'libstd-*' -print -quit 2>/dev/null)" ]; }
has_debian() { [ -x /usr/bin/rustc ] && [ -x /usr/bin/cargo ] && [ -d "$(/usr/bin/rustc --print sysroot)/lib/rustlib/src" ] && command -v wasm-ld >/dev/null; }

if ! has_target && command -v rustup >/dev/null; then
    timeout 60 rustup target add "$target" >/dev/null 2>&1 || true
fi
if has_target; then
    cargo build "${options[@]}"
elif has_debian; then
    # RUSTC_BOOTSTRAP=1 lets a stable compiler build its own standard library
    RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld \
        /usr/bin/cargo build "${options[@]}" -Zbuild-std=std,panic_abort
else
    echo "The kernel cannot be compiled to WebAssembly here: there is no standard library for $target." >&2
    echo "Install it: rustup target add $target; or on Debian: apt-get install rustc-web cargo-web rust-web-src lld" >&2
    exit 1
fi
mkdir -p "$(dirname "$output")"
cp "$folder/$target/release/diskmodel_web.wasm" "$output.new"
mv "$output.new" "$output"

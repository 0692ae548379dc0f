#!/bin/sh
# Makes the Python environment .venv from the lock files, and installs this project into it.
#
#   envs/setup.sh [--quiet] run|test     PYTHON=/path/to/python3 chooses the Python
#
# run: what a campaign needs; test: also the developers' tools. Current parts are kept: a call with nothing
# to do ends at once. After an interruption the next call starts again.
# Exit status: 0 .venv is ready; 1 it is not; 64 wrong use.
set -eu
cd "$(dirname "$0")/.."

quiet=
[ "${1-}" = --quiet ] && quiet=1 && shift
purpose=${1-}
case $purpose in
    run | test) ;;
    *) echo "usage: $0 [--quiet] run|test" >&2 && exit 64 ;;
esac

venv=.venv
installed=$venv/installed # a line for each installed part; written after success only
folder=$(pwd -P)
say() { printf '%s\n' "$*" >&2; }

# An activated .venv is on PATH, but .venv must not be made from its own Python.
leave_environment() {
    outside=
    set -f
    IFS=:
    for entry in $PATH; do
        case $entry in
            "$folder/$venv/bin" | "$PWD/$venv/bin") ;;
            *) outside=${outside:+$outside:}$entry ;;
        esac
    done
    unset IFS
    set +f
    PATH=$outside
}

# A part's line changes with the files that define it, and with the folder: an environment contains
# absolute paths, so that a moved or copied one does not work.
line_of() { # PART FILE...
    part=$1
    shift
    printf '%s %s %s\n' "$part" "$(cat "$@" | sha256sum | cut -c 1-64)" "$folder"
}
is_installed() { grep -qxF -e "$1" "$installed" 2>/dev/null; }
python_is_the_chosen_one() {
    [ -z "${PYTHON-}" ] || is_installed "python $(command -v "$PYTHON")"
}

# pip without PYTHONPATH, which modules of clusters set.
pip_install() {
    PIP_USER=0 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_ROOT_USER_ACTION=ignore \
        "$venv/bin/python" -I -m pip install --quiet --no-build-isolation "$@" </dev/null
}
install_locked() { pip_install --require-hashes --use-pep517 --requirement "$1"; }

make_environment() {
    say "Making the Python environment $venv from its lock file (about a minute)"
    "$python" -I -m venv --clear "$venv"
    install_locked envs/requirements-build.txt # first: pip and setuptools install the others
    install_locked envs/requirements.txt
}

leave_environment
run_line=$(line_of run envs/requirements-build.txt envs/requirements.txt)
test_line=$(line_of test envs/requirements-build.txt envs/requirements-dev.txt)
project_line=$(line_of project pyproject.toml)

has_run=
if is_installed "$run_line" && python_is_the_chosen_one && "$venv/bin/python" -I -c '' 2>/dev/null; then
    has_run=1
fi
if [ -n "$has_run" ] && is_installed "$project_line" && { [ "$purpose" = run ] || is_installed "$test_line"; }; then
    # The environment's own Python will do: the one it was made from need not be on PATH.
    PYTHON=$venv/bin/python envs/check_system.sh "$purpose"
    [ -n "$quiet" ] || echo "The environment is ready: nothing to do."
    exit 0
fi

# If it is a link, a new set-up would empty another clone's environment.
if [ -L "$venv" ] && [ -s "$installed" ] && ! grep -qF -e " $folder" "$installed"; then
    say "$folder/$venv links to the environment of another folder: remove the link, and call this again"
    exit 1
fi
envs/check_system.sh "$purpose"
mkdir -p build
exec 9>>build/setup.lock
if ! flock -n 9; then
    say "Another set-up is under way: waiting for it"
    flock 9
    exec 9>&- "$0" ${quiet:+--quiet} "$purpose"
fi

if [ -n "$has_run" ]; then
    parts=$(grep -v '^project ' "$installed")
    is_installed "$test_line" || parts=$(printf '%s\n' "$parts" | grep -v '^test ')
    rm -f "$installed" # from here on the environment is in no known state
else
    python=$(envs/find_python.sh)
    rm -f "$installed"
    make_environment
    parts="$run_line
python $python"
fi
case $purpose:$parts in
    run:* | *"$test_line"*) ;;
    *)
        say "Adding the tools for tests"
        install_locked envs/requirements-dev.txt
        parts="$parts
$test_line"
        ;;
esac
pip_install --no-deps --editable .
printf '%s\n' "$parts" "$project_line" >"$installed.part"
mv "$installed.part" "$installed"
[ -n "$quiet" ] || echo "The environment is ready."

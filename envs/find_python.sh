#!/bin/sh
# Prints the path of the first Python 3.11 or newer that can make the environment.
#
#   envs/find_python.sh          PYTHON=/path/to/python3 chooses one
#
# Exit status: 0 found; 1 found, but parts are missing (it prints the path, and the parts on stderr: venv,
# headers); 2 no Python is new enough (it prints nothing).
set -u

candidates=${PYTHON:-python3 python3.13 python3.12 python3.11}

new_enough() { "$1" -I -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

# From 3.14 on the package immutables has no wheel, and its build needs Python's headers.
missing_parts() {
    "$1" -I -c '
import importlib.util, pathlib, sys, sysconfig
if not all(map(importlib.util.find_spec, ("ensurepip", "venv"))):
    print("venv")
if sys.version_info >= (3, 14) and not pathlib.Path(sysconfig.get_path("include"), "Python.h").exists():
    print("headers")
'
}

incomplete=
for candidate in $candidates; do
    path=$(command -v "$candidate")
    new_enough "$path" || continue
    parts=$(missing_parts "$path")
    if [ -z "$parts" ]; then
        printf '%s\n' "$path"
        exit 0
    elif [ -z "$incomplete" ]; then
        incomplete=$path
        missing=$parts
    fi
done
[ -n "$incomplete" ] || exit 2
printf '%s\n' "$incomplete"
printf '%s\n' "$missing" >&2
exit 1

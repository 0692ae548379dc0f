#!/bin/bash
# The C compiler of the tests, under the names cc and gcc. What it makes of the bundled kernels is kept in
# build/compiled: each test has its own copy of the project, which would compile the same files again.
# Another compiler, other arguments, or another content of any file of the kernels: it compiles.
set -eu
own=${0%/*} name=${0##*/}
PATH=${PATH//"$own:"/}
case $PWD:$* in
    *:*fsanitize*) exec "$name" "$@" ;; # what it makes names the folder
    */kernels:* | */building-*/source:*) ;;
    *) exec "$name" "$@" ;;
esac
target='' before='' inputs=() options=()
for argument in "$@"; do
    case $before:$argument in
        -o:*) target=$argument ;;
        *.o) inputs+=("$argument") ;;
        *:-I*) options+=("$argument") && [ ! -f "${argument#-I}/mpi.h" ] || inputs+=("${argument#-I}/mpi.h") ;;
        *) options+=("$argument") ;;
    esac
    before=$argument
done
[ -n "$target" ] || exec "$name" "$@"

key() {
    command -v "$name"
    "$name" --version
    printf '%s\n' "${options[@]}"
    find . -type f | LC_ALL=C sort | xargs cat -- "${inputs[@]}"
}
kept=$own/../../build/compiled/$(key | sha256sum | cut -c 1-32)
if [ ! -e "$kept" ]; then
    "$name" "$@"
    part=$kept-$$-$HOSTNAME # the nodes of the test cluster see the folder, but cannot write it
    { mkdir -p "${kept%/*}" && cp "$target" "$part" && mv "$part" "$kept"; } 2>/dev/null || true
else
    cp "$kept" "$target"
fi

#!/bin/bash
# The C compiler of the tests, under the names cc and gcc. What a campaign's build makes of the bundled kernels is kept
# in build/compiled: each test has its own copy of the project, which would compile the same files again.
# Other arguments, another content of any file of the kernels, or another place: the compiler itself.
set -eu
own=${0%/*} name=${0##*/}
PATH=${PATH//"$own:"/}
target='' before='' objects=()
for argument in "$@"; do
    [ "$before" != -o ] || target=$argument
    case $argument in *.o) objects+=("$argument") ;; esac
    before=$argument
done
case $target:$PWD in ?*:*/building-*/source) ;; *) exec "$name" "$@" ;; esac

key() {
    command -v "$name"
    printf '%s\n' "$@"
    find . -type f | LC_ALL=C sort | xargs cat -- "${objects[@]}"
}
kept=$own/../../build/compiled/$(key "$@" | sha256sum | cut -c 1-32)
if [ ! -e "$kept" ]; then
    "$name" "$@"
    part=$kept-$$-$HOSTNAME # the nodes of the test cluster see the folder, but cannot write it
    { mkdir -p "${kept%/*}" && cp "$target" "$part" && mv "$part" "$kept"; } 2>/dev/null || true
else
    cp "$kept" "$target"
fi

# shellcheck shell=bash

# A command that sets up software, such as `module load`, in a job or before a build; `fail` STATUS REASON ends either.
need() { # COMMAND...
    local said
    [ "$1" != module ] || command -v module >/dev/null || find_module
    command -v "$1" >/dev/null ||
        fail 69 "not run: $* failed on $HOSTNAME: there is no $1 command; name the file that defines it as source: of the system"
    "$@" && return
    said=$("$@" 2>&1 >/dev/null | tr -s '[:cntrl:][:space:]' ' ') # in a subshell, which changes nothing here
    case $said in
        *"Unable to locate a modulefile"* | *"are unknown"*) said="unknown module; 'module avail' on that host names those that are there" ;;
    esac
    said=${said#Lmod has detected the following error: } said=${said% }
    said=${said:0:300}
    fail 69 "not run: $* failed on $HOSTNAME: ${said:-it does not say why}"
}
# Without the login environment, `module` must be initialised first.
find_module() {
    local file
    for file in /etc/profile.d/{modules,lmod,z00_lmod}.sh /usr/share/{lmod/lmod,modules,Modules}/init/bash; do
        # shellcheck source=/dev/null
        [ -r "$file" ] && . "$file" && command -v module >/dev/null && return
    done
}

#!/bin/sh
# Finds all programs that this machine lacks, and installs them if the user may.
#
#   envs/check_system.sh [run|test]
#
# Recommended, but not required: numactl and HPCC; for tests also shellcheck, a browser and the parts of the
# tests' Slurm cluster.
#
# For root, and users with sudo without a password, it installs the missing packages with the system's
# package manager. For others, and with MPICAMPAIGN_ASSUME_USER=1, it installs nothing: one message
# lists what is missing, with the command that installs it.
# Exit status: 0 nothing required is missing; 1 something is missing; 64 wrong use.
# It requires only sh and coreutils.
set -u
here=$(dirname "$0")
purpose=${1:-run}
case $purpose in
    run | test) ;;
    *) echo "usage: $0 [run|test]" >&2 && exit 64 ;;
esac

newline='
'
have() { command -v "$1" >/dev/null 2>&1; }

find_manager() {
    for manager in apt-get dnf yum zypper pacman; do
        have "$manager" && return
    done
    manager=
}

# package_of WHAT: the package with a program or part; nothing where no package would help.
package_of() {
    case $manager:$1 in
        apt-get:cc) echo gcc libc6-dev ;;
        dnf:cc | yum:cc | zypper:cc) echo gcc glibc-devel ;;
        *:cc) echo gcc ;;
        *:flock) echo util-linux ;;
        *:timeout | *:sha256sum) echo coreutils ;;
        apt-get:python) echo python3 python3-venv ;;
        *:python) [ "$manager" = pacman ] && echo python || echo python3 ;;
        apt-get:newer-python) echo python3.11 python3.11-venv ;;
        dnf:newer-python | yum:newer-python) echo python3.11 ;;
        zypper:newer-python) echo python311 ;;
        pacman:newer-python) echo python ;;
        apt-get:venv) echo "python$python_version-venv" ;;
        apt-get:headers) echo "python$python_version-dev" ;;
        dnf:headers | yum:headers) echo "python$python_version-devel" ;;
        zypper:headers) echo "python3${python_version#3.}-devel" ;;
        pacman:headers) ;;
        *:venv | *:other-python) ;;
        dnf:shellcheck | yum:shellcheck | zypper:shellcheck) echo ShellCheck ;;
        *) echo "$1" ;;
    esac
}

lacks() { # WHAT DESCRIPTION
    missing="$missing
  $2"
    packages="$packages $(package_of "$1")"
}

look_for_python() {
    found=$("$here/find_python.sh" 2>&1) # the path, then a line for each missing part
    case $? in
        0) ;;
        1) lacks_parts_of_python ;;
        *) lacks_python ;;
    esac
}

lacks_parts_of_python() {
    python=${found%%"$newline"*}
    python_version=$("$python" -I -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    for part in ${found#*"$newline"}; do
        case $part in
            venv) lacks venv "the venv module of $python (with ensurepip)" ;;
            headers) lacks headers "the C headers of $python (Python.h)" ;;
        esac
    done
}

lacks_python() {
    if [ -n "${PYTHON-}" ]; then
        lacks other-python "Python 3.11 or newer: PYTHON=$PYTHON is none; choose another"
    elif have python3; then
        lacks newer-python "Python 3.11 or newer (here: $(python3 --version 2>&1))"
    else
        lacks python "Python 3.11 or newer"
    fi
}

# Intel's mpicc calls gcc by that name; a compiler needs the C library's headers.
works_as_compiler() { echo '#include <stdio.h>' | "$1" -x c -fsyntax-only - 2>/dev/null; }

look() {
    missing=
    packages=
    look_for_python
    if ! works_as_compiler cc || ! works_as_compiler gcc; then
        lacks cc "a C compiler with the C library's headers (cc and gcc)"
    fi
    for tool in make bash flock timeout sha256sum; do
        have "$tool" || lacks "$tool" "$tool"
    done
}

# Whether this user may install packages, and by which prefix of the command.
find_permission() {
    may_install=
    prefix='sudo '
    [ "${MPICAMPAIGN_ASSUME_USER-}" = 1 ] && return
    if [ "$(id -u)" -eq 0 ]; then
        may_install=yes
        prefix=
    elif have sudo && sudo -n true 2>/dev/null; then
        may_install=yes
    fi
}

command_for() {
    case $manager in
        apt-get) echo apt-get install -y "$@" ;;
        pacman) echo pacman -S --noconfirm --needed "$@" ;;
        zypper) echo zypper --non-interactive install "$@" ;;
        *) echo "$manager" install -y "$@" ;;
    esac
}

privileged() { ${prefix:+sudo -n} env DEBIAN_FRONTEND=noninteractive "$@" </dev/null; }

# Package lists may be absent (fresh containers) or out of date: if the first try fails, they are refreshed.
install_packages() {
    command=$(command_for "$@")
    # shellcheck disable=SC2086  # split into arguments, here and below
    privileged $command && return
    case $manager in
        apt-get) privileged apt-get update -q ;;
        pacman) privileged pacman -Sy ;;
        *) return 1 ;;
    esac || return
    # shellcheck disable=SC2086
    privileged $command
}

try_to_install() {
    [ -n "$may_install" ] && [ -n "$manager" ] && [ -n "${*}" ] || return 1
    echo "Installing with $manager: $*" >&2
    log=$(install_packages "$@" 2>&1) && return
    printf '%s\n%s could not install all of: %s\n' "$log" "$manager" "$*" >&2
    return 1
}

explain() {
    echo "This machine lacks:$missing"
    # shellcheck disable=SC2086
    set -- $packages
    if [ -z "$manager" ]; then
        echo "Install these with your system's package manager (none that is known here was found), then call make again."
    elif [ $# -gt 0 ]; then
        printf 'Install with:\n  %s%s\nthen call make again.\n' "$prefix" "$(command_for "$@")"
    fi
}

# look_for_tool NAMES CONSEQUENCE: any of these programs will do; the first one names the package.
look_for_tool() {
    for tool in $1; do have "$tool" && return; done
    find_permission
    tool=${1%% *}
    package=$(package_of "$tool")
    try_to_install "$package" && have "$tool" && return
    echo "$tool is not on this machine: $2${manager:+ (install: $prefix$(command_for "$package"))}" >&2
}

# The programs of the test cluster, and their packages; the last ones are further MPI libraries, and a cron daemon
# with a clock of its own.
cluster_programs='slurmctld slurmd srun munged ip tc unshare nsenter setpriv sshd hwloc-info
    mpirun.openmpi mpicc.openmpi mpiexec.hydra mpicc.mpich cron crontab faketime'
cluster_packages='slurmctld slurmd slurm-client munge iproute2 util-linux openssh-server hwloc-nox libpmi2-0 libpmi0
    openmpi-bin libopenmpi-dev mpich libmpich-dev cron faketime'
# Users other than root make the cluster in a user namespace of many users, and have no daemons on PATH.
if [ "$(id -u)" -ne 0 ]; then
    cluster_programs="$cluster_programs newuidmap"
    cluster_packages="$cluster_packages uidmap"
fi
have_for_cluster() { have "$1" || { [ "$(id -u)" -ne 0 ] && [ -x "/usr/sbin/$1" ]; }; }

cluster_is_complete() {
    absent=
    for program in $cluster_programs; do
        have_for_cluster "$program" || absent="$absent $program"
    done
    [ -z "$absent" ]
}

# Debian starts the services of the packages that it installs, unless this file forbids it. A site's own
# file is kept.
service_policy=${MPICAMPAIGN_SERVICE_POLICY:-/usr/sbin/policy-rc.d}
forbid_services() {
    [ -e "$service_policy" ] && return
    trap 'rm -f "$service_policy"' EXIT
    trap 'exit 130' HUP INT TERM
    printf '#!/bin/sh\nexit 101\n' >"$service_policy" && chmod 755 "$service_policy"
}

# Only root can forbid services: for others nothing is installed.
look_for_cluster() {
    cluster_is_complete && return
    find_permission
    if [ "$manager" = apt-get ] && [ -n "$may_install" ] && [ -z "$prefix" ]; then
        forbid_services
        # shellcheck disable=SC2086
        try_to_install --no-install-recommends $cluster_packages && cluster_is_complete && return
    fi
    echo "The Slurm cluster of the tests lacks:$absent; tests that need these will be skipped" >&2
    # shellcheck disable=SC2086
    [ "$manager" != apt-get ] || echo "(install: $prefix$(command_for --no-install-recommends $cluster_packages))" >&2
}

# HPCC with an optimised BLAS, for the default campaign: only from Debian's packages, which belong together.
look_for_hpcc() {
    have hpcc && have mpirun.openmpi && return
    find_permission
    [ "$manager" = apt-get ] && try_to_install --no-install-recommends hpcc openmpi-bin libopenblas0-pthread && return
    echo "hpcc is not on this machine: HPL and the balance of the default campaign will be n/a" >&2
    [ "$manager" != apt-get ] ||
        echo "(install: $prefix$(command_for --no-install-recommends hpcc openmpi-bin libopenblas0-pthread))" >&2
}

# How ranks are bound then: by taskset of util-linux, which has flock, too.
if have taskset; then
    without_numactl="ranks are bound by taskset, with their memory by first touch"
else
    without_numactl="without taskset (util-linux), too, placements that bind ranks will be n/a"
fi

find_manager
# A second round, since the first may install a python3 that is too old.
for round in first second; do
    look
    [ -n "$missing" ] || break
    [ "$round" = first ] && find_permission
    # shellcheck disable=SC2086
    try_to_install $packages || break
done
[ -z "$missing" ] || look
if [ -n "$missing" ]; then
    explain >&2
    exit 1
fi
look_for_tool numactl "$without_numactl"
look_for_hpcc
if [ "$purpose" = test ]; then
    look_for_tool shellcheck "shell scripts will not be checked"
    look_for_tool "chromium chromium-browser google-chrome" "the report will not be tested in a browser"
    look_for_cluster
fi
exit 0

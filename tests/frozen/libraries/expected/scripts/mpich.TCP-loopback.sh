#!/bin/bash
#
# point_to_point as TCP-loopback on local with mpich-ofi (2 ranks on 1 node), repeat 1 of campaign frozen-libraries.
# Run with: bash job.sh. The library has what all runs share (attempt, evidence, exit status).

run=/home/user/mpicampaign/results/frozen-libraries/runs/mpich/TCP-loopback/point_to_point/r01-575dd019ce4f
job=$$ script=$0 lock=/tmp/mpicampaign-measuring shared=''
library=/home/user/mpicampaign/results/frozen-libraries/lib/run-LIBRARY.sh
[ "$(sha256sum <"$library")" = 'LIBRARY  -' ] ||
    { echo "$library is not the library that this script was made with" >&2 && exit 72; }
# shellcheck source=/dev/null
. "$library"

# Software
export PATH=/home/user/mpicampaign/build/mpi/mpich/bin:"$PATH"
export LD_LIBRARY_PATH=/home/user/mpicampaign/build/mpi/mpich/lib"${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export MPIR_CVAR_DEBUG_SUMMARY=1 MPIR_CVAR_CH4_NETMOD=ofi FI_PROVIDER=tcp FI_TCP_IFACE=lo MPIR_CVAR_NOLOCAL=1
program=/home/user/mpicampaign/build/this-machine/BUILD/point_to_point

# Placement: each rank bound to one core by the node's own topology; tcp over lo
ranks_per_node=2 sockets=0 binding=core interface=lo device=''
rank_variable=PMI_RANK local_rank_variable=MPI_LOCALRANKID version_option=--version
evidence_library=/home/user/mpicampaign/build/this-machine/BUILD/evidence.so

# The run: at most 60 s; a complete output has a line for each of these patterns
time_limit=60
whole=('^#@end rows=[1-9][0-9]* status=ok')
measure mpiexec -n 2 -ppn 2 -bind-to none "$rank" "$program" --min-size 8 --max-size 64KiB --budget 1

#!/bin/bash
#
# PingPong as TCP-loopback on local (2 ranks on 1 node), repeat 1 of campaign frozen-default.
# Run with: bash job.sh. The library has what all runs share (attempt, evidence, exit status).

run=/home/user/mpicampaign/results/frozen-default/runs/local/TCP-loopback/PingPong/r01-d6d1ea74d928
job=$$ script=$0 lock=/tmp/mpicampaign-measuring shared=''
library=/home/user/mpicampaign/results/frozen-default/lib/run-LIBRARY.sh
[ "$(sha256sum <"$library")" = 'LIBRARY  -' ] ||
    { echo "$library is not the library that this script was made with" >&2 && exit 72; }
# shellcheck source=/dev/null
. "$library"

# Software
export PATH=/home/user/mpicampaign/env/bin:"$PATH"
export LD_LIBRARY_PATH=/home/user/mpicampaign/env/lib"${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export I_MPI_ROOT=/home/user/mpicampaign/env I_MPI_DEBUG=5 I_MPI_PIN=off I_MPI_FABRICS=ofi FI_PROVIDER=tcp
export FI_TCP_IFACE=lo
program=/home/user/mpicampaign/env/bin/IMB-MPI1

# Placement: each rank bound to one core by the node's own topology; tcp over lo
ranks_per_node=2 sockets=0 binding=core interface=lo device=''
rank_variable=PMI_RANK local_rank_variable=MPI_LOCALRANKID version_option=--version
evidence_library=/home/user/mpicampaign/build/this-machine/BUILD/evidence.so

# The run: at most 60 s; a complete output has a line for each of these patterns
time_limit=60
whole=('^ +[0-9]+ ' '^# All processes entering MPI_Finalize|, MT part')
refused='^Invalid benchmark name'
measure mpirun -n 2 -ppn 2 "$rank" "$program" -iter 5000,250 -time 1 -msglog 8:20 PingPong

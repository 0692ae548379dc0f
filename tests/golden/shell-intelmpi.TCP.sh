#!/bin/bash
#
# PingPong as TCP on shell-intelmpi (2 ranks on 2 nodes), repeat 1 of campaign golden.
# Run with: bash job.sh. The library has what all runs share (attempt, evidence, exit status).

run=/home/user/mpicampaign/results/golden/runs/shell-intelmpi/TCP/PingPong/r01-2d355f2791e5
job=$$ script=$0 lock=/tmp/mpicampaign-measuring shared=yes
library=/home/user/mpicampaign/results/golden/lib/run-0000000000000000.sh
[ "$(sha256sum <"$library")" = '0000000000000000000000000000000000000000000000000000000000000000  -' ] ||
    { echo "$library is not the library that this script was made with" >&2 && exit 72; }
# shellcheck source=/dev/null
. "$library"

# Software
export I_MPI_DEBUG=5 I_MPI_PIN=off I_MPI_FABRICS=ofi FI_PROVIDER=tcp FI_TCP_IFACE=eth0
program=/apps/imb/IMB-MPI1

# Placement: each rank bound to one core by the node's own topology; tcp over eth0
ranks_per_node=1 sockets=0 binding=core interface=eth0 device=''
rank_variable=PMI_RANK local_rank_variable=MPI_LOCALRANKID version_option=--version
evidence_library=/home/user/mpicampaign/build/shell-intelmpi/0123456789ab/evidence.so
hosts=(node1 node2)
exported=(I_MPI_DEBUG I_MPI_PIN I_MPI_FABRICS FI_PROVIDER FI_TCP_IFACE)

# The run: at most 2400 s; a complete output has a line for each of these patterns
time_limit=2400
whole=('^ +[0-9]+ ' '^# All processes entering MPI_Finalize|, MT part')
refused='^Invalid benchmark name'
measure mpirun -n 2 -ppn 1 -hosts node1,node2 "$rank" "$program" -iter 1000 -time 200 -msglog 0:24 -iter_policy off PingPong

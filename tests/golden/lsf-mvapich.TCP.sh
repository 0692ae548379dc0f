#!/bin/bash
#BSUB -J PingPong-eee31cfdcb68-70ce17
#BSUB -x
#BSUB -m haswell
#BSUB -n 2 -R "span[ptile=1]"
#BSUB -W 0:45
#BSUB -o /home/user/mpicampaign/results/golden/logs/PingPong-eee31cfdcb68-70ce17-%J.log
#
# PingPong as TCP on lsf-mvapich (2 ranks on 2 nodes), repeat 1 of campaign golden.
# Submit with: bsub < job.sh. The library has what all runs share (attempt, evidence, exit status).

run=/home/user/mpicampaign/results/golden/runs/lsf-mvapich/TCP/PingPong/r01-eee31cfdcb68
job=${LSB_JOBID:-$$}_${LSB_JOBINDEX:-0} job=${job%_0} script=$run/job.sh lock='' shared=yes
library=/home/user/mpicampaign/results/golden/lib/run-0000000000000000.sh
[ "$(sha256sum <"$library")" = '0000000000000000000000000000000000000000000000000000000000000000  -' ] ||
    { echo "$library is not the library that this script was made with" >&2 && exit 72; }
# shellcheck source=/dev/null
. "$library"

# Software
need module load mvapich2/2.3.7
export MV2_ENABLE_AFFINITY=0 MPICH_NEMESIS_NETMOD=tcp
program=/apps/imb/IMB-MPI1

# Placement: each rank bound to one core by the node's own topology; tcp over eth0
ranks_per_node=1 sockets=0 binding=core interface=eth0 device=''
rank_variable=PMI_RANK local_rank_variable=MPI_LOCALRANKID
evidence_library=/home/user/mpicampaign/build/lsf-mvapich/0123456789ab/evidence.so

# The run: at most 2400 s; a complete output has a line for each of these patterns
time_limit=2400
whole=('^ +[0-9]+ ' '^# All processes entering MPI_Finalize|, MT part')
refused='^Invalid benchmark name'
measure mpiexec -n 2 -ppn 1 -iface eth0 "$rank" "$program" -iter 1000 -time 200 -msglog 0:24 -iter_policy off PingPong

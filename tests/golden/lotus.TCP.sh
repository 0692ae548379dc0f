#!/bin/bash
#BSUB -J PingPong-a92ed6623a8c-70ce17
#BSUB -x
#BSUB -q par-multi
#BSUB -m broadwell256G
#BSUB -n 2 -R "span[ptile=1]"
#BSUB -W 0:45
#BSUB -o /home/user/mpicampaign/results/golden/logs/PingPong-a92ed6623a8c-70ce17-%J.log
#
# PingPong as TCP on broadwell256G (2 ranks on 2 nodes), repeat 1 of campaign golden.
# Submit with: bsub < job.sh. The library has what all runs share (attempt, evidence, exit status).

run=/home/user/mpicampaign/results/golden/runs/broadwell256G/TCP/PingPong/r01-a92ed6623a8c
job=${LSB_JOBID:-$$}_${LSB_JOBINDEX:-0} job=${job%_0} script=$run/job.sh lock='' shared=yes
library=/home/user/mpicampaign/results/golden/lib/run-0000000000000000.sh
[ "$(sha256sum <"$library")" = '0000000000000000000000000000000000000000000000000000000000000000  -' ] ||
    { echo "$library is not the library that this script was made with" >&2 && exit 72; }
# shellcheck source=/dev/null
. "$library"

# Software
# shellcheck source=/dev/null
. /etc/profile.modules
need module load intel/15.1
export LD_LIBRARY_PATH=/apps/intel/lib
program=/apps/imb/IMB-MPI1

# Placement: each rank bound to one core by the node's own topology; tcp over eth0
ranks_per_node=1 sockets=0 binding=core interface=eth0 device=''
rank_variable=MPI_RANKID local_rank_variable=MPI_LOCALRANKID
evidence_library=/home/user/mpicampaign/build/lotus/0123456789ab/evidence.so

# The run: at most 2400 s; a complete output has a line for each of these patterns
time_limit=2400
whole=('^ +[0-9]+ ' '^# All processes entering MPI_Finalize|, MT part')
refused='^Invalid benchmark name'
measure mpirun.lotus -prot -e LD_LIBRARY_PATH=/apps/intel/lib "$rank" "$program" -iter 1000 -time 200 -msglog 0:24 -iter_policy off PingPong

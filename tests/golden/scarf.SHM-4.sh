#!/bin/bash
#BSUB -J PingPong-2fc322519002-70ce17
#BSUB -x
#BSUB -m scarf10
#BSUB -n 4 -R "span[ptile=4]"
#BSUB -W 0:45
#BSUB -o /home/user/mpicampaign/results/golden/logs/PingPong-2fc322519002-70ce17-%J.log
#
# PingPong as SHM-4 on scarf10 (4 ranks on 1 node), repeat 1 of campaign golden.
# Submit with: bsub < job.sh. The library has what all runs share (attempt, evidence, exit status).

run=/home/user/mpicampaign/results/golden/runs/scarf10/SHM-4/PingPong/r01-2fc322519002
job=${LSB_JOBID:-$$} script=$run/job.sh lock=''
library=/home/user/mpicampaign/results/golden/lib/run-0000000000000000.sh
[ "$(sha256sum <"$library")" = '0000000000000000000000000000000000000000000000000000000000000000  -' ] ||
    { echo "$library is not the library that this script was made with" >&2 && exit 72; }
# shellcheck source=/dev/null
. "$library"

# Software
program=/apps/imb/IMB-MPI1

# Placement: the launcher binds the ranks; shm
ranks_per_node=4 sockets=0 binding=library interface='' device=''
rank_variable=MPI_RANKID local_rank_variable=MPI_LOCALRANKID
evidence_library=/home/user/mpicampaign/build/scarf/0123456789ab/evidence.so

# The run: at most 2400 s; a complete output has a line for each of these patterns
time_limit=2400
whole=('^ +[0-9]+ ' '^# All processes entering MPI_Finalize|, MT part')
refused='^Invalid benchmark name'
measure mpirun -lsf -prot -cpu_bind "$rank" "$program" -iter 1000 -time 200 -msglog 0:24 -iter_policy off PingPong

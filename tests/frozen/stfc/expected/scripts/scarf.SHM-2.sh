#!/bin/bash
#BSUB -J PingPong-15afa00e6fa8-FOLDER
#BSUB -x
#BSUB -m scarf10
#BSUB -n 2 -R "span[ptile=2]"
#BSUB -W 0:45
#BSUB -o /home/user/mpicampaign/results/stfc-2017/logs/PingPong-15afa00e6fa8-FOLDER-%J.log
#
# PingPong as SHM-2 on scarf10 (2 ranks on 1 node), repeat 1 of campaign stfc-2017.
# Submit with: bsub < job.sh. The library has what all runs share (attempt, evidence, exit status).

run=/home/user/mpicampaign/results/stfc-2017/runs/scarf10/SHM-2/PingPong/r01-15afa00e6fa8
job=${LSB_JOBID:-$$}_${LSB_JOBINDEX:-0} job=${job%_0} script=$run/job.sh lock='' shared=''
library=/home/user/mpicampaign/results/stfc-2017/lib/run-LIBRARY.sh
[ "$(sha256sum <"$library")" = 'LIBRARY  -' ] ||
    { echo "$library is not the library that this script was made with" >&2 && exit 72; }
# shellcheck source=/dev/null
. "$library"

# Software
program=/home/user/mpicampaign/imb/src/IMB-MPI1

# Placement: the launcher binds the ranks; shm
ranks_per_node=2 sockets=2 binding=library interface='' device=''
rank_variable=MPI_RANKID local_rank_variable=MPI_LOCALRANKID
evidence_library=/home/user/mpicampaign/build/scarf/BUILD/evidence.so

# The run: at most 2400 s; a complete output has a line for each of these patterns
time_limit=2400
whole=('^ +[0-9]+ ' '^# All processes entering MPI_Finalize|, MT part')
refused='^Invalid benchmark name'
measure mpirun -lsf -prot -cpu_bind=MAP_CPU:0,15 "$rank" "$program" -iter 1000 -time 200 -msglog 0:24 -iter_policy off PingPong

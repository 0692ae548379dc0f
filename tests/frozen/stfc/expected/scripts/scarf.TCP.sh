#!/bin/bash
#BSUB -J PingPong-affe148bdd45-FOLDER
#BSUB -x
#BSUB -m scarf10
#BSUB -n 2 -R "span[ptile=1]"
#BSUB -W 0:45
#BSUB -o /home/user/mpicampaign/results/stfc-2017/logs/PingPong-affe148bdd45-FOLDER-%J.log
#
# PingPong as TCP on scarf10 (2 ranks on 2 nodes), repeat 1 of campaign stfc-2017.
# Submit with: bsub < job.sh. The library has what all runs share (attempt, evidence, exit status).

run=/home/user/mpicampaign/results/stfc-2017/runs/scarf10/TCP/PingPong/r01-affe148bdd45
job=${LSB_JOBID:-$$}_${LSB_JOBINDEX:-0} job=${job%_0} script=$run/job.sh lock='' shared=yes
library=/home/user/mpicampaign/results/stfc-2017/lib/run-LIBRARY.sh
[ "$(sha256sum <"$library")" = 'LIBRARY  -' ] ||
    { echo "$library is not the library that this script was made with" >&2 && exit 72; }
# shellcheck source=/dev/null
. "$library"

# Software
program=/home/user/mpicampaign/imb/src/IMB-MPI1

# Placement: the ranks are not bound; tcp
ranks_per_node=1 sockets=0 binding=none interface='' device=''
rank_variable=MPI_RANKID local_rank_variable=MPI_LOCALRANKID
evidence_library=/home/user/mpicampaign/build/scarf/BUILD/evidence.so

# The run: at most 2400 s; a complete output has a line for each of these patterns
time_limit=2400
whole=('^ +[0-9]+ ' '^# All processes entering MPI_Finalize|, MT part')
refused='^Invalid benchmark name'
measure mpirun -lsf -prot -TCP "$rank" "$program" -iter 1000 -time 200 -msglog 0:24 -iter_policy off PingPong

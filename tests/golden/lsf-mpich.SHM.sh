#!/bin/bash
#BSUB -J PingPong-325a7176cf0e-70ce17
#BSUB -x
#BSUB -m haswell
#BSUB -n 2 -R "span[ptile=2]"
#BSUB -W 0:45
#BSUB -o /home/user/mpicampaign/results/golden/logs/PingPong-325a7176cf0e-70ce17-%J.log
#
# PingPong as SHM on lsf-mpich (2 ranks on 1 node), repeat 1 of campaign golden.
# Submit with: bsub < job.sh. The library has what all runs share (attempt, evidence, exit status).

run=/home/user/mpicampaign/results/golden/runs/lsf-mpich/SHM/PingPong/r01-325a7176cf0e
job=${LSB_JOBID:-$$}_${LSB_JOBINDEX:-0} job=${job%_0} script=$run/job.sh lock='' shared=''
library=/home/user/mpicampaign/results/golden/lib/run-0000000000000000.sh
[ "$(sha256sum <"$library")" = '0000000000000000000000000000000000000000000000000000000000000000  -' ] ||
    { echo "$library is not the library that this script was made with" >&2 && exit 72; }
# shellcheck source=/dev/null
. "$library"

# Software
need module load mpich/4.0
export UCX_LOG_LEVEL=info
program=/apps/imb/IMB-MPI1

# Placement: the ranks are not bound; shm
ranks_per_node=2 sockets=0 binding=none interface='' device=''
rank_variable=PMI_RANK local_rank_variable=MPI_LOCALRANKID
evidence_library=''

# The run: at most 2400 s; a complete output has a line for each of these patterns
time_limit=2400
whole=('^ +[0-9]+ ' '^# All processes entering MPI_Finalize|, MT part')
refused='^Invalid benchmark name'
measure mpiexec -n 2 -ppn 2 -bind-to none "$rank" "$program" -iter 1000 -time 200 -msglog 0:24 -iter_policy off PingPong

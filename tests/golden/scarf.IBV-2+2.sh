#!/bin/bash
#BSUB -J HPL-96df84007b74-70ce17
#BSUB -x
#BSUB -m scarf10
#BSUB -n 4 -R "span[ptile=2]"
#BSUB -W 0:45
#BSUB -o /home/user/mpicampaign/results/golden/logs/HPL-96df84007b74-70ce17-%J.log
#
# HPL as IBV-2+2 on scarf10 (4 ranks on 2 nodes), repeat 1 of campaign golden.
# Submit with: bsub < job.sh. The library has what all runs share (attempt, evidence, exit status).

run=/home/user/mpicampaign/results/golden/runs/scarf10/IBV-2+2/HPL/r01-96df84007b74
job=${LSB_JOBID:-$$}_${LSB_JOBINDEX:-0} job=${job%_0} script=$run/job.sh lock='' shared=yes
library=/home/user/mpicampaign/results/golden/lib/run-0000000000000000.sh
[ "$(sha256sum <"$library")" = '0000000000000000000000000000000000000000000000000000000000000000  -' ] ||
    { echo "$library is not the library that this script was made with" >&2 && exit 72; }
# shellcheck source=/dev/null
. "$library"

# Software
program=/apps/hpl/xhpl

# Input files, in the folder that the program starts in
stage HPL.dat f26eb6616a2b445c3b4a2123623066bbaacc5dd9a03a99089b98ed7d8ef7885b /home/user/mpicampaign/results/golden/lib/inputs/f26eb6616a2b445c-HPL.dat

# Placement: the ranks are not bound; ibv over mlx5_0
ranks_per_node=2 sockets=0 binding=none interface='' device=mlx5_0
rank_variable=MPI_RANKID local_rank_variable=MPI_LOCALRANKID
evidence_library=/home/user/mpicampaign/build/scarf/0123456789ab/evidence.so

# The run: at most 2400 s; a complete output has a line for each of these patterns
time_limit=2400
whole=('^W[RC][RC]?[0-9]' '^End of Tests\.')
refused='^HPL ERROR '
measure mpirun -lsf -prot -IBV "$rank" "$program"

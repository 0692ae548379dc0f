#!/bin/bash
#SBATCH --job-name=PingPong-f1873393452f-70ce17
#SBATCH --nodes=1 --ntasks=2 --ntasks-per-node=2
#SBATCH --partition=compute
#SBATCH --constraint="haswell&ib"
#SBATCH --exclusive
#SBATCH --time=45 --export=NIL
#SBATCH --output=/home/user/mpicampaign/results/golden/logs/%x-%j.log
#
# PingPong as SHM-1 on slurm-intelmpi (2 ranks on 1 node), repeat 1 of campaign golden.
# Submit with: sbatch job.sh. The library has what all runs share (attempt, evidence, exit status).

run=/home/user/mpicampaign/results/golden/runs/slurm-intelmpi/SHM-1/PingPong/r01-f1873393452f
job=${SLURM_ARRAY_JOB_ID:-${SLURM_JOB_ID:-$$}}${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID} script=$0 lock='' shared=''
library=/home/user/mpicampaign/results/golden/lib/run-0000000000000000.sh
[ "$(sha256sum <"$library")" = '0000000000000000000000000000000000000000000000000000000000000000  -' ] ||
    { echo "$library is not the library that this script was made with" >&2 && exit 72; }
# shellcheck source=/dev/null
. "$library"

# Software
need module load intel-mpi/2021
export SLURM_EXPORT_ENV=ALL I_MPI_DEBUG=5 I_MPI_PIN=off I_MPI_FABRICS=shm
program=/apps/imb/IMB-MPI1

# Placement: each rank bound to one core by the node's own topology; shm
ranks_per_node=2 sockets=1 binding=core interface='' device=''
rank_variable=PMI_RANK local_rank_variable=MPI_LOCALRANKID version_option=--version
evidence_library=/home/user/mpicampaign/build/slurm-intelmpi/0123456789ab/evidence.so

# The run: at most 2400 s; a complete output has a line for each of these patterns
time_limit=2400
whole=('^ +[0-9]+ ' '^# All processes entering MPI_Finalize|, MT part')
refused='^Invalid benchmark name'
measure mpirun -n 2 -ppn 2 "$rank" "$program" -iter 1000 -time 200 -msglog 0:24 -iter_policy off PingPong

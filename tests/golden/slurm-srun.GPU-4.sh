#!/bin/bash
#SBATCH --job-name=Allreduce-e97258bcde93-70ce17
#SBATCH --nodes=2 --ntasks=8 --ntasks-per-node=4
#SBATCH --partition=compute
#SBATCH --constraint="haswell&ib"
#SBATCH --hint=nomultithread
#SBATCH --mem=0
#SBATCH --gres=gpu:a100:4
#SBATCH --exclusive
#SBATCH --no-requeue
#SBATCH --time=45 --export=NIL
#SBATCH --output=/home/user/mpicampaign/results/golden/logs/%x-%j.log
#
# Allreduce as GPU-4 on slurm-srun (8 ranks on 2 nodes), repeat 1 of campaign golden.
# Submit with: sbatch job.sh. The library has what all runs share (attempt, evidence, exit status).

run=/home/user/mpicampaign/results/golden/runs/slurm-srun/GPU-4/Allreduce/r01-e97258bcde93
job=${SLURM_ARRAY_JOB_ID:-${SLURM_JOB_ID:-$$}}${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID} script=$0 lock='' shared=yes
library=/home/user/mpicampaign/results/golden/lib/run-0000000000000000.sh
[ "$(sha256sum <"$library")" = '0000000000000000000000000000000000000000000000000000000000000000  -' ] ||
    { echo "$library is not the library that this script was made with" >&2 && exit 72; }
# shellcheck source=/dev/null
. "$library"

# Software
need module load intel-mpi/2021
export SLURM_EXPORT_ENV=ALL I_MPI_DEBUG=5 I_MPI_PIN=off
program=/apps/osu/osu_allreduce

# Placement: each rank bound to one core by the node's own topology; any; 4 GPUs of each node
ranks_per_node=4 sockets=2 binding=core interface='' device='' gpus_per_node=4 gpu_binding=closest
rank_variable=SLURM_PROCID local_rank_variable=SLURM_LOCALID
evidence_library=/home/user/mpicampaign/build/slurm-srun/0123456789ab/evidence.so

# The run: at most 2400 s; a complete output has a line for each of these patterns
time_limit=2400
whole=('^ *[0-9]+[0-9.]*( |$)|^nprocs:|^This is a test with' '^# *OSU')
measure srun --mpi=pmi2 --nodes=2 --ntasks=8 --ntasks-per-node=4 --cpu-bind=none --kill-on-bad-exit=1 "$rank" "$program" -d cuda D D

#!/bin/bash
#SBATCH --job-name=PingPong-328bb4473df2-70ce17
#SBATCH --nodes=2 --ntasks=32 --ntasks-per-node=16
#SBATCH --partition=compute
#SBATCH --constraint="haswell&ib"
#SBATCH --hint=nomultithread
#SBATCH --mem=0
#SBATCH --exclusive
#SBATCH --no-requeue
#SBATCH --time=45 --export=NIL
#SBATCH --output=/home/user/mpicampaign/results/golden/logs/%x-%j.log
#
# PingPong as TCP-full on slurm-srun (32 ranks on 2 nodes), repeat 1 of campaign golden.
# Submit with: sbatch job.sh. The library has what all runs share (attempt, evidence, exit status).

run=/home/user/mpicampaign/results/golden/runs/slurm-srun/TCP-full/PingPong/r01-328bb4473df2
job=${SLURM_ARRAY_JOB_ID:-${SLURM_JOB_ID:-$$}}${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID} script=$0 lock='' shared=yes
library=/home/user/mpicampaign/results/golden/lib/run-0000000000000000.sh
[ "$(sha256sum <"$library")" = '0000000000000000000000000000000000000000000000000000000000000000  -' ] ||
    { echo "$library is not the library that this script was made with" >&2 && exit 72; }
# shellcheck source=/dev/null
. "$library"

# Software
need module load intel-mpi/2021
export SLURM_EXPORT_ENV=ALL I_MPI_DEBUG=5 I_MPI_PIN=off I_MPI_FABRICS=shm:ofi FI_PROVIDER=tcp FI_TCP_IFACE=eth0
program=/apps/imb/IMB-MPI1

# Placement: each rank bound to one core by the node's own topology; shm within a node, tcp over eth0
ranks_per_node=16 sockets=0 binding=core interface=eth0 device=''
rank_variable=SLURM_PROCID local_rank_variable=SLURM_LOCALID
evidence_library=/home/user/mpicampaign/build/slurm-srun/0123456789ab/evidence.so

# The run: at most 2400 s; a complete output has a line for each of these patterns
time_limit=2400
whole=('^ +[0-9]+ ' '^# All processes entering MPI_Finalize|, MT part')
refused='^Invalid benchmark name'
measure srun --mpi=pmi2 --nodes=2 --ntasks=32 --ntasks-per-node=16 --cpu-bind=none --kill-on-bad-exit=1 "$rank" "$program" -iter 1000 -time 200 -msglog 0:24 -iter_policy off PingPong

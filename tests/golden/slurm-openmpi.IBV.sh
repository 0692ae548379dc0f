#!/bin/bash
#SBATCH --job-name=PingPong-6a90e437978c-70ce17
#SBATCH --nodes=2 --ntasks=2 --ntasks-per-node=1
#SBATCH --partition=compute
#SBATCH --constraint="haswell&ib"
#SBATCH --exclusive
#SBATCH --time=45 --export=NIL
#SBATCH --output=/home/user/mpicampaign/results/golden/logs/%x-%j.log
#
# PingPong as IBV on slurm-openmpi (2 ranks on 2 nodes), repeat 1 of campaign golden.
# Submit with: sbatch job.sh. The library has what all runs share (attempt, evidence, exit status).

run=/home/user/mpicampaign/results/golden/runs/slurm-openmpi/IBV/PingPong/r01-6a90e437978c
job=${SLURM_ARRAY_JOB_ID:-${SLURM_JOB_ID:-$$}}${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID} script=$0 lock='' shared=yes
library=/home/user/mpicampaign/results/golden/lib/run-0000000000000000.sh
[ "$(sha256sum <"$library")" = '0000000000000000000000000000000000000000000000000000000000000000  -' ] ||
    { echo "$library is not the library that this script was made with" >&2 && exit 72; }
# shellcheck source=/dev/null
. "$library"

# Software
need module load openmpi/5.0
export SLURM_EXPORT_ENV=ALL OMPI_MCA_ompi_display_comm=mpi_init OMPI_MCA_pml=ucx UCX_TLS=rc,self
export UCX_NET_DEVICES=mlx5_0:1
program=/apps/imb/IMB-MPI1

# Placement: each rank bound to one core by the node's own topology; ibv over mlx5_0
ranks_per_node=1 sockets=0 binding=core interface='' device=mlx5_0
rank_variable=OMPI_COMM_WORLD_RANK local_rank_variable=OMPI_COMM_WORLD_LOCAL_RANK version_option=--version
evidence_library=/home/user/mpicampaign/build/slurm-openmpi/0123456789ab/evidence.so

# The run: at most 2400 s; a complete output has a line for each of these patterns
time_limit=2400
whole=('^ +[0-9]+ ' '^# All processes entering MPI_Finalize|, MT part')
refused='^Invalid benchmark name'
measure mpirun -np 2 --map-by ppr:1:node --bind-to none -x UCX_TLS -x UCX_NET_DEVICES "$rank" "$program" -iter 1000 -time 200 -msglog 0:24 -iter_policy off PingPong

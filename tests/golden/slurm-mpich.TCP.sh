#!/bin/bash
#SBATCH --job-name=PingPong-92691b810e71-70ce17
#SBATCH --nodes=2 --ntasks=2 --ntasks-per-node=1
#SBATCH --partition=compute
#SBATCH --constraint="haswell&ib"
#SBATCH --exclusive
#SBATCH --time=45 --export=NIL
#SBATCH --output=/home/user/mpicampaign/results/golden/logs/%x-%j.log
#
# PingPong as TCP on slurm-mpich (2 ranks on 2 nodes), repeat 1 of campaign golden.
# Submit with: sbatch job.sh. The library has what all runs share (attempt, evidence, exit status).

run=/home/user/mpicampaign/results/golden/runs/slurm-mpich/TCP/PingPong/r01-92691b810e71
job=${SLURM_ARRAY_JOB_ID:-${SLURM_JOB_ID:-$$}}${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID} script=$0 lock='' shared=yes
library=/home/user/mpicampaign/results/golden/lib/run-0000000000000000.sh
[ "$(sha256sum <"$library")" = '0000000000000000000000000000000000000000000000000000000000000000  -' ] ||
    { echo "$library is not the library that this script was made with" >&2 && exit 72; }
# shellcheck source=/dev/null
. "$library"

# Software
need module load mpich/4.2
export SLURM_EXPORT_ENV=ALL MPIR_CVAR_DEBUG_SUMMARY=1 MPIR_CVAR_CH4_NETMOD=ofi FI_PROVIDER=tcp FI_TCP_IFACE=eth0
export MPIR_CVAR_NOLOCAL=1
program=/apps/imb/IMB-MPI1

# Placement: each rank bound to one core by the node's own topology; tcp over eth0
ranks_per_node=1 sockets=0 binding=core interface=eth0 device=''
rank_variable=PMI_RANK local_rank_variable=MPI_LOCALRANKID version_option=--version
evidence_library=/home/user/mpicampaign/build/slurm-mpich/0123456789ab/evidence.so

# The run: at most 2400 s; a complete output has a line for each of these patterns
time_limit=2400
whole=('^ +[0-9]+ ' '^# All processes entering MPI_Finalize|, MT part')
refused='^Invalid benchmark name'
measure mpiexec -n 2 -ppn 1 -bind-to none "$rank" "$program" -iter 1000 -time 200 -msglog 0:24 -iter_policy off PingPong

#!/bin/bash
#SBATCH --job-name=osu_latency-e3e2bf74394a-FOLDER
#SBATCH --nodes=1 --ntasks=2 --ntasks-per-node=2
#SBATCH --nodelist=n1
#SBATCH --exclusive
#SBATCH --time=6 --export=NIL
#SBATCH --output=/home/user/mpicampaign/results/frozen-machine/logs/%x-%j.log
#
# osu_latency as one on blue n1 (2 ranks on 1 node), repeat 1 of campaign frozen-machine.
# Submit with: sbatch job.sh. The library has what all runs share (attempt, evidence, exit status).

run=/home/user/mpicampaign/results/frozen-machine/runs/n1/one/osu_latency/r01-e3e2bf74394a
job=${SLURM_ARRAY_JOB_ID:-${SLURM_JOB_ID:-$$}}${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID} script=$0 lock='' shared=''
library=/home/user/mpicampaign/results/frozen-machine/lib/run-LIBRARY.sh
[ "$(sha256sum <"$library")" = 'LIBRARY  -' ] ||
    { echo "$library is not the library that this script was made with" >&2 && exit 72; }
# shellcheck source=/dev/null
. "$library"

# Software
export SLURM_EXPORT_ENV=ALL
program=/home/user/cluster/osu_latency

# Placement: the ranks are not bound; any
ranks_per_node=2 sockets=0 binding=none interface='' device=''
rank_variable=PMI_RANK local_rank_variable=MPI_LOCALRANKID
evidence_library=/home/user/mpicampaign/build/cluster/BUILD/evidence.so

# The run: at most 60 s; a complete output has a line for each of these patterns
time_limit=60
whole=('^ *[0-9]+[0-9.]*( |$)|^nprocs:|^This is a test with' '^# *OSU')
measure /home/user/cluster/launch -n 2 -ppn 2 "$rank" "$program" -m 8

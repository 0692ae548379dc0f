#!/bin/bash
#SBATCH --job-name=osu_latency-e7162ba10571-FOLDER
#SBATCH --nodes=2 --ntasks=2 --ntasks-per-node=1
#SBATCH --nodelist=n[1-2]
#SBATCH --exclusive
#SBATCH --time=6 --export=NIL
#SBATCH --output=/home/user/mpicampaign/results/frozen-machine/logs/%x-%j.log
#
# osu_latency as two on blue n1+n2 (2 ranks on 2 nodes), repeat 1 of campaign frozen-machine.
# Submit with: sbatch job.sh. The library has what all runs share (attempt, evidence, exit status).

run=/home/user/mpicampaign/results/frozen-machine/runs/n1+n2/two/osu_latency/r01-e7162ba10571
job=${SLURM_ARRAY_JOB_ID:-${SLURM_JOB_ID:-$$}}${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID} script=$0 lock='' shared=yes
library=/home/user/mpicampaign/results/frozen-machine/lib/run-LIBRARY.sh
[ "$(sha256sum <"$library")" = 'LIBRARY  -' ] ||
    { echo "$library is not the library that this script was made with" >&2 && exit 72; }
# shellcheck source=/dev/null
. "$library"

# Software
export SLURM_EXPORT_ENV=ALL
program=/home/user/cluster/osu_latency

# Placement: the ranks are not bound; any
ranks_per_node=1 sockets=0 binding=none interface='' device=''
rank_variable=PMI_RANK local_rank_variable=MPI_LOCALRANKID
evidence_library=/home/user/mpicampaign/build/cluster/BUILD/evidence.so

# The run: at most 60 s; a complete output has a line for each of these patterns
time_limit=60
whole=('^ *[0-9]+[0-9.]*( |$)|^nprocs:|^This is a test with' '^# *OSU')
measure /home/user/cluster/launch -n 2 -ppn 1 "$rank" "$program" -m 8

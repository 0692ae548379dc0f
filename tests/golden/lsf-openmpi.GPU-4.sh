#!/bin/bash
#BSUB -J all_reduce-1893414d6d23-70ce17
#BSUB -x
#BSUB -m haswell
#BSUB -gpu num=4/host:j_exclusive=yes
#BSUB -n 8 -R "span[ptile=4]"
#BSUB -W 0:45
#BSUB -o /home/user/mpicampaign/results/golden/logs/all_reduce-1893414d6d23-70ce17-%J.log
#
# all_reduce as GPU-4 on lsf-openmpi (8 ranks on 2 nodes), repeat 1 of campaign golden.
# Submit with: bsub < job.sh. The library has what all runs share (attempt, evidence, exit status).

run=/home/user/mpicampaign/results/golden/runs/lsf-openmpi/GPU-4/all_reduce/r01-1893414d6d23
job=${LSB_JOBID:-$$}_${LSB_JOBINDEX:-0} job=${job%_0} script=$run/job.sh lock='' shared=yes
library=/home/user/mpicampaign/results/golden/lib/run-0000000000000000.sh
[ "$(sha256sum <"$library")" = '0000000000000000000000000000000000000000000000000000000000000000  -' ] ||
    { echo "$library is not the library that this script was made with" >&2 && exit 72; }
# shellcheck source=/dev/null
. "$library"

# Software
need module load openmpi/4.1
export OMPI_MCA_btl_base_verbose=100 OMPI_MCA_bml_base_verbose=100
program=/apps/nccl-tests/all_reduce_perf

# Placement: each rank bound to one core by the node's own topology; any; 4 GPUs of each node
ranks_per_node=4 sockets=2 binding=core interface='' device='' gpus_per_node=4 gpu_binding=closest
rank_variable=OMPI_COMM_WORLD_RANK local_rank_variable=OMPI_COMM_WORLD_LOCAL_RANK version_option=--version
evidence_library=/home/user/mpicampaign/build/lsf-openmpi/0123456789ab/evidence.so

# The run: at most 2400 s; a complete output has a line for each of these patterns
time_limit=2400
whole=('^# Out of bounds values *: 0 OK' '^# Avg bus bandwidth')
measure mpirun -np 8 --map-by ppr:4:node --bind-to none "$rank" "$program" -b 8 -e 1G -f 2 -c 1

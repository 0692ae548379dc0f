#!/bin/bash
#
# HPCC-1000 as SHM-1 on local-openmpi (2 ranks on 1 node), repeat 1 of campaign frozen-default.
# Run with: bash job.sh. The library has what all runs share (attempt, evidence, exit status).

run=/home/user/mpicampaign/results/frozen-default/runs/local-openmpi/SHM-1/HPCC-1000/r01-fa32cdabc7c9
job=$$ script=$0 lock=/tmp/mpicampaign-measuring shared=''
library=/home/user/mpicampaign/results/frozen-default/lib/run-LIBRARY.sh
[ "$(sha256sum <"$library")" = 'LIBRARY  -' ] ||
    { echo "$library is not the library that this script was made with" >&2 && exit 72; }
# shellcheck source=/dev/null
. "$library"

# Software
export OMPI_MCA_btl_base_verbose=100 OMPI_MCA_bml_base_verbose=100 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
export OPENBLAS_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
program=/home/user/mpicampaign/bin/hpcc

# Input files, in the folder that the program starts in
stage hpccinf.txt 4610a0209f8ebea2841f9eed4ecd0cd46de1f39f921082d2b402b07e62162b20 /home/user/mpicampaign/results/frozen-default/lib/inputs/4610a0209f8ebea2-hpccinf.txt
result_file=hpccoutf.txt

# Placement: each rank bound to one core by the node's own topology; shm
ranks_per_node=2 sockets=1 binding=core interface='' device=''
rank_variable=OMPI_COMM_WORLD_RANK local_rank_variable=OMPI_COMM_WORLD_LOCAL_RANK version_option=--version
evidence_library=/home/user/mpicampaign/build/openmpi/BUILD/evidence.so

# The run: at most 120 s; a complete output has a line for each of these patterns
time_limit=120
whole=('^End of Summary section\.' '^End of HPC Challenge tests\.')
measure mpirun.openmpi -np 2 --map-by ppr:2:node --bind-to none -x OPENBLAS_NUM_THREADS -x OMPI_ALLOW_RUN_AS_ROOT -x OMPI_ALLOW_RUN_AS_ROOT_CONFIRM "$rank" "$program"

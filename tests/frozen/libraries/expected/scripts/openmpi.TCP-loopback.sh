#!/bin/bash
#
# point_to_point as TCP-loopback on local with openmpi5 (2 ranks on 1 node), repeat 1 of campaign frozen-libraries.
# Run with: bash job.sh. The library has what all runs share (attempt, evidence, exit status).

run=/home/user/mpicampaign/results/frozen-libraries/runs/openmpi/TCP-loopback/point_to_point/r01-20bdf61d195f
job=$$ script=$0 lock=/tmp/mpicampaign-measuring shared=''
library=/home/user/mpicampaign/results/frozen-libraries/lib/run-LIBRARY.sh
[ "$(sha256sum <"$library")" = 'LIBRARY  -' ] ||
    { echo "$library is not the library that this script was made with" >&2 && exit 72; }
# shellcheck source=/dev/null
. "$library"

# Software
export PATH=/home/user/mpicampaign/build/mpi/openmpi/bin:"$PATH"
export LD_LIBRARY_PATH=/home/user/mpicampaign/build/mpi/openmpi/lib"${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export OMPI_MCA_ompi_display_comm=mpi_init OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
program=/home/user/mpicampaign/build/this-machine/BUILD/point_to_point

# Placement: each rank bound to one core by the node's own topology; tcp over lo
ranks_per_node=2 sockets=0 binding=core interface=lo device=''
rank_variable=OMPI_COMM_WORLD_RANK local_rank_variable=OMPI_COMM_WORLD_LOCAL_RANK version_option=--version
evidence_library=/home/user/mpicampaign/build/this-machine/BUILD/evidence.so

# The run: at most 60 s; a complete output has a line for each of these patterns
time_limit=60
whole=('^#@end rows=[1-9][0-9]* status=ok')
measure mpirun -np 2 --map-by ppr:2:node --bind-to none -x OMPI_ALLOW_RUN_AS_ROOT -x OMPI_ALLOW_RUN_AS_ROOT_CONFIRM "$rank" "$program" --min-size 8 --max-size 64KiB --budget 1

#!/bin/bash
#
# PingPong as TCP on cloud (2 ranks on 2 nodes), repeat 1 of campaign golden.
# Run with: bash job.sh. The library has what all runs share (attempt, evidence, exit status).

run=/home/user/mpicampaign/results/golden/runs/cloud/TCP/PingPong/r01-44ede162e753
job=$$ script=$0 lock=/tmp/mpicampaign-measuring shared=yes
library=/home/user/mpicampaign/results/golden/lib/run-0000000000000000.sh
[ "$(sha256sum <"$library")" = '0000000000000000000000000000000000000000000000000000000000000000  -' ] ||
    { echo "$library is not the library that this script was made with" >&2 && exit 72; }
# shellcheck source=/dev/null
. "$library"

# Software
export PATH=/usr/lib64/openmpi-1.10/bin:"$PATH"
export LD_LIBRARY_PATH=/usr/lib64/openmpi-1.10/lib"${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export OMPI_MCA_btl_base_verbose=100 OMPI_MCA_bml_base_verbose=100 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp
export OMPI_MCA_btl_tcp_if_include=eth0
program=/apps/imb/IMB-MPI1

# Placement: each rank bound to one core by the node's own topology; tcp over eth0
ranks_per_node=1 sockets=0 binding=core interface=eth0 device=''
rank_variable=OMPI_COMM_WORLD_RANK local_rank_variable=OMPI_COMM_WORLD_LOCAL_RANK version_option=--version
evidence_library=/home/user/mpicampaign/build/cloud/0123456789ab/evidence.so
hosts=(vm275.nubes.stfc.ac.uk vm15.nubes.stfc.ac.uk)
exported=(PATH LD_LIBRARY_PATH OMPI_MCA_btl_base_verbose OMPI_MCA_bml_base_verbose OMPI_MCA_pml OMPI_MCA_btl OMPI_MCA_btl_tcp_if_include)

# The run: at most 2400 s; a complete output has a line for each of these patterns
time_limit=2400
whole=('^ +[0-9]+ ' '^# All processes entering MPI_Finalize|, MT part')
refused='^Invalid benchmark name'
measure mpirun -np 2 --map-by ppr:1:node --prefix /usr/lib64/openmpi-1.10 --host vm275.nubes.stfc.ac.uk:1,vm15.nubes.stfc.ac.uk:1 --bind-to none --rank-by node "$rank" "$program" -iter 1000 -time 200 -msglog 0:24 -iter_policy off PingPong

#!/bin/bash
#
# HPL as TCP-2+2 on cloud-mapped (4 ranks on 2 nodes), repeat 1 of campaign golden.
# Run with: bash job.sh. The library has what all runs share (attempt, evidence, exit status).

run=/home/user/mpicampaign/results/golden/runs/cloud-mapped/TCP-2+2/HPL/r01-688cc143f621
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
program=/apps/hpl/xhpl

# Input files, in the folder that the program starts in
stage HPL.dat f26eb6616a2b445c3b4a2123623066bbaacc5dd9a03a99089b98ed7d8ef7885b /home/user/mpicampaign/results/golden/lib/inputs/f26eb6616a2b445c-HPL.dat

# Placement: the ranks are not bound; tcp over eth0
ranks_per_node=2 sockets=0 binding=none interface=eth0 device=''
rank_variable=OMPI_COMM_WORLD_RANK local_rank_variable=OMPI_COMM_WORLD_LOCAL_RANK version_option=--version
evidence_library=/home/user/mpicampaign/build/cloud-mapped/0123456789ab/evidence.so
hosts=(vm275.nubes.stfc.ac.uk vm15.nubes.stfc.ac.uk)
exported=(PATH LD_LIBRARY_PATH OMPI_MCA_btl_base_verbose OMPI_MCA_bml_base_verbose OMPI_MCA_pml OMPI_MCA_btl OMPI_MCA_btl_tcp_if_include)

# The run: at most 2400 s; a complete output has a line for each of these patterns
time_limit=2400
whole=('^W[RC][RC]?[0-9]' '^End of Tests\.')
refused='^HPL ERROR '
measure mpirun -np 4 --prefix /usr/lib64/openmpi-1.10 --host vm275.nubes.stfc.ac.uk,vm15.nubes.stfc.ac.uk --bind-to none --map-by node --rank-by node "$rank" "$program"

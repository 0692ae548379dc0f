#!/bin/bash
#BSUB -J PingPong-d6dc3af3b88d-70ce17
#BSUB -x
#BSUB -m haswell
#BSUB -n 2 -R "span[ptile=2]"
#BSUB -W 0:45
#BSUB -o /home/user/mpicampaign/results/golden/logs/PingPong-d6dc3af3b88d-70ce17-%J.log
#
# PingPong as SHM-2 on lsf-openmpi (2 ranks on 1 node), repeat 1 of campaign golden.
# Submit with: bsub < job.sh. The library has what all runs share (attempt, evidence, exit status).

run=/home/user/mpicampaign/results/golden/runs/lsf-openmpi/SHM-2/PingPong/r01-d6dc3af3b88d
job=${LSB_JOBID:-$$}_${LSB_JOBINDEX:-0} job=${job%_0} script=$run/job.sh lock='' shared=''
library=/home/user/mpicampaign/results/golden/lib/run-0000000000000000.sh
[ "$(sha256sum <"$library")" = '0000000000000000000000000000000000000000000000000000000000000000  -' ] ||
    { echo "$library is not the library that this script was made with" >&2 && exit 72; }
# shellcheck source=/dev/null
. "$library"

# Software
need module load openmpi/4.1
export OMPI_MCA_btl_base_verbose=100 OMPI_MCA_bml_base_verbose=100 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
program=/apps/imb/IMB-MPI1

# Placement: each rank bound to one core by the node's own topology; shm
ranks_per_node=2 sockets=2 binding=core interface='' device=''
rank_variable=OMPI_COMM_WORLD_RANK local_rank_variable=OMPI_COMM_WORLD_LOCAL_RANK version_option=--version
evidence_library=/home/user/mpicampaign/build/lsf-openmpi/0123456789ab/evidence.so

# The run: at most 2400 s; a complete output has a line for each of these patterns
time_limit=2400
whole=('^ +[0-9]+ ' '^# All processes entering MPI_Finalize|, MT part')
refused='^Invalid benchmark name'
measure mpirun -np 2 --map-by ppr:2:node --bind-to none "$rank" "$program" -iter 1000 -time 200 -msglog 0:24 -iter_policy off PingPong

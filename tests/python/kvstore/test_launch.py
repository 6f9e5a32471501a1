"""tools/launch.py: what processes get, how jobs end, and jobs whose processes exchange messages."""

import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
LAUNCH = [sys.executable, str(ROOT / "tools" / "launch.py")]

pytestmark = pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun here: Open MPI is not installed")


def launch(*args, timeout=100, **env):
    return subprocess.run([*LAUNCH, *args], capture_output=True, text=True, timeout=timeout,
                          env={**os.environ, **env}, cwd=ROOT)


def running(marker):
    """Processes with this text among their arguments."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                if marker in Path(f"/proc/{name}/cmdline").read_text(errors="replace").split("\0"):
                    found.append(int(name))
            except OSError:
                pass
    return found


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.05)


# ---- what the processes get ----

SHOW = ('echo "$DMLC_ROLE:$DMLC_WORKER_ID:$DMLC_SERVER_ID:$DMLC_NUM_WORKER:$DMLC_NUM_SERVER:'
        '$DMLC_PS_VAN_TYPE:$LETTER:$PS_HEARTBEAT_TIMEOUT:$PS_START_TIMEOUT"')


def test_variables_of_roles():
    done = launch("-n", "2", "-s", "1", "--p3", "--env-server", "LETTER:s=t", "--env-worker", "LETTER=w;x",
                  "--heartbeat", "7.5", "--timeout", "20", "sh", "-c", SHOW)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split()) == ["server::0:2:1:p3:s=t:7.5:20", "worker:0::2:1:p3:w;x:7.5:20",
                                           "worker:1::2:1:p3:w;x:7.5:20"]


def test_without_servers_and_options():
    done = launch("-n", "1", "-s", "0", "--", "sh", "-c", SHOW + '; echo "$OMP_NUM_THREADS $DMLC_PS_ROOT_URI"',
                  OMP_NUM_THREADS="5")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["worker:0::1:0::::", "5", "127.0.0.1"]


def test_threads_are_shared_out():
    done = launch("-n", "2", "-s", "0", "sh", "-c", "echo $OMP_NUM_THREADS; taskset -p $$ | sed 's/.*: //'",
                  OMP_NUM_THREADS="")
    assert done.returncode == 0, done.stderr
    own = subprocess.run(["taskset", "-p", str(os.getpid())], capture_output=True, text=True, check=True)
    threads = str(max(1, len(os.sched_getaffinity(0)) // 2))
    assert sorted(done.stdout.split()) == sorted([threads, own.stdout.split()[-1]] * 2)


def test_tagged_output():
    done = launch("-n", "2", "-s", "0", "--tag-output", "echo", "word")
    assert done.returncode == 0, done.stderr
    assert len([line for line in done.stdout.splitlines() if line.endswith(":word") and ",1]" in line or ",0]" in line]) == 2


@pytest.mark.parametrize("args, words", [
    (["-n", "0", "true"], "a number of at least 1"),
    (["-n", "2", "-s", "-1", "true"], "-s"),
    (["-n", "2"], "no command"),
    (["-n", "2", "--launcher", "ssh", "true"], "needs the hosts"),
    (["-n", "2", "--launcher", "local", "-H", "/etc/hostname", "true"], "is for this machine"),
    (["-n", "2", "-H", "/no/such/file", "true"], "no such file"),
    (["-n", "2", "--env-server", "NAME", "true"], "NAME=value"),
    (["-n", "2", "--timeout", "soon", "true"], "seconds"),
    (["-n", "2", "--mpirun", "/no/such/mpirun", "true"], "install Open MPI"),
])
def test_wrong_arguments(args, words):
    done = launch(*args)
    assert done.returncode != 0
    assert words in done.stderr and "Traceback" not in done.stderr


# ---- how jobs end ----

def test_the_first_failure_is_the_status():
    done = launch("-n", "2", "-s", "1", "sh", "-c", 'test "$DMLC_WORKER_ID" = 1 && exit 7; exec sleep 60')
    assert done.returncode == 7
    assert "worker 1 (rank 1, process " in done.stderr
    assert "ended with status 7 before all processes had joined the job" in done.stderr


@pytest.mark.skipif(not shutil.which("ss"), reason="no ss here: iproute2 is not installed")
def test_local_jobs_listen_on_this_machine_alone():
    done = launch("-n", "1", "-s", "0", "sh", "-c", "sleep 0.5; ss -tlnpH | grep mpirun")
    places = [line.split()[3].rsplit(":", 1)[0] for line in done.stdout.splitlines()]
    assert len(places) > 1 and all(place == "127.0.0.1" or place.endswith("%lo") for place in places), done.stdout


def test_a_signal_is_a_failure():
    done = launch("-n", "1", "-s", "1", "sh", "-c", 'test $DMLC_ROLE = server && kill -SEGV $$; exec sleep 60')
    assert done.returncode == 128 + signal.SIGSEGV
    assert "server 0 (rank 1, process " in done.stderr and "SIGSEGV" in done.stderr


def test_a_command_that_is_not_there():
    done = launch("-n", "2", "-s", "0", "/no/such/program")
    assert done.returncode == 127
    assert "/no/such/program: No such file or directory" in done.stderr and "Traceback" not in done.stderr


# Processes that leave children behind, some in a session of their own.
FAMILY = 'sleep "$0" & setsid sleep "$0" & trap "" TERM; echo started; wait; wait; sleep "$0"'


@pytest.mark.parametrize("number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_nothing_is_left_behind(number, status):
    marker = f"1000.{os.getpid()}{number:d}"
    job = subprocess.Popen([*LAUNCH, "-n", "2", "-s", "0", "sh", "-c", FAMILY, marker], cwd=ROOT,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert [job.stdout.readline() for _ in range(2)] == ["started\n"] * 2
        wait_until(lambda: len(running(marker)) >= 6)
        job.send_signal(number)
        assert job.wait(60) == status
        wait_until(lambda: not running(marker))
    finally:
        job.kill()
        job.wait()
        for process in running(marker):
            os.kill(process, signal.SIGKILL)


# ---- several hosts and Slurm, with programs in place of ssh and srun ----

def program(folder, name, text):
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)


SSH = """#!/bin/sh
while :; do case "$1" in -o|-l|-p|-i) shift 2;; -*) shift;; *) break;; esac; done
echo "$1" >> "$(dirname "$0")/hosts_called"
export TMPDIR="$(dirname "$0")/$1"    # two daemons of Open MPI on one machine would make one folder at once
mkdir -p "$TMPDIR"
shift
exec sh -c "$*"
"""

SRUN = """#!/bin/sh
echo "$*" > "$(dirname "$0")/called"
test "$1 $2" = "--mpi=pmix -n" || exit 9
count=$3; shift 4; rank=0
while [ $rank -lt $count ]; do SLURM_PROCID=$rank SLURM_NTASKS=$count "$@" & rank=$((rank + 1)); done
wait
"""


def test_ssh(tmp_path):
    program(tmp_path, "ssh", SSH)
    (tmp_path / "hosts").write_text("node-a\n# a comment\nnode-b slots=1\n")
    done = launch("-n", "2", "-s", "1", "-H", str(tmp_path / "hosts"), "--host-ip", "127.0.0.1", "--env", "COLOUR",
                  "sh", "-c", "echo $DMLC_ROLE $COLOUR", PATH=f"{tmp_path}:{os.environ['PATH']}", COLOUR="blue")
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["server blue", "worker blue", "worker blue"]
    assert sorted(set((tmp_path / "hosts_called").read_text().split())) == ["node-a", "node-b"]


def test_slurm(tmp_path):
    program(tmp_path, "srun", SRUN)
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = launch("-n", "2", "-s", "1", "--launcher", "slurm", "--host-ip", "127.0.0.1", "sh", "-c",
                  "echo $DMLC_ROLE$DMLC_WORKER_ID; test $DMLC_ROLE = worker || { sleep 1; false; }", **env)
    assert sorted(done.stdout.split()) == ["server", "worker0", "worker1"]
    assert done.returncode == 1 and "server 0 (rank 2, " in done.stderr
    # In an allocation, mpirun finds its nodes.
    done = launch("-n", "2", "--launcher", "slurm", "--dry-run", "true", SLURM_JOB_ID="5", **env)
    assert "srun" not in done.stdout and "mpirun -n 4 --enable-recovery" in done.stdout
    done = launch("-n", "2", "--launcher", "slurm", "true", PATH=os.path.dirname(sys.executable))
    assert done.returncode != 0 and "there is no srun" in done.stderr


def test_dry_run(tmp_path):
    hosts = tmp_path / "hosts"
    hosts.write_text("a\nb\n")
    done = launch("-n", "2", "-s", "2", "--p3", "-H", str(hosts), "--sync-dst-dir", "/job", "--mca", "btl", "self,tcp",
                  "--dry-run", "python", "train.py", "--lr", "0.1", DMLC_INTERFACE="eth1", MXNET_ENGINE_TYPE="NaiveEngine")
    line = done.stdout.split()
    assert done.returncode == 0, done.stderr
    assert line[:3] == ["DMLC_NUM_WORKER=2", "DMLC_NUM_SERVER=2", "DMLC_PS_VAN_TYPE=p3"]
    text = " ".join(line)
    for part in ("-n 4 ", "--bind-to none", f"--hostfile {hosts}", "--mca btl_tcp_if_include eth1", "--mca btl self,tcp",
                 "-x DMLC_LAUNCH", "-x MXNET_ENGINE_TYPE"):
        assert part in text
    assert line[-6:] == ["python3", "/job/.mxnet_launch_rank.py", "python", "train.py", "--lr", "0.1"]


# ---- processes that exchange messages (tests/cpp/kvstore/transport_job_test.cc) ----

def job_program():
    library = Path(os.environ.get("MXNET_LIBRARY_PATH") or ROOT / "build" / "release" / "libmxnet.so")
    path = library.parent / "tests" / "transport_job_test"
    if not path.exists():
        pytest.skip(f"{path} is not built")
    return str(path)


def job(test, *options, special=2, **env):
    return launch("-n", "3", "-s", "1", *options, job_program(), f"--gtest_filter=JobRank.{test}",
                  MXNET_TEST_RANK=str(special), **env)


@pytest.mark.parametrize("btl", ["", "self,tcp"])
def test_exchange(btl):
    done = job("Exchanges", *(["--mca", "btl", btl] if btl else []))
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_late_start():
    done = job("OneIsLate")
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_early_end_is_no_loss():
    done = job("OneEndsEarly")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "launch.py" not in done.stderr


def test_forked_processes_stay_out():
    done = job("ForkedProcessesStayOut")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("special, name", [(1, "worker 1 (rank 1"), (3, "server 0 (rank 3")])
def test_a_killed_process_is_named_at_once(special, name):
    done = job("OneIsKilled", "--heartbeat", "600", special=special)
    assert done.returncode == 128 + signal.SIGKILL
    for survivor in {0, 1, 2, 3} - {special}:
        assert f"rank {survivor} lost {name}, process " in done.stdout
    assert f"launch.py: {name}, process " in done.stderr


def test_a_stalled_process_is_named_after_the_time_out():
    done = job("OneIsStalled", "--heartbeat", "2")
    assert done.returncode == 1
    for survivor in (0, 1, 3):
        assert f"rank {survivor} lost worker 2 (rank 2, process " in done.stdout
    assert "is lost: " in done.stderr


def test_one_that_never_comes():
    done = job("OneNeverComes", "--timeout", "2")
    assert done.returncode == 9
    assert "not all processes of the job were there within 2 s (PS_START_TIMEOUT)" in done.stdout


def test_one_that_ends_before_it_joins():
    done = launch("-n", "2", "-s", "1", "sh", "-c", 'test "$DMLC_WORKER_ID" = 1 && sleep 1 && exit 0; exec "$0" "$@"',
                  job_program(), "--gtest_filter=JobRank.OneIsLate")
    assert done.returncode == 1
    assert "worker 1 (rank 1, process " in done.stderr and "without joining the job" in done.stderr


def mpirun(*args, **env):
    """As users do who know no launcher."""
    return subprocess.run(["mpirun", "--oversubscribe", *args], capture_output=True, text=True, timeout=100, cwd=ROOT,
                          env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **env})


def test_mpirun_alone():
    done = mpirun("-n", "3", job_program(), "--gtest_filter=JobRank.OneEndsEarly", MXNET_TEST_RANK="1")
    assert done.returncode == 0, done.stdout + done.stderr


def test_heartbeats_find_the_killed_without_the_launcher():
    done = mpirun("--enable-recovery", "-n", "3", job_program(), "--gtest_filter=JobRank.OneIsKilled", MXNET_TEST_RANK="1",
                  PS_HEARTBEAT_TIMEOUT="2")
    for survivor in (0, 2):
        assert f"rank {survivor} lost worker 1 (rank 1, process " in done.stdout


def test_without_the_library_for_mpi(tmp_path):
    program_here = shutil.copy(job_program(), tmp_path)
    done = launch("-n", "1", "-s", "0", program_here, "--gtest_filter=JobRank.OneIsLate")
    assert done.returncode == 1
    assert "[kvstore] libmxnet_mpi.so cannot be opened: " in done.stdout
    assert "apt install openmpi-bin libopenmpi-dev" in done.stdout


@pytest.mark.parametrize("name, value, words", [
    ("PS_HEARTBEAT_TIMEOUT", "soon", "[environment] PS_HEARTBEAT_TIMEOUT='soon'; accepted: a number of at least 0"),
    ("DMLC_ROLE", "scheduler", "[kvstore] DMLC_ROLE='scheduler'; accepted: worker, server"),
])
def test_wrong_variables(name, value, words):
    done = launch("-n", "1", "-s", "0", "--env-worker", f"{name}={value}", job_program(), "--gtest_filter=JobRank.OneIsLate")
    assert done.returncode == 1
    assert words in done.stdout


# ---- where jobs listen ----

LISTENS = """
import socket, sys
with socket.socket() as listener:
    listener.bind(('0.0.0.0', 0))
    listener.listen()
    print(listener.getsockname()[1], flush=True)
    while True:
        listener.accept()[0].close()
"""


def test_a_process_accepts_through_named_interfaces_alone(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "python" / "mxnet" / "tools"))
    import launch_rank
    loopback = socket.if_nametoindex("lo")
    assert launch_rank.interfaces("lo") == launch_rank.interfaces("nowhere0,127.0.0.0/8") == [loopback]
    assert launch_rank.interfaces("") == launch_rank.interfaces("nowhere0,203.0.113.0/24") == []
    with subprocess.Popen([sys.executable, "-c", LISTENS], stdout=subprocess.PIPE, text=True) as child:
        try:
            port = int(child.stdout.readline())
            try:
                launch_rank.listen_through(child.pid, [loopback + 1000, loopback + 1001])
            except OSError as error:
                pytest.skip(f"sockets of other processes are out of reach here: {error}")
            with pytest.raises(socket.timeout):
                socket.create_connection(("127.0.0.1", port), 0.5)
            launch_rank.listen_through(child.pid, [loopback + 1000, loopback])
            socket.create_connection(("127.0.0.1", port), 30).close()
        finally:
            child.kill()


def test_ranks_restrict_what_mpi_listens_with(tmp_path):
    program(tmp_path, "filters.py", """
import os, socket, sys, mxnet as mx
own = socket.create_server(('127.0.0.1', 0))
store = mx.kv.create('dist_sync')
for name in os.listdir('/proc/self/fd'):
    try:
        with socket.socket(fileno=os.dup(int(name))) as found:
            if found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                length = found.getsockopt(socket.SOL_SOCKET, 26, 8 * 100)      # SO_GET_FILTER
                sys.stdout.write(f"{int(name) == own.fileno()} {'filtered' if length else 'open'}\\n")   # whole lines
                sys.stdout.flush()
    except OSError:
        pass
""")
    done = launch("-n", "2", "-s", "0", "--mca", "btl", "self,tcp", sys.executable, str(tmp_path / "filters.py"), DMLC_INTERFACE="lo")
    assert done.returncode == 0, done.stdout + done.stderr
    said = [line for line in done.stdout.splitlines() if line.startswith(("True", "False"))]
    assert said.count("True open") == 2 and "False filtered" in said and "False open" not in said, done.stdout


# ---- two hosts, made of network namespaces ----

class Hosts:
    """Two namespaces with a slow link between them; a program in place of ssh enters the second."""

    def __init__(self, folder):
        self.names = [f"mx{os.getpid()}{which}" for which in "ab"]
        self.folder = folder
        program(folder, "ssh", SSH.replace("exec sh -c", f"exec ip netns exec {self.names[1]} sh -c"))
        (folder / "hosts").write_text("10.77.0.1\n10.77.0.2\n")

    def ip(self, *args):
        subprocess.run(["ip", *args], check=True, capture_output=True)

    def make(self):
        first, second = self.names
        for name in self.names:
            self.ip("netns", "add", name)
        self.ip("link", "add", "here", "netns", first, "type", "veth", "peer", "name", "there", "netns", second)
        for name, link, address in ((first, "here", "10.77.0.1/24"), (second, "there", "10.77.0.2/24")):
            self.ip("-n", name, "addr", "add", address, "dev", link)
            self.ip("-n", name, "link", "set", link, "up")
            self.ip("-n", name, "link", "set", "lo", "up")
            # Delay and loss where the kernel has them, else a narrow link that drops the rest.
            for queue in (["netem", "delay", "5ms", "loss", "0.5%"], ["tbf", "rate", "200mbit", "burst", "64kb", "latency", "20ms"]):
                if not subprocess.run(["tc", "-n", name, "qdisc", "add", "dev", link, "root", *queue], capture_output=True).returncode:
                    break

    def remove(self):
        for name in self.names:
            found = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True)
            for process in found.stdout.split():
                os.kill(int(process), signal.SIGKILL)
            subprocess.run(["ip", "netns", "del", name], capture_output=True)

    def start(self, test, **env):
        return subprocess.Popen(
            ["ip", "netns", "exec", self.names[0], *LAUNCH, "-n", "3", "-s", "1", "-H", str(self.folder / "hosts"),
             "--host-ip", "10.77.0.1", "--heartbeat", "4", "--mca", "btl", "self,tcp", job_program(), f"--gtest_filter=JobRank.{test}"],
            env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", **env}, cwd=ROOT,
            stdout=open(self.folder / "out", "wb"), stderr=subprocess.STDOUT)

    def out(self):
        return (self.folder / "out").read_text(errors="replace")


@pytest.fixture
def two_hosts(tmp_path):
    hosts = Hosts(tmp_path)
    try:
        try:
            hosts.make()
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"no network namespaces here: {error}")
        yield hosts
    finally:
        hosts.remove()


@pytest.mark.nightly
@pytest.mark.parametrize("test", ["Exchanges", "OneEndsEarly", "OneIsKilled"])
def test_jobs_over_a_bad_link(two_hosts, test):
    job = two_hosts.start(test, MXNET_TEST_RANK="2")
    status = job.wait(200)
    assert status == (137 if test == "OneIsKilled" else 0), two_hosts.out()


@pytest.mark.nightly
def test_a_network_that_breaks(two_hosts):
    job = two_hosts.start("TheNetworkBreaks")
    wait_until(lambda: two_hosts.out().count(" met") == 4)
    two_hosts.ip("-n", two_hosts.names[0], "link", "set", "here", "down")
    assert job.wait(60) == 1
    # The ranks of the launcher's host say whom they lost; it cannot hear the others.
    out = two_hosts.out()
    assert sum(" lost worker " in line or " lost server " in line for line in out.splitlines()) == 2, out


CONNECTS = """
import os, socket, subprocess, sys, mxnet as mx
store = mx.kv.create('dist_sync')
own, other = (f'{sys.argv[1]}/ports{n}' for n in (store.rank, 1 - store.rank))
with open(own, 'w') as file:
    file.write(subprocess.run("ss -tlnH | awk '{print $4}'", shell=True, capture_output=True, text=True).stdout)
store._barrier()
for place in open(other).read().split():
    for network in (77, 88):
        try:
            socket.create_connection((f'10.{network}.0.{2 - store.rank}', int(place.rsplit(':', 1)[1])), 2).close()
            print('open in', network, place, flush=True)
        except OSError:
            print('closed in', network, place, flush=True)
store._barrier()
"""


@pytest.mark.nightly
def test_jobs_listen_through_the_interfaces_that_are_named(two_hosts):
    if not shutil.which("ss"):
        pytest.skip("no ss here: iproute2 is not installed")
    first, second = two_hosts.names
    two_hosts.ip("link", "add", "here2", "netns", first, "type", "veth", "peer", "name", "there2", "netns", second)
    for name, link, address in ((first, "here2", "10.88.0.1/24"), (second, "there2", "10.88.0.2/24")):
        two_hosts.ip("-n", name, "addr", "add", address, "dev", link)
        two_hosts.ip("-n", name, "link", "set", link, "up")
    program(two_hosts.folder, "connects.py", CONNECTS)
    done = subprocess.run(["ip", "netns", "exec", first, *LAUNCH, "-n", "2", "-s", "0", "-H", str(two_hosts.folder / "hosts"),
                           "--host-ip", "10.77.0.1", sys.executable, str(two_hosts.folder / "connects.py"), str(two_hosts.folder)],
                          env={**os.environ, "PATH": f"{two_hosts.folder}:{os.environ['PATH']}", "DMLC_INTERFACE": "10.77.0.0/24"},
                          cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("open in 77") >= 7 and "closed in 88" in done.stdout and "open in 88" not in done.stdout, done.stdout


# ---- the programs themselves: OpenSSH's server and Slurm, where they are installed ----

def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def started(command, log, ready, **env):
    """A server, once `ready` is true."""
    with open(log, "wb") as file:
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, env={**os.environ, **env})
    wait_until(lambda: ready() or server.poll() is not None)
    if server.poll() is not None:
        pytest.skip(f"{command[0]} does not run here: {log.read_text(errors='replace')[-300:]}")
    return server


@pytest.fixture
def ssh_hosts(tmp_path):
    """A file of two hosts, both of them this machine behind a server of ssh; what runs `ssh`."""
    sshd = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
    if not sshd:
        pytest.skip("no sshd here: openssh-server is not installed")
    port = free_port()
    for name in ("host", "key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)], check=True)
    (tmp_path / "sshd_config").write_text(
        f"ListenAddress 127.0.0.1\nPort {port}\nHostKey {tmp_path}/host\nAuthorizedKeysFile {tmp_path}/key.pub\n"
        "PermitRootLogin yes\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nPidFile none\n")
    (tmp_path / "ssh_config").write_text(
        f"Host *\nHostName 127.0.0.1\nPort {port}\nIdentityFile {tmp_path}/key\nUserKnownHostsFile /dev/null\n"
        "StrictHostKeyChecking no\nLogLevel ERROR\n")
    program(tmp_path, "ssh", f'#!/bin/sh\nexec {shutil.which("ssh")} -F {tmp_path}/ssh_config "$@"\n')
    (tmp_path / "hosts").write_text("node-a\nnode-b\n")
    if os.geteuid() == 0:
        os.makedirs("/run/sshd", mode=0o755, exist_ok=True)     # Debian's service makes it at its start
    log = tmp_path / "sshd.log"
    server = started([sshd, "-D", "-e", "-f", str(tmp_path / "sshd_config")], log, lambda: "Server listening" in log.read_text())
    yield tmp_path
    server.terminate()
    server.wait()


@pytest.mark.nightly
@pytest.mark.parametrize("test, status", [("Exchanges", 0), ("OneIsKilled", 137)])
def test_a_job_by_ssh(ssh_hosts, test, status):
    done = job(test, "-H", str(ssh_hosts / "hosts"), "--host-ip", "127.0.0.1", "--mca", "btl", "self,tcp",
               PATH=f"{ssh_hosts}:{os.environ['PATH']}")
    assert done.returncode == status, done.stdout + done.stderr


SLURM = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/controller.pid
SlurmdPidFile={folder}/node.pid
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


@pytest.fixture
def slurm(tmp_path):
    """A Slurm of one node, this machine: its variables."""
    path = f"{os.environ['PATH']}:/usr/sbin"
    controller, node = shutil.which("slurmctld", path=path), shutil.which("slurmd", path=path)
    if not (controller and node and shutil.which("srun")):
        pytest.skip("no Slurm here: slurm-wlm is not installed")
    for name in ("state", "spool"):
        (tmp_path / name).mkdir()
    env = {"SLURM_CONF": str(tmp_path / "slurm.conf")}
    (tmp_path / "slurm.conf").write_text(SLURM.format(host=socket.gethostname(), user=getpass.getuser(), folder=tmp_path,
                                                      ports=(free_port(), free_port())))
    def nodes():
        return subprocess.run(["sinfo", "-h", "-o", "%t"], capture_output=True, text=True, env={**os.environ, **env}).stdout.strip()

    servers = [started([controller, "-D", "-i"], tmp_path / "controller.log", nodes, **env)]
    try:
        servers.append(started([node, "-D"], tmp_path / "node.log", lambda: nodes() == "idle", **env))
        yield env
    finally:
        for server in servers:
            server.terminate()
            server.wait()


@pytest.mark.nightly
@pytest.mark.parametrize("test, status", [("Exchanges", 0), ("OneIsKilled", 137)])
def test_a_job_by_slurm(slurm, test, status):
    done = job(test, "--launcher", "slurm", "--host-ip", "127.0.0.1", **slurm)
    assert done.returncode == status, done.stdout + done.stderr

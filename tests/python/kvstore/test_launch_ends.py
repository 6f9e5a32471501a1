"""tools/launch.py: ranks that end before they say a word, and ends that look like losses."""
import shutil
import subprocess
import sys
import time

import pytest

from test_launch import ROOT, launch, program, pytestmark  # noqa: F401


@pytest.mark.parametrize("how", ["kill", "0", "3"])
def test_a_rank_that_ends_before_it_reaches_the_launcher(how, tmp_path):
    """The others waited 300 s for it."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os\nif os.environ.get('OMPI_COMM_WORLD_RANK') == '1':\n"
        "    os.kill(os.getpid(), 9) if os.environ['HOW'] == 'kill' else os._exit(int(os.environ['HOW']))\n")
    began = time.monotonic()
    done = launch("-n", "2", "-s", "0", "sleep", "100", HOW=how, PYTHONPATH=str(tmp_path))
    assert done.returncode == 1 and "worker 1 (rank 1) was not started, or ended at once" in done.stderr, done.stderr
    assert time.monotonic() - began < 50


# In place of a program with the library: says what that says.
SPEAKER = """
import os, socket, sys, time
rank = os.environ['DMLC_WORKER_ID']
channel = socket.socket(fileno=int(os.environ['DMLC_LAUNCHER_SOCKET'].split(':')[0]))
def say(word, of=rank):
    channel.send(f'{word} {of}\\n'.encode())
def wait_for(name):
    while not os.path.exists(name):
        time.sleep(0.01)
say('joined')
"""


def speak(folder, text):
    (folder / "speaker.py").write_text(SPEAKER + text)
    return launch("-n", "2", "-s", "0", "sh", "-c", 'cd "$0" && exec "$1" speaker.py', str(folder), sys.executable)


def test_a_word_for_one_that_hears_no_more(tmp_path):
    """Its starter took the closed socket for the end of the job, and ended it."""
    done = speak(tmp_path, """
if rank == '0':
    say('left')
    channel.close()
    open('closed', 'w').close()
    time.sleep(1)
else:
    wait_for('closed')      # then it ends as one that is lost, which the launcher tells the other
""")
    assert done.returncode == 0 and "launch.py" not in done.stderr, done.stderr


def test_one_that_has_left_is_not_lost(tmp_path):
    """A worker that stood still may find it gone before it finds the goodbye."""
    done = speak(tmp_path, """
if rank == '0':
    say('left')
    open('left', 'w').close()
    wait_for('accused')
else:
    wait_for('left')
    time.sleep(0.3)
    say('lost', 0)
    time.sleep(0.3)
    say('left')
    open('accused', 'w').close()
""")
    assert done.returncode == 0 and "launch.py" not in done.stderr, done.stderr


def test_a_launcher_that_stood_still(tmp_path):
    """What the processes had said meanwhile was not read: 'worker 0 was not started'."""
    program(tmp_path, "mpirun", f"""#!/bin/sh
test "$1" = --version && exec {shutil.which("mpirun")} --version
kill -STOP $PPID
{shutil.which("mpirun")} "$@"
status=$?
(sleep 0.3; kill -CONT $PPID) >/dev/null 2>&1 &
exit $status
""")
    done = launch("-n", "2", "-s", "1", "--mpirun", str(tmp_path / "mpirun"), "true")
    assert done.returncode == 0, done.stderr
    done = launch("-n", "2", "-s", "1", "--mpirun", str(tmp_path / "mpirun"), "sh", "-c", 'test "$DMLC_WORKER_ID" != 1 || exit 7')
    assert done.returncode == 7 and "worker 1 (rank 1, process " in done.stderr, done.stderr


# A starter whose launcher is a socket of this program. Its command ignores SIGTERM, and only the
# second of its threads goes on.
STARTER = """
import os, socket, subprocess, sys, threading, time
sys.path.insert(0, 'python/mxnet/tools')
import launch_rank
COMMAND = '''
import ctypes, signal, threading, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
threading.Thread(target=time.sleep, args=(100,)).start()
ctypes.CDLL(None).pthread_exit(None)
'''
listener = socket.create_server(('127.0.0.1', 0))
class Starter(launch_rank.Rank):
    def __init__(self):
        self.rank = 0
        self.launcher = socket.create_connection(listener.getsockname())
        self.library, self.theirs = socket.socketpair()
        self.child = subprocess.Popen([sys.executable, '-c', COMMAND], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while open(f'/proc/{self.child.pid}/stat').read().split()[2] != 'Z':
            time.sleep(0.01)
starter = Starter()
heard = listener.accept()[0]
"""


def starter(text):
    done = subprocess.run([sys.executable, "-c", STARTER + text], capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_status_of_one_whose_threads_still_end():
    """A process is a zombie when its first thread has ended, and has a status when all have: it
    had none for the launcher, which said that the worker had vanished."""
    assert starter("""
heard.close()      # the job is over
print(starter.serve())
""") == "-9\n"


def test_words_that_nobody_reads_do_not_take_the_status_along():
    """A connection that is closed with them is reset: of what is on its way the other may get
    nothing."""
    assert starter("""
starter.child.kill()
heard.sendall(b'lost 1\\n')
thread = threading.Thread(target=starter.leave, args=(3,))
thread.start()
text = b''
while True:
    got = heard.recv(100)
    if not got:
        break
    text += got
heard.close()
thread.join()
print(text)
""") == "b'{\"status\": 3}\\n'\n"

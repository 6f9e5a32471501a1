"""Hosts on one machine: network namespaces that a switch joins, each by a slow link of its own."""
import contextlib
import os
import signal
import subprocess
import tempfile

SSH = """#!/bin/sh
while :; do case "$1" in -o|-l|-p|-i) shift 2;; -*) shift;; *) break;; esac; done
host=$1
shift
exec ip netns exec {group}.$host sh -c "$*"
"""


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


def connect(switch, name, address, mbit):
    """Makes the host `name`, whose link carries so many Mbit/s in either direction at once."""
    port = f"port{address.rsplit('.', 1)[1]}"
    ip("netns", "add", name)
    ip("link", "add", "uplink", "netns", name, "type", "veth", "peer", "name", port, "netns", switch)
    ip("-n", switch, "link", "set", port, "master", "switch", "up")
    ip("-n", name, "addr", "add", f"{address}/24", "dev", "uplink")
    for link in ("uplink", "lo"):
        ip("-n", name, "link", "set", link, "up")
    for place, link in ((name, "uplink"), (switch, port)):
        subprocess.run(["tc", "-n", place, "qdisc", "add", "dev", link, "root", "tbf", "rate", f"{mbit}mbit", "burst", "128kb",
                        "latency", "50ms"], check=True, capture_output=True)


@contextlib.contextmanager
def slow_links(hosts, mbit):
    """The options of tools/launch.py, the command in front of it and the changes to its environment
    for a job with a rank on each host. Needs root, ip and tc."""
    group = f"kv{os.getpid()}"
    addresses = [f"10.78.0.{1 + i}" for i in range(hosts)]
    names = [f"{group}.{address}" for address in addresses]
    switch = f"{group}.switch"
    with tempfile.TemporaryDirectory() as folder:
        ssh = os.path.join(folder, "ssh")
        with open(ssh, "w", encoding="utf-8") as file:
            file.write(SSH.format(group=group))
        os.chmod(ssh, 0o755)
        with open(os.path.join(folder, "hosts"), "w", encoding="utf-8") as file:
            file.write("".join(address + "\n" for address in addresses))
        try:
            ip("netns", "add", switch)
            ip("-n", switch, "link", "add", "switch", "type", "bridge")
            ip("-n", switch, "link", "set", "switch", "up")
            for name, address in zip(names, addresses):
                connect(switch, name, address, mbit)
            options = ["-H", os.path.join(folder, "hosts"), "--host-ip", addresses[0], "--mca", "btl", "self,tcp"]
            yield options, ["ip", "netns", "exec", names[0]], {"PATH": f"{folder}:{os.environ['PATH']}"}
        finally:
            for name in [*names, switch]:
                left = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True, check=False)
                for process in left.stdout.split():
                    os.kill(int(process), signal.SIGKILL)
                subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)

"""Sizes, times, rates and tensors of a plan in words."""

__all__ = ["achieved", "bandwidth", "duration", "implementation", "judge", "passes", "shares", "size", "tensor"]


def size(count):
    """Bytes for people."""
    for unit in ("bytes", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "bytes" or count == int(count) else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.2f} GiB"


def duration(nanoseconds):
    """A time for people."""
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("\u00b5s", 1e3)):
        if nanoseconds >= scale:
            return f"{nanoseconds / scale:.3g} {unit}"
    return f"{nanoseconds:.0f} ns"


def achieved(node):
    """GFLOP/s of a timed node whose operator says how much it computes; else None."""
    if not node["flops"] or not node["median_ns"] or node["constant"]:
        return None
    return node["flops"] / node["median_ns"]


def bandwidth(node):
    """GB/s of a timed node, every tensor that it reads or writes counted once; else None."""
    if not node["bytes"] or not node["median_ns"] or node["constant"]:
        return None
    return node["bytes"] / node["median_ns"]


def implementation(node):
    """What ran, with its instructions: "packed GEMM [AVX-512]"; empty if the node was not run."""
    return " + ".join(f"{part['implementation']} [{part['level']}]" if part["level"] else part["implementation"] for part in node["ran"])


def _peak(machine, node):
    """GFLOP/s that the machine does at most with what the node reads, in the instructions that it
    ran in."""
    gflops, levels = machine["gflops"], [part["level"] or "" for part in node["ran"]]
    dtypes = {t["dtype"] for t in node["inputs"][:2]}
    if dtypes & {"int8", "uint8"}:
        return gflops["int8"]
    if any("BF16" in level for level in levels):
        return gflops["bfloat16"]
    return gflops["float32"] / (2 if "float64" in dtypes else 1)


def judge(node, machine):
    """Set what the machine's peaks say of a timed node: the least time that they allow, and what
    share of each it reached. None where there is nothing to say."""
    node["predicted_ns"] = node["share_of_peak"] = node["share_of_bandwidth"] = None
    if not machine or "gflops" not in machine or node["constant"] or not node["median_ns"]:
        return
    peak, memory = _peak(machine, node), machine["gigabytes"]
    least = max((node["flops"] or 0) / peak if peak else 0, node["bytes"] / memory if memory else 0)
    node["predicted_ns"] = least or None
    if node["flops"] and peak:
        node["share_of_peak"] = node["flops"] / node["median_ns"] / peak
    if node["bytes"] and memory:
        node["share_of_bandwidth"] = node["bytes"] / node["median_ns"] / memory


def shares(node):
    """How far a timed node is from the machine's peaks, in words; empty where nothing is known."""
    words = []
    if node["share_of_peak"] is not None:
        words.append(f"{100 * node['share_of_peak']:.0f} % of the peak")
    if node["share_of_bandwidth"] is not None:
        words.append(f"{100 * node['share_of_bandwidth']:.0f} % of the memory's")
    if node["predicted_ns"] is not None:
        words.append(f"at least {duration(node['predicted_ns'])}")
    return ", ".join(words)


def passes(plan):
    """Of a plan: the passes that changed something, and the names of the others."""
    done = [p for p in plan["passes"] if p["changed"] or p["nodes_before"] != p["nodes_after"]]
    names = {p["name"] for p in done}
    return done, [*dict.fromkeys(p["name"] for p in plan["passes"] if p["name"] not in names)]


def tensor(t):
    """One tensor in few characters: shape, dtype unless float32, layout unless plain, where it
    lies."""
    place = {"input": t.get("name"), "gradient": f"gradient of {t.get('name')}", "arena": f"@{t.get('offset')}"}.get(t["place"], t["place"])
    text = "x".join(map(str, t["shape"])) or "scalar"
    if t["dtype"] != "float32":
        text += " " + t["dtype"]
    if t["layout"] != "plain":
        text += " " + t["layout"]
    request = t.get("request", "write")
    return f"{text} {place}" + ("" if request == "write"
                                else f" ({'unused' if request == 'none' else 'added' if request == 'add' else request})")

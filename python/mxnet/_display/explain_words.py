"""Sizes, times, rates and tensors of a plan in words."""

__all__ = ["achieved", "bandwidth", "duration", "size", "tensor"]


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

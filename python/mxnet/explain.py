"""What a compiled plan is and where its time goes: as data, as text and as one self-contained page.

``HybridBlock.explain()``, ``Executor.explain()`` and ``Module.explain()`` return an
:class:`Explanation`, ``mx.onnx.Model.explain()`` a :class:`ModelExplanation`.
"""
import ctypes
import json
import os
from statistics import median

from ._display.explain_words import achieved, bandwidth, duration, implementation, judge, passes, shares, size, tensor
from ._files.whole_files import write_file
from .base import _LIB, c_handle_array, c_int, check_call, py_str

__all__ = ["Explanation", "ModelExplanation"]


class Explanation:
    """A compiled plan.

    ``plan`` is the plan as a dict (docs/explain.md lists its members); ``str()`` of this object is
    a report, :meth:`html`, :meth:`svg` and :meth:`save` draw it.

    >>> out = mx.sym.softmax(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=4, name='fc'))
    >>> executor = out.simple_bind(mx.cpu(), data=(2, 3), grad_req='null')
    >>> _ = executor.forward()
    >>> plan = executor.explain()
    >>> plan.timed, sorted(name for name, count, time in plan.time_by_operator())
    (True, ['FullyConnected', 'softmax'])
    >>> [part['implementation'] for part in plan.plan['nodes'][1]['ran']]
    ['softmax of rows']
    >>> plan.live_bytes()
    [32, 32]
    >>> '<html' in plan.html(), '<svg' in plan.svg()
    (True, True)
    >>> plan.save('plan.json')
    """

    def __init__(self, plan):
        self.plan = plan
        for node in plan["nodes"]:
            times = node["nanoseconds"]
            node["median_ns"], node["min_ns"] = (median(times), min(times)) if times else (None, None)
            judge(node, plan.get("machine"))

    @property
    def timed(self):
        """Whether the nodes were timed."""
        return any(n["nanoseconds"] for n in self.plan["nodes"])

    def time_by_operator(self):
        """[(operator, nodes, nanoseconds of one run)], the dearest first; medians, added up."""
        totals = {}
        for node in self.plan["nodes"]:
            count, time = totals.get(node["op"], (0, 0.0))
            totals[node["op"]] = count + 1, time + (node["median_ns"] or 0.0)
        return sorted(((op, count, time) for op, (count, time) in totals.items()), key=lambda row: (-row[2], -row[1], row[0]))

    def time_by_implementation(self):
        """[(implementation, its instructions or None, nodes, nanoseconds of one run)], the dearest
        first; a node that ran several counts under all their names together. Empty if nothing was
        timed.

        >>> net = mx.gluon.nn.Dense(64, in_units=64)
        >>> net.initialize()
        >>> net.hybridize(static_alloc=True)
        >>> _ = net(mx.nd.ones((32, 64)))
        >>> name, instructions, nodes, ns = net.explain().time_by_implementation()[0]
        >>> nodes, ns > 0
        (1, True)
        """
        totals = {}
        for node in self.plan["nodes"]:
            if not node["ran"] or node["constant"]:
                continue
            key = (" + ".join(part["implementation"] for part in node["ran"]),
                   ", ".join(dict.fromkeys(part["level"] for part in node["ran"] if part["level"])) or None)
            count, time = totals.get(key, (0, 0.0))
            totals[key] = count + 1, time + (node["median_ns"] or 0.0)
        return sorted(((*key, count, time) for key, (count, time) in totals.items()), key=lambda row: (-row[3], -row[2], row[0]))

    def live_bytes(self):
        """Bytes of the arena that are in use, by step."""
        live = [0] * len(self.plan["nodes"])
        for block in self.plan["blocks"]:
            for step in range(block["first"], block["last"] + 1):
                live[step] += block["bytes"]
        return live

    def html(self):
        """The page, as text: figures, passes, time by operator, the arena over time, every node. It
        refers to nothing outside itself."""
        from ._display.explain_page import render    # drawn seldom
        return render(self)

    def svg(self):
        """The arena over time, as the text of an SVG file."""
        from ._display.explain_page import picture
        return picture(self)

    def save(self, path):
        """Write the plan to `path`, in the form that the name ends in: the page (``.html``), the
        picture of the arena over time (``.svg``), the report (``.txt``) or the data (``.json``).
        The file appears complete or not at all.

        Raises
        ------
        ValueError
            for another ending.
        """
        forms = {".html": self.html, ".htm": self.html, ".svg": self.svg,
                 ".txt": lambda: str(self) + "\n", ".json": lambda: json.dumps(self.plan, indent=1)}
        ending = os.path.splitext(path)[1].lower()
        if ending not in forms:
            raise ValueError(f"[explain] path={os.fspath(path)!r}; accepted: names that end in {', '.join(forms)}")
        text = forms[ending]()
        write_file(path, text)

    def __repr__(self):
        plan, time = self.plan, f", {duration(sum(t for _, _, t in self.time_by_operator()))}" if self.timed else ""
        mode = "training" if plan["training"] else "inference"
        return f"<Explanation of {plan['device']}, {mode}: {plan['stats']['num_nodes']} nodes{time}>"

    def _repr_html_(self):
        from ._display.html import explanation_html    # drawn seldom
        return explanation_html(self)

    def _machine(self):
        """A line on the machine's peaks, if they were measured."""
        machine = self.plan.get("machine") or {}
        if "gflops" not in machine:
            return []
        rates = ", ".join(f"{name} {rate:.0f}" for name, rate in machine["gflops"].items())
        return [f"By implementation, at {machine['level']}; peaks of {machine['threads']} "
                f"thread{'s' if machine['threads'] > 1 else ''}: GFLOP/s {rates}; memory {machine['gigabytes']:.0f} GB/s"]

    def __str__(self):
        plan, stats = self.plan, self.plan["stats"]
        lines = [f"Plan for {plan['device']}, {'training' if plan['training'] else 'inference'}: "
                 f"{stats['num_nodes']} nodes in {stats['num_bulks']} bulks",
                 f"Arena {size(stats['arena_bytes'])}; separate buffers "
                 f"{size(stats['unshared_bytes'])}; largest live set "
                 f"{size(stats['lower_bound_bytes'])}; "
                 f"{stats['num_inplace']} results in place; constants {size(stats['constant_bytes'])}"]
        done, unchanged = passes(plan)
        for p in done:
            lines.append(f"  {p['name']}: {p['changed']} changed, {p['nodes_before']} -> {p['nodes_after']} nodes")
        if unchanged:
            lines.append(f"  without a change: {', '.join(unchanged)}")
        if self.timed:
            whole = sum(t for _, _, t in self.time_by_operator())
            lines.append(f"One run {duration(whole)}, node by node" + (", by the device's clock" if plan["clock"] == "device" else ""))
            for op, count, time in self.time_by_operator()[:12]:
                lines.append(f"  {duration(time):>10} {100 * time / whole if whole else 0:5.1f} %  {op} x {count}")
            lines += self._machine()
            for name, level, count, time in self.time_by_implementation()[:12]:
                lines.append(f"  {duration(time):>10} {100 * time / whole if whole else 0:5.1f} %  "
                             f"{name}{f' [{level}]' if level else ''} x {count}")
        lines.append("")
        phase = "forward"
        starts = {b["begin"]: i for i, b in enumerate(plan["bulks"])}
        for node in plan["nodes"]:
            if node["phase"] != phase:
                phase = node["phase"]
                lines.append("---- backward")
            if node["step"] in starts and len(plan["bulks"]) > 1:
                lines.append(f"-- bulk {starts[node['step']]}")
            rates = [(achieved(node), "GFLOP/s"), (bandwidth(node), "GB/s")]
            about = ""
            if node["median_ns"] is not None:
                about = f"  {duration(node['median_ns'])}" + "".join(f", {rate:.1f} {unit}" for rate, unit in rates if rate)
                about += "".join(f"; {words}" for words in (implementation(node), shares(node)) if words)
            constant = " (constant)" if node["constant"] else ""
            lines.append(f"{node['step']:4} {node['op']} {node['name']}{constant}: "
                         f"{', '.join(map(tensor, node['inputs']))} -> "
                         f"{', '.join(map(tensor, node['outputs']))}{about}")
        return "\n".join(lines)


class ModelExplanation(str):
    """The plans of an ONNX model: a str, the report, with an :class:`Explanation` for each plan in
    ``plans``, in the order in which they run.

    >>> mx.explain.ModelExplanation('plan of 2 nodes').plans
    []
    """

    plans = []

    def save(self, path):
        """Write the plans as :meth:`Explanation.save` does; of several each gets a file, with
        ``-1``, ``-2`` and so on before the ending.

        Raises
        ------
        ValueError
            for another ending.

        >>> mx.explain.ModelExplanation('no plan yet').save('plan.html')   # writes no file
        """
        stem, ending = os.path.splitext(path)
        for i, plan in enumerate(self.plans, 1):
            plan.save(f"{stem}-{i}{ending}" if len(self.plans) > 1 else path)


def of_onnx_model(handle, report, runs):
    """The plans that a model has made; without a handle the report alone."""
    if handle is None:
        return ModelExplanation(report)
    text = ctypes.c_char_p()
    check_call(_LIB.MXOnnxModelExplainPlans(handle, c_int(runs, "explain"), ctypes.byref(text)))
    plans = [Explanation(plan) for plan in json.loads(py_str(text.value))]
    explanation = ModelExplanation("\n".join([report, *map(str, plans)]))
    explanation.plans = plans
    return explanation


def of_executor(handle, runs):
    """The plan that an executor ran last."""
    text = ctypes.c_char_p()
    check_call(_LIB.MXExecutorExplain(handle, c_int(runs, "explain"), ctypes.byref(text)))
    return Explanation(json.loads(py_str(text.value)))


def of_cached_op(handle, inputs, runs):
    """The plan that a CachedOp ran last; an input may be None, which stands for zeros."""
    text = ctypes.c_char_p()
    handles = c_handle_array(inputs)
    check_call(_LIB.MXCachedOpExplain(handle, ctypes.c_int(len(inputs)), handles, c_int(runs, "explain"), ctypes.byref(text)))
    return Explanation(json.loads(py_str(text.value)))

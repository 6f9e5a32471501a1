"""The site's pages in their order: (title, path below docs/) or (title, list of such). A path
that ends in a slash stands for pages that are made: api/ from the package. Pages of docs/ that are
not listed here come last, below "More"."""

NAVIGATION = [
    ("Home", "index.md"),
    ("Start", [
        ("Install", "install.md"),
        ("Wheels", "wheels.md"),
        ("Tour", "tour.md"),
    ]),
    ("Tutorials", [
        ("All tutorials", "tutorials/index.md"),
        ("Gluon", "tutorials/gluon.md"),
        ("Module", "tutorials/module.md"),
        ("Data", "tutorials/data.md"),
        ("Sparse arrays", "tutorials/sparse.md"),
        ("Deployment from C++", "tutorials/deploy_cpp.md"),
        ("Tuning by variables", "tutorials/tuning.md"),
        ("Profiling and explain", "tutorials/profiling.md"),
        ("8-bit integers", "tutorials/quantization.md"),
        ("Several processes", "tutorials/distributed.md"),
        ("GPUs", "tutorials/gpu.md"),
        ("NumPy programs", "guide/numpy.md"),
    ]),
    ("Coming from", [
        ("MXNet 1.9.1", "migration/from_1_9_1.md"),
        ("MXNet 2.0", "migration/from_2_0.md"),
        ("PyTorch", "migration/from_pytorch.md"),
        ("ONNX Runtime", "migration/from_onnxruntime.md"),
        ("Differences, all of them", "differences.md"),
    ]),
    ("Use", [
        ("Variables by task", "variables.md"),
        ("Environment variables", "env_var.md"),
        ("C++", "cpp.md"),
        ("GPUs", "gpu/using.md"),
        ("Several machines", "distributed.md"),
        ("Looking into a plan", "explain.md"),
        ("Profiler", "profiler.md"),
        ("Memory", "memory.md"),
        ("Threads", "threads.md"),
        ("File formats", "file_formats.md"),
        ("ONNX", "onnx.md"),
        ("Native iterators", "iterators.md"),
        ("Libraries of your own", "guide/extend_with_a_library.md"),
    ]),
    ("Speed", [
        ("In pictures", "speed.md"),
        ("On the CPU", "perf.md"),
        ("Inference", "perf/score.md"),
        ("Training", "perf/train.md"),
        ("On GPUs", "gpu/figures.md"),
        ("History", "history/cpu_performance.md"),
    ]),
    ("API", "api/"),
    ("Change it", [
        ("Contributing", "CONTRIBUTING.md"),
        ("Architecture", "architecture.md"),
        ("Tour of the code", "guide/tour.md"),
        ("Glossary", "glossary.md"),
        ("Building", "building.md"),
        ("Dependencies", "dependencies.md"),
        ("Add an operator", "guide/add_an_operator.md"),
        ("Write a kernel", "guide/write_a_kernel.md"),
        ("Write a pass", "guide/write_a_pass.md"),
        ("Find errors", "guide/debug.md"),
        ("Passes", "passes.md"),
        ("Packed weights", "packed.md"),
        ("Winograd", "winograd.md"),
        ("GPUs: design", "gpu/design.md"),
        ("GPUs: tuning", "gpu/tuning.md"),
        ("GPUs: testing", "gpu/testing.md"),
        ("Operator records", "operators.md"),
    ]),
    ("What changed", [
        ("Changelog", "CHANGELOG.md"),
        ("Deprecations", "deprecations.md"),
    ]),
]


def complete(pages):
    """The navigation with those of `pages` that exist, and with all of them."""
    def there(items):
        found = [(title, where if isinstance(where, str) else there(where)) for title, where in items]
        return [(title, where) for title, where in found if where and (not isinstance(where, str) or where in pages or where.endswith("/"))]

    listed = set(paths())
    more = [(page.removesuffix(".md"), page) for page in sorted(pages) if page not in listed]
    return there(NAVIGATION) + ([("More", more)] if more else [])


def paths(items=None):
    """All paths of the navigation."""
    for _, where in NAVIGATION if items is None else items:
        if isinstance(where, str):
            yield where
        else:
            yield from paths(where)

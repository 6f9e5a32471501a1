"""The page of environment variables by task, made from the library's table. A task names groups of
the table and words in the variables' names, never variables, so that new ones find their place."""
import re
import textwrap

from mxnet import env

# Title, what the reader wants, groups of the table, and a pattern for names of other groups.
TASKS = [
    ("Use the cores of a processor", "The threads of operators, and of the engine beside them.", ("threads",), r"^OMP_"),
    ("Make networks faster on the CPU", "What the compiler and the kernels may do.", ("onednn and cpu", "execution"), r"PLAN_|SUBGRAPH"),
    ("Use less memory", "Where results share memory, and what is computed again instead of kept.",
     ("memory", "memory optimisation"), r"MIRROR|INPLACE"),
    ("Choose how memory is kept", "The pools that keep freed memory for the next request.", ("memory pools",), r"MEM_POOL"),
    ("Use GPUs", "All that is about CUDA, cuDNN and the memory of devices.", ("cuda and cudnn",), r"GPU|CUDA|CUDNN|NCCL|NVRTC"),
    ("Train on several devices or machines", "How gradients travel.", ("communication",), r"KVSTORE|^DMLC_|_MPI_"),
    ("Find an error", "Which engine runs, what is checked, and what is printed.", ("logging", "engine"), r"CHECK|LOG|VERBOSE|DEBUG"),
    ("See what takes the time", "The profiler without a change to the program.", ("profiler",), r"PROFILE"),
    ("Load data and files", "Where files are kept, and the processes that read them.", ("gluon", "library"), r"_MP_|OPENCV|REPO|HOME"),
    ("Set up the Python package", "How Python reaches the library.", ("python binding", "resources"), r"$^"),
]


def of_task(groups, pattern, rows):
    """The rows of the table that belong to a task."""
    return [row for row in rows if row["group"] in groups or re.search(pattern, row["name"])]


def page():
    """Markdown of the page."""
    rows = env.list()
    lines = ["# Environment variables by task", "", "This page is made from the library's own table, so it is complete.",
             "[The table](env_var.md) has the same variables by group, with all that each accepts.",
             "[Tuning by variables](tutorials/tuning.md) shows how to find out whether one helps.", "",
             "A variable may stand below several tasks. *start* marks those that are read once, when the", "library is loaded.", ""]
    for title, purpose, groups, pattern in TASKS:
        lines += [f"## {title}", "", purpose, ""]
        for row in of_task(groups, pattern, rows):
            notes = [f"default `{row['default']}`"] * bool(row["default"]) + ["*start*"] * row["fixed_after_start"]
            text = f"- `{row['name']}`" + (f" ({', '.join(notes)})" if notes else "") + f": {env._plain(row['help'])}"
            lines += textwrap.wrap(text, 100, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        lines.append("")
    return "\n".join(lines)

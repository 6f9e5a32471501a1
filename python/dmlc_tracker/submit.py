"""The command ``python -m dmlc_tracker.submit``."""
import importlib

from . import opts


def submit(args):
    """Starts a job on the cluster that its arguments name."""
    importlib.import_module(f".{args.cluster}", __package__).submit(args)


def main():
    """Starts a job from the program's arguments."""
    submit(opts.get_opts())


if __name__ == "__main__":
    main()

"""Loggers with one-letter level marks, coloured on a terminal."""
import logging
import sys
import warnings

__all__ = ["getLogger", "get_logger", "CRITICAL", "ERROR", "WARNING", "INFO", "DEBUG", "NOTSET"]

CRITICAL = logging.CRITICAL
ERROR = logging.ERROR
WARNING = logging.WARNING
INFO = logging.INFO
DEBUG = logging.DEBUG
NOTSET = logging.NOTSET

_COLOURS = ((WARNING, "\x1b[31m"), (INFO, "\x1b[32m"), (NOTSET, "\x1b[34m"))


class _Formatter(logging.Formatter):
    """``W1120 10:15:00 1234 file.py:12] text``"""

    def __init__(self, coloured):
        super().__init__(datefmt="%m%d %H:%M:%S")
        self._coloured = coloured

    def format(self, record):
        head = f"{record.levelname[:1]}{self.formatTime(record, self.datefmt)} {record.process} " \
               f"{record.filename}:{record.lineno}]"
        if self._coloured:
            colour = next(c for level, c in _COLOURS if record.levelno >= level)
            head = f"{colour}{head}\x1b[0m"
        text = f"{head} {record.getMessage()}"
        if record.exc_info:
            text += "\n" + self.formatException(record.exc_info)
        return text


def get_logger(name=None, filename=None, filemode=None, level=WARNING):
    """A logger that writes to `filename` (the texts alone), or to the standard error stream.

    Parameters
    ----------
    name : str, optional
        Name of the logger; None is the root logger, which keeps the handlers that it has.
    filename : str, optional
        File to write to.
    filemode : str, optional
        How to open it, ``'a'`` by default.
    level : int
        Lowest level that is written. Applied when the logger is set up for the first time.

    Examples
    --------
    >>> import logging
    >>> logger = mx.log.get_logger('training', level=logging.INFO)
    >>> logger.name, logging.getLevelName(logger.level)
    ('training', 'INFO')
    """
    logger = logging.getLogger(name)
    if name is None or getattr(logger, "_mxnet_set_up", False):
        return logger
    logger._mxnet_set_up = True
    if filename:
        handler = logging.FileHandler(filename, filemode or "a")    # the texts alone, as in 1.x
    else:
        handler = logging.StreamHandler()
        handler.setFormatter(_Formatter(coloured=getattr(sys.stderr, "isatty", lambda: False)()))
    logger.addHandler(handler)
    logger.setLevel(level)
    return logger


def getLogger(name=None, filename=None, filemode=None, level=WARNING):
    """Older spelling of :func:`get_logger`.

    >>> mx.log.getLogger('training').name
    'training'
    """
    warnings.warn("getLogger is deprecated, Use get_logger instead.", DeprecationWarning, stacklevel=2)
    return get_logger(name, filename, filemode, level)

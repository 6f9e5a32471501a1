"""Published files of vectors, under the names that 1.9.1 has for them."""
import os

UNKNOWN_IDX = 0
APACHE_REPO_URL = "https://apache-mxnet.s3-accelerate.dualstack.amazonaws.com/"


def _published(name, kind):
    """{file name: SHA-1} of the published files ('file') or archives ('archive') of a class."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "published.txt")
    with open(path, encoding="utf-8") as lines:
        rows = [line.split() for line in lines if not line.startswith("#")]
    return {row[2]: row[3] for row in rows if row[:2] == [name, kind]}


# The first two are the wrong way round, as they were: scripts may read them.
GLOVE_PRETRAINED_FILE_SHA1 = _published("GloVe", "archive")
GLOVE_PRETRAINED_ARCHIVE_SHA1 = _published("GloVe", "file")
FAST_TEXT_ARCHIVE_SHA1 = _published("FastText", "archive")
FAST_TEXT_FILE_SHA1 = _published("FastText", "file")

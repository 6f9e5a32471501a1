"""The sources that become part of the libraries, as cmake/ThirdParty.cmake lists them."""
import os
import re
import tarfile

import sysroot

_LIST = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "cmake", "ThirdParty.cmake")


def rows():
    """(name, version, URL, SHA-256) of each archive."""
    with open(_LIST, encoding="utf-8") as file:
        found = re.findall(r'"(([a-z-]+)_([0-9.]+)\.orig\.tar\.gz)\|([^|"]+)\|([0-9a-f]{64})"', file.read())
    return [(name, version, f"http://deb.debian.org/debian/pool/main/{pool}/{archive}", sha256)
            for archive, name, version, pool, sha256 in found]


def archives():
    """(URL, SHA-256) of each archive."""
    return [(url, sha256) for _, _, url, sha256 in rows()]


def read(name, member, folder):
    """A file of the archive of `name`, which is fetched to `folder` unless it is there."""
    url, sha256 = next((url, sha256) for row, _, url, sha256 in rows() if row == name)
    with tarfile.open(sysroot.fetch(url, sha256, folder)) as archive:
        return archive.extractfile(next(entry for entry in archive if entry.name.partition("/")[2] == member)).read()

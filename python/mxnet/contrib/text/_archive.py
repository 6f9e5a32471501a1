"""Members of archives."""
import os
import shutil
import tarfile
import zipfile

from ..._files.whole_files import NewFile

__all__ = ["extract_member"]


def extract_member(archive, name, path):
    """Write the member of an archive (zip, or tar with any compression) whose last part is `name`
    to `path`, all of it or nothing.

    Raises
    ------
    ValueError
        if `archive` is no such file, or has no such member.
    """
    if zipfile.is_zipfile(archive):
        opened = zipfile.ZipFile(archive)
    elif tarfile.is_tarfile(archive):
        opened = tarfile.open(archive)
    else:
        raise ValueError(f"[text] {archive} is no zip or tar file")
    with opened:
        is_zip = isinstance(opened, zipfile.ZipFile)
        members = opened.namelist() if is_zip else [member.name for member in opened.getmembers() if member.isfile()]
        found = [member for member in members if os.path.basename(member) == name]
        if not found:
            raise ValueError(f"[text] {archive} has no member {name}")
        with opened.open(found[0]) if is_zip else opened.extractfile(found[0]) as source, NewFile(path) as out:
            shutil.copyfileobj(source, out, 1 << 20)

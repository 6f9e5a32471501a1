"""Files from a network: attempts, resuming, checks and progress."""
import http.client
import os
import sys
import time
import urllib.error

from ..base import _MXOSError

__all__ = ['fetch']

_SILENCE = 60          # seconds without a byte after which a connection counts as broken
_BLOCK = 1 << 18
_WAITS = (0.1, 0.5, 2, 5)    # seconds before the second attempt and the following ones


class _PartialFile:
    """Where the bytes arrive. Under a checksum the file has a fixed name and outlives an
    interruption, so that the next call goes on behind its end; two processes do not share it."""

    def __init__(self, target, keep):
        import uuid
        self.keep = False
        if keep:
            self.path = target + '.part'
            self.file = open(self.path, 'ab')
            self.keep = self._lock()
            if self.keep:
                return
            self.file.close()
        self.path = f'{target}.{uuid.uuid4().hex}'
        self.file = open(self.path, 'ab')

    def _lock(self):
        import fcntl
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # another process may have finished and renamed it meanwhile
            return os.stat(self.path).st_ino == os.fstat(self.file.fileno()).st_ino
        except OSError:
            return False

    def size(self):
        return os.fstat(self.file.fileno()).st_size

    def clear(self):
        self.file.truncate(0)

    def close(self, finished):
        if not finished and not (self.keep and self.size()):
            os.unlink(self.path)
        self.file.close()


def _progress(total, at, name):
    """A bar on a terminal, if tqdm is there."""
    if sys.stderr.isatty():
        try:
            from tqdm import tqdm
            return tqdm(total=total, initial=at, desc=name, unit='B', unit_scale=True, unit_divisor=1024, leave=False)
        except ImportError:
            pass
    return None


def _context(url, verify_ssl):
    if not url.startswith('https:') or verify_ssl:
        return None
    import ssl
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _attempt(url, part, verify_ssl, seen):
    """Bring `part` to its whole size, from where it is if the server can. `seen`: what it said of
    the version of the file."""
    import urllib.request
    at = part.size()
    request = urllib.request.Request(url, headers={'User-Agent': 'mxnet'})
    if at and url.startswith('http'):
        request.add_header('Range', f'bytes={at}-')
        if seen.get('version'):
            request.add_header('If-Range', seen['version'])
    with urllib.request.urlopen(request, context=_context(url, verify_ssl), timeout=_SILENCE) as response:
        if at and not response.headers.get('Content-Range', '').startswith(f'bytes {at}-'):
            part.clear()
            at = 0
        version = response.headers.get('ETag') or response.headers.get('Last-Modified')
        seen['version'] = version if version and not version.startswith('W/') else None
        length = response.headers.get('Content-Length')
        total = at + int(length) if length is not None else None
        bar = _progress(total, at, url.split('/')[-1])
        try:
            while block := response.read(_BLOCK):
                part.file.write(block)
                at += len(block)
                if bar is not None:
                    bar.update(len(block))
        finally:
            part.file.flush()
            if bar is not None:
                bar.close()
    if total is not None and at != total:
        raise OSError(f'the connection ended after {at} of {total} bytes')


def _is_final(error):
    """Whether another attempt would end as this one did."""
    if isinstance(error, urllib.error.HTTPError):
        return 400 <= error.code < 500 and error.code not in (408, 416, 425, 429)
    return isinstance(error, urllib.error.URLError) and 'unknown url type' in str(error.reason)


def _reason(error):
    reason = error.reason if isinstance(error, urllib.error.URLError) and not isinstance(error, urllib.error.HTTPError) else error
    return str(reason) or type(reason).__name__


def fetch(url, target, matches, attempts, verify_ssl, advice):
    """Put what `url` (http, https or file) holds under the name `target`, in one step.

    `matches(path)` says whether the bytes are the right ones; None: whatever arrives is.
    OSError, with `advice`, after so many attempts.
    """
    print(f'Downloading {target} from {url}...', flush=True)
    part, seen, done = _PartialFile(target, matches is not None), {}, False
    try:
        for attempt in range(attempts):
            try:
                _attempt(url, part, verify_ssl, seen)
                if matches is None or matches(part.path):
                    os.replace(part.path, target)
                    done = True
                    return
                part.clear()
                raise OSError('what the server sent does not have the expected SHA-1')
            except (OSError, http.client.HTTPException, ValueError) as error:
                if isinstance(error, urllib.error.HTTPError) and error.code == 416:
                    part.clear()        # there is nothing behind these bytes, so they were wrong
                if attempt + 1 == attempts or _is_final(error):
                    tries = f'{attempt + 1} attempts' if attempt else '1 attempt'
                    raise _MXOSError(f'[gluon.download] {url} could not be fetched ({tries}): {_reason(error)}. {advice}') from error
                print(f'{url}: {_reason(error)}; {attempts - attempt - 1} attempts left', flush=True)
                time.sleep(_WAITS[min(attempt, len(_WAITS) - 1)])
    finally:
        part.close(done)

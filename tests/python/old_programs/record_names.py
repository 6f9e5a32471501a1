"""Writes python/mxnet/_startup/names_1_9_1.txt: where names of MXNet 1.9.1 come from that a module
here does not define, and what is not here yet.

    python record_names.py origins STAR FILE          under MXNet 1.9.1: origins of the names in star_exports_1.9.1.txt, as JSON
    python record_names.py names FILE                 with this package, after modules or names were added: where names come from
    python record_names.py waiting FILE STAR API CLIENTS   then, what is not here yet
"""
import importlib
import json
import os
import sys
import types

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = os.path.join(HERE, '..', '..', 'python', 'mxnet', '_startup', 'names_1_9_1.txt')
MARK = '# -- generated --\n'
HOMES = ['mxnet.base', 'ctypes', 'math', 'logging', 'mxnet.util', 'mxnet.context', 'mxnet.ndarray',
         'mxnet.symbol.symbol', 'mxnet.symbol', 'mxnet.registry', 'numpy',
         'mxnet.ndarray._internal']
RENAMED = {'_ctypes': 'ctypes', '_thread:allocate_lock': 'threading:Lock',
           'multiprocessing.process': 'multiprocessing',
           'mxnet._ctypes.ndarray': 'mxnet.ndarray._internal',
           'ctypes:c_void_p': 'ctypes:c_void_p', '/mxnet.contrib.symbol': '/mxnet.symbol.contrib',
           '/mxnet.contrib.ndarray': '/mxnet.ndarray.contrib',
           '/mxnet.symbol.numpy._symbol': '/mxnet.symbol.numpy'}      # where its functions are
# Names whose origin can't be told from the object: modules that may be missing, and what this
# package keeps elsewhere.
KNOWN = {'ss': '?scipy.stats', 'h5py': '?h5py', 'cv2': '?cv2', 'requests': '?requests',
         'NDabs': 'mxnet.ndarray:abs', 'pi': 'math', 'BatchEndParam': 'mxnet.model',
         'get_indexing_dispatch_code': 'mxnet.ndarray._index_forms', 'get_oshape_of_gather_nd_op': 'mxnet.ndarray._index_forms',
         'indexing_key_expand_implicit_axes': 'mxnet.ndarray._index_forms',
         '_DTYPE_MX_TO_NP': 'mxnet.ndarray._index_forms',
         '_DTYPE_NP_TO_MX': 'mxnet.ndarray._index_forms',
         'BaseConvRNNCell': 'mxnet.rnn.conv_cell', 'ConvGRUCell': 'mxnet.rnn.conv_cell',
         'ConvLSTMCell': 'mxnet.rnn.conv_cell', 'ConvRNNCell': 'mxnet.rnn.conv_cell',
         'copyMakeBorder': 'mxnet.image.image', 'array': None}


def star_names(path):
    with open(path) as lines:
        return {head: names.split() for head, _, names in (line.rstrip('\n').partition(':') for line in lines)}


def origins(star, out):
    found = {}
    for module_name, names in star_names(star).items():
        try:
            module = importlib.import_module(module_name)
        except ImportError:
            continue
        found[module_name] = {}
        for name in names:
            name = name.rstrip('/')
            value = getattr(module, name, None)
            home, known_as = getattr(value, '__module__', None), getattr(value, '__name__', None)
            if isinstance(value, types.ModuleType):
                origin = '/' + value.__name__
            elif home == module_name and known_as == name:
                origin = ''
            elif home and known_as and getattr(sys.modules.get(home), known_as, None) is value:
                origin = home + ('' if known_as == name else ':' + known_as)
            else:
                origin = (next((h for h in HOMES if h != module_name and h in sys.modules
                                and name in vars(sys.modules[h])
                                and getattr(sys.modules[h], name) is value), ''))
            found[module_name][name] = origin
    with open(out, 'w') as file:
        json.dump(found, file, indent=0, sort_keys=True)


def resolves(origin, name):
    try:
        if origin.startswith('/'):
            return importlib.import_module(origin[1:]) is not None
        if origin.startswith('?'):
            return True
        home, _, other = origin.partition(':')
        getattr(importlib.import_module(home), other or name)
        return True
    except (ImportError, AttributeError):
        return False


def exported(module_name):
    space = {}
    exec('from %s import *' % module_name, space)
    return space


def reaches(path):
    """Whether a dotted name can be reached by attributes and imports."""
    value, so_far = importlib.import_module('mxnet'), 'mxnet'
    for part in path.split('.')[1:]:
        so_far += '.' + part
        try:
            value = getattr(value, part)
        except AttributeError:
            try:
                value = importlib.import_module(so_far)
            except ImportError:
                return False
    return True


def extra_names(found):
    """{module: entries} for the names that `import *` of an existing module lacks, and those that
    nothing here gives: (module, name)."""
    lines, waiting = {}, set()
    for module_name, names in sorted(found.items()):
        try:
            module = importlib.import_module(module_name)
        except ImportError:
            waiting.add(tuple(module_name.rpartition('.')[::2]))
            waiting.update((module_name, name) for name in names)
            continue
        own, entries = exported(module_name), []
        for name, origin in sorted(names.items()):
            if name in own:
                continue
            if name in vars(module):
                entries.append(name)
                continue
            origin = RENAMED.get(origin, origin)
            if KNOWN.get(name):
                origin = KNOWN[name]
            if origin in ('', module_name) or origin == module_name + '.op':
                origin = '' if hasattr(module, name) else None
            elif not resolves(origin, name):
                origin = next((h for h in HOMES if resolves(h, name)), None) if not origin.startswith('/') else None
            if origin is None:
                waiting.add((module_name, name))
            else:
                entries.append(name + ('=' + origin if origin else ''))
        if entries:
            lines[module_name] = entries
    return lines, waiting


def aliases():
    from mxnet._startup import names as _names
    return _names._aliases


def rewrite(parts):
    """Replaces the generated parts; a part is (how its lines are told, new lines)."""
    with open(TABLE) as file:
        head, _, generated = file.read().partition(MARK)
    lines = generated.splitlines(True)
    for belongs, new in parts:
        lines = [line for line in lines if not belongs(line)] + new
    with open(TABLE, 'w') as file:
        file.write(head + MARK + ''.join(lines))


def is_waiting_line(line):
    return line.partition(' ')[2].startswith('!')


def names(origins_file):
    rewrite([(lambda line: True, [])])      # what follows asks the package without the generated part
    with open(origins_file) as file:
        found = json.load(file)
    targets, whole = aliases(), {}
    for module, entries in found.items():
        whole.setdefault(targets.get(module, module), {}).update(entries)
    lines, _ = extra_names(whole)
    rewrite([(lambda line: True, ['%s: %s\n' % (module, ' '.join(entries)) for module, entries in sorted(lines.items())])])


def waiting_names(origins_file, star, api, clients):
    """(module, name) of everything in 1.9.1 that can't be reached here."""
    with open(origins_file) as file:
        _, waiting = extra_names(json.load(file))
    paths = ['mxnet.' + name[:-1] for name in star_names(star)['mxnet'] if name.endswith('/')]
    with open(api) as file:
        paths += [line.split('(')[0].split(' ')[0].strip() for line in file if line.startswith('mxnet.')]
    with open(clients) as file:
        paths += [line.split('\t')[0] for line in file if not line.startswith('#')]
    waiting.update(tuple(path.rpartition('.')[::2]) for path in paths if not reaches(path))
    for module in sorted({m for m, _ in waiting}):      # a module that is waited for is a missing name of its parent
        while '.' in module and not reaches(module):
            parent, _, name = module.rpartition('.')
            waiting.add((parent, name))
            module = parent
    short = {'nd': 'ndarray', 'sym': 'symbol', 'np': 'numpy', 'npx': 'numpy_extension', 'img': 'image', 'contrib.nd': 'ndarray.contrib'}
    full = set()
    for module, name in waiting:
        for key, value in short.items():
            if module == 'mxnet.' + key or module.startswith('mxnet.%s.' % key):
                module = 'mxnet.' + value + module[len('mxnet.' + key):]
        full.add((module, name))
    return {(module, name) for module, name in full if module not in aliases()}


def waiting(*files):
    by_module = {}
    rewrite([(is_waiting_line, [])])
    for module, name in waiting_names(*files):
        by_module.setdefault(module, set()).add(name)
    rewrite([(is_waiting_line, ['%s !%s\n' % (module, ' '.join(sorted(by_module[module]))) for module in sorted(by_module)])])


if __name__ == '__main__':
    {'origins': origins, 'names': names, 'waiting': waiting}[sys.argv[1]](*sys.argv[2:])

"""Published parameter files of the model zoo: fetched on first use, checked, kept below
MXNET_HOME."""
import os
import warnings
import zipfile

from ...base import _MXOSError
from ..utils import _data_dir, _get_repo_url, check_sha1, download

__all__ = ['get_model_file', 'purge', 'short_hash']

# SHA-1 of each published .params file. Its first eight digits are part of the file name.
_model_sha1 = {
    'alexnet': '44335d1f0046b328243b32a26a4fbd62d9057b45',
    'densenet121': 'f27dbf2dbd5ce9a80b102d89c7483342cd33cb31',
    'densenet161': 'b6c8a95717e3e761bd88d145f4d0a214aaa515dc',
    'densenet169': '2603f878403c6aa5a71a124c4a3307143d6820e9',
    'densenet201': '1cdbc116bc3a1b65832b18cf53e1cb8e7da017eb',
    'inceptionv3': 'ed47ec45a937b656fcc94dabde85495bbef5ba1f',
    'mobilenet0.25': '9f83e440996887baf91a6aff1cccc1c903a64274',
    'mobilenet0.5': '8e9d539cc66aa5efa71c4b6af983b936ab8701c3',
    'mobilenet0.75': '529b2c7f4934e6cb851155b22c96c9ab0a7c4dc2',
    'mobilenet1.0': '6b8c5106c730e8750bcd82ceb75220a3351157cd',
    'mobilenetv2_0.25': 'ae8f9392789b04822cbb1d98c27283fc5f8aa0a7',
    'mobilenetv2_0.5': 'aabd26cd335379fcb72ae6c8fac45a70eab11785',
    'mobilenetv2_0.75': 'e2be7b72a79fe4a750d1dd415afedf01c3ea818d',
    'mobilenetv2_1.0': '36da4ff1867abccd32b29592d79fc753bca5a215',
    'resnet101_v1': 'd988c13d6159779e907140a638c56f229634cb02',
    'resnet101_v2': '18e93e4f48947e002547f50eabbcc9c83e516aa6',
    'resnet152_v1': '671c637a14387ab9e2654eafd0d493d86b1c8579',
    'resnet152_v2': 'f2695542de38cf7e71ed58f02893d82bb409415e',
    'resnet18_v1': 'a0666292f0a30ff61f857b0b66efc0228eb6a54b',
    'resnet18_v2': 'a81db45fd7b7a2d12ab97cd88ef0a5ac48b8f657',
    'resnet34_v1': '48216ba99a8b1005d75c0f3a0c422301a0473233',
    'resnet34_v2': '9d6b80bbc35169de6b6edecffdd6047c56fdd322',
    'resnet50_v1': '0aee57f96768c0a2d5b23a6ec91eb08dfb0a45ce',
    'resnet50_v2': 'ecdde35339c1aadbec4f547857078e734a76fb49',
    'squeezenet1.0': '264ba4970a0cc87a4f15c96e25246a1307caf523',
    'squeezenet1.1': '33ba0f93753c83d86e1eb397f38a667eaf2e9376',
    'vgg11': 'dd221b160977f36a53f464cb54648d227c707a05',
    'vgg11_bn': 'ee79a8098a91fbe05b7a973fed2017a6117723a8',
    'vgg13': '6bc5de58a05a5e2e7f493e2d75a580d83efde38c',
    'vgg13_bn': '7d97a06c3c7a1aecc88b6e7385c2b373a249e95e',
    'vgg16': 'e660d4569ccb679ec68f1fd3cce07a387252a90a',
    'vgg16_bn': '7f01cf050d357127a73826045c245041b0df7363',
    'vgg19': 'ad2f660d101905472b83590b59708b71ea22b2e5',
    'vgg19_bn': 'f360b758e856f1074a85abd5fd873ed1d98297c3',
}


def short_hash(name):
    """The eight digits in the file name of a published model; ValueError when there is none by that
    name."""
    if name not in _model_sha1:
        raise ValueError(f'[gluon.model_zoo] no published parameters for {name!r}; one of {sorted(_model_sha1)} is accepted')
    return _model_sha1[name][:8]


def get_model_file(name, root=None):
    """Path of the published .params file of model `name` (as `get_model` names it).

    It is looked for in `root` (default MXNET_HOME/models), and otherwise fetched from
    MXNET_GLUON_REPO; ValueError when what arrives does not have the published SHA-1.
    """
    root = _data_dir('models') if root is None else os.path.expanduser(root)
    file_name = f'{name}-{short_hash(name)}'
    path = os.path.join(root, file_name + '.params')
    if os.path.exists(path):
        if check_sha1(path, _model_sha1[name]):
            return path
        warnings.warn(f'[gluon.model_zoo] {path} is not the published file (its SHA-1 differs from {_model_sha1[name]}); '
                      'it is fetched again', stacklevel=2)
    os.makedirs(root, exist_ok=True)
    import tempfile
    # Unpacked in a folder of its own and moved in one step: other processes never see half a file.
    with tempfile.TemporaryDirectory(dir=root) as folder:
        try:
            archive = download(f'{_get_repo_url()}gluon/models/{file_name}.zip', path=os.path.join(folder, file_name + '.zip'))
        except OSError as error:
            raise _MXOSError(f'[gluon.model_zoo] the parameters of {name!r} are not in {path}, and {_get_repo_url()} did not send them: '
                             f'{error.__cause__ or error}. Put the file there, or let MXNET_GLUON_REPO name a repository that can be '
                             'reached') from error
        try:
            with zipfile.ZipFile(archive) as packed:
                packed.extract(file_name + '.params', folder)
        except (zipfile.BadZipFile, KeyError) as error:
            raise ValueError(f'[gluon.model_zoo] what was fetched for {name!r} is no archive of {file_name}.params: {error}') from None
        unpacked = os.path.join(folder, file_name + '.params')
        if not check_sha1(unpacked, _model_sha1[name]):
            raise ValueError(f'[gluon.model_zoo] the file fetched for {name!r} does not have the SHA-1 {_model_sha1[name]}; '
                             'fetch it again, or set MXNET_GLUON_REPO to another repository')
        os.replace(unpacked, path)
    return path


def purge(root=None):
    """Delete all .params files in `root` (default MXNET_HOME/models)."""
    root = _data_dir('models') if root is None else os.path.expanduser(root)
    for entry in os.listdir(root) if os.path.isdir(root) else ():
        if entry.endswith('.params'):
            os.remove(os.path.join(root, entry))


def load_published(net, name, ctx=None, root=None):
    """Give `net` the published parameters of model `name`; returns `net`."""
    net.load_parameters(get_model_file(name, root=root), ctx=ctx)
    return net

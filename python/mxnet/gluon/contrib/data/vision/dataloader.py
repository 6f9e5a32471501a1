"""DataLoaders that read images from records and lists, augment them, and stack them."""
import logging
import random

import numpy as np

from ..... import ndarray as nd
from .....util import default_array
from ....block import Block
from ....data import DataLoader
from ....data.batchify import Stack
from ....data.vision import transforms
from ....data.vision.datasets import ImageListDataset, ImageRecordDataset
from ....nn import Sequential
from .transforms import bbox as boxes

__all__ = ['create_image_augment', 'ImageDataLoader', 'ImageBboxDataLoader']

_MEAN, _STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)     # of the images of ImageNet, 0 to 1
_LABEL_DTYPES = ('float32', 'float64', 'int32', 'int64')
_NO_BOX = -1    # fills rows of labels behind an image's boxes


def _check_dtype(function, dtype):
    name = dtype if isinstance(dtype, str) else np.dtype(dtype).name
    assert name in _LABEL_DTYPES, f'[{function}] dtype={name!r}, {name} label not supported; accepted are {", ".join(_LABEL_DTYPES)}'


def _three(function, name, value, usual):
    """Three numbers, or None."""
    if value is True:
        return usual
    if value is not None:
        assert isinstance(value, (tuple, list)), f'[{function}] {name}={value!r}; accepted are True, None, and tuples and lists'
    return value or None


def _colours(function, brightness, contrast, saturation, hue, pca_noise, rand_gray, mean, std, dtype):
    """Blocks that make planes of floats of an image and change its colours."""
    chain = []
    if brightness or contrast or saturation or hue:
        chain.append(transforms.RandomColorJitter(brightness, contrast, saturation, hue))
    if pca_noise > 0:
        chain.append(transforms.RandomLighting(pca_noise))
    if rand_gray > 0:
        chain.append(transforms.RandomGray(rand_gray))
    chain.append(transforms.ToTensor())
    mean, std = _three(function, 'mean', mean, _MEAN), _three(function, 'std', std, _STD)
    if mean is not None or std is not None:
        chain.append(transforms.Normalize(0.0 if mean is None else mean, 1.0 if std is None else std))
    return [*chain, transforms.Cast(dtype)]


def _method(inter_method):
    return random.randint(0, 4) if inter_method == 10 else inter_method


def create_image_augment(data_shape, resize=0, rand_crop=False, rand_resize=False, rand_mirror=False, mean=None, std=None, brightness=0,
                         contrast=0, saturation=0, hue=0, pca_noise=0, rand_gray=0, inter_method=2, dtype='float32'):
    """A block that makes (channels, height, width) of `dtype` of images (height, width, channels)
    of uint8: values 0 to 1, or what `mean` and `std` make of them.

    Parameters
    ----------
    data_shape : (channels, height, width) of the result
    resize : the image is resized to this size first, unless 0
    rand_crop, rand_resize : a crop at a random place, and of random size
    rand_mirror : left and right are swapped for half of the images
    mean, std : tuple, list, True or None
        What is subtracted and divided by, of values 0 to 1; True means those of ImageNet.
    brightness, contrast, saturation, hue, pca_noise : amounts of jitter
    rand_gray : probability of gray
    inter_method : 0 to 4; 9: by the sizes; 10: one that is drawn now

    Returns
    -------
    gluon.data.vision.transforms.Compose
    """
    size, method = (data_shape[2], data_shape[1]), _method(inter_method)
    chain = [transforms.Resize(resize, interpolation=2 if method == 9 else method)] if resize > 0 else []
    if rand_resize:
        assert rand_crop, '[create_image_augment] rand_resize=True needs rand_crop=True'
        chain.append(transforms.RandomResizedCrop(size, interpolation=method))
    elif rand_crop:
        chain.append(transforms.RandomCrop(size, interpolation=2 if method == 9 else method))
    else:
        chain.append(transforms.CenterCrop(size, interpolation=method))
    if rand_mirror:
        chain.append(transforms.RandomFlipLeftRight())
    chain.append(transforms.Cast())
    return transforms.Compose(chain + _colours('create_image_augment', brightness, contrast, saturation, hue, pca_noise, rand_gray, mean,
                                               std, dtype))


def create_bbox_augment(data_shape, rand_crop=0, rand_pad=0, rand_gray=0, rand_mirror=False, mean=None, std=None, brightness=0, contrast=0,
                        saturation=0, pca_noise=0, hue=0, inter_method=2, max_aspect_ratio=2, area_range=(0.3, 3.0), max_attempts=50,
                        pad_val=(127, 127, 127), dtype='float32'):
    """As `create_image_augment`, for images with boxes; a block that is called with both.

    Parameters
    ----------
    rand_crop, rand_pad : probabilities of `ImageBboxRandomCropWithConstraints` and
        `ImageBboxRandomExpand`
    max_aspect_ratio, max_attempts : of crops
    area_range : the least scale of crops, and the largest ratio of padding
    pad_val : the values around a padded image
    """
    chain = []
    if rand_crop > 0:
        chain.append(boxes.ImageBboxRandomCropWithConstraints(rand_crop, min_scale=area_range[0], max_scale=min(1.0, area_range[1]),
                                                              max_aspect_ratio=max_aspect_ratio, max_trial=max_attempts))
    if rand_mirror:
        chain.append(boxes.ImageBboxRandomFlipLeftRight(0.5))
    if rand_pad > 0:
        chain.append(boxes.ImageBboxRandomExpand(rand_pad, max_ratio=area_range[1], fill=pad_val))
    chain.append(boxes.ImageBboxResize(data_shape[2], data_shape[1], interp=_method(inter_method)))
    colours = transforms.Compose(_colours('create_bbox_augment', brightness, contrast, saturation, hue, pca_noise, rand_gray, mean, std,
                                          dtype))
    return _WithBoxes([*chain, colours])


class _WithBoxes(Sequential):
    """Blocks one after the other. Those of boxes change both; others change the image."""

    def __init__(self, blocks):
        super().__init__()
        self.add(*blocks)

    def forward(self, img, bbox):
        for block in self._children.values():
            if type(block).__module__ == boxes.bbox.__name__:
                img, bbox = block(img, bbox)
            else:
                img = block(img)
        return img, bbox


class BboxLabelTransform(Block):
    """Boxes (boxes, 5 or more) of the numbers that records and lists have for an image: how many
    numbers the header has, how many a box has, the rest of the header, then the boxes, each of them
    class, left, top, right, bottom, and whatever else belongs to it. The class comes behind the
    corners then. With `coord_normalized` corners are parts of the width and the height, and become
    pixels."""

    def __init__(self, coord_normalized=True):
        super().__init__()
        self._coord_normalized = coord_normalized

    def forward(self, img, label):
        numbers = (label.asnumpy() if isinstance(label, nd.NDArray) else np.atleast_1d(np.asarray(label, dtype=np.float32))).ravel()
        header, width = (int(numbers[0]), int(numbers[1])) if numbers.size > 1 and np.isfinite(numbers[:2]).all() else (0, 0)
        if header < 2 or width < 5 or numbers.size < header or (numbers.size - header) % width:
            raise ValueError(f'[ImageBboxDataLoader] Broken label of size {numbers.size}, cannot reshape into (N, {width}) if header '
                             f'length {header} is excluded; accepted are headers of 2 or more and boxes of 5 or more numbers')
        found = numbers[header:].reshape(-1, width)
        found = np.concatenate([found[:, 1:5], found[:, :1], found[:, 5:]], axis=1)
        if self._coord_normalized:
            found[:, [0, 2]] *= img.shape[-2]
            found[:, [1, 3]] *= img.shape[-3]
        return img, found


def _chain(function, aug_list):
    """One callable of a Block or a list of them."""
    given = aug_list if isinstance(aug_list, list) else [aug_list]
    for block in given:
        if not isinstance(block, Block):
            raise ValueError(f'[{function}] aug_list has a {type(block).__name__}; aug_list must be a list of Blocks or Block')
    return given


def _read(function, path_imgrec, path_imglist, path_root, imglist, num_parts, part_index):
    """The dataset of images and their labels."""
    assert path_imgrec or path_imglist or isinstance(imglist, list), (
        f'[{function}] no images given; accepted are path_imgrec, path_imglist and imglist (a list)')
    if path_imgrec:
        logging.info('%s: loading recordio %s...', function, path_imgrec)
        found = ImageRecordDataset(path_imgrec, flag=1)
    else:
        found = ImageListDataset(path_root, path_imglist or imglist, flag=1)
    return found.shard(num_parts, part_index) if num_parts > 1 else found


class _Loader:
    """What both loaders are: batches of a DataLoader."""

    def _load(self, dataset, batchify_fn, batch_size, shuffle, sampler, last_batch, batch_sampler, num_workers, pin_memory, pin_device_id,
              prefetch, thread_pool, timeout):
        self._iter = DataLoader(dataset, batch_size=batch_size, shuffle=shuffle, sampler=sampler, last_batch=last_batch,
                                batch_sampler=batch_sampler, batchify_fn=batchify_fn, num_workers=num_workers, pin_memory=pin_memory,
                                pin_device_id=pin_device_id, prefetch=prefetch, thread_pool=thread_pool, timeout=timeout)

    def __iter__(self):
        return iter(self._iter)

    def __len__(self):
        return len(self._iter)


class ImageDataLoader(_Loader):
    """Batches of images and labels.

    Parameters
    ----------
    batch_size : int
    data_shape : (3, height, width)
    path_imgrec : str, optional
        A record file that has its index beside it.
    path_imglist : str, optional
        A list of files in `path_root`: a number, labels and a path on each line, with tabs between.
    imglist : list of list, optional
        The same as lists: labels and a path, or a list of labels and a path.
    path_root : str
    part_index, num_parts : int
        Read part `part_index` of `num_parts`.
    aug_list : Block or list of Block, optional
        Default: ``create_image_augment(data_shape, **kwargs)``.
    dtype : {'float32', 'float64', 'int32', 'int64'}
        Of the images that the default makes.
    try_nopython
        Accepted; there is one way to load.
    **kwargs
        For `create_image_augment`.

    Other arguments are those of `gluon.data.DataLoader`.
    """

    def __init__(self, batch_size, data_shape, path_imgrec=None, path_imglist=None, path_root='.', part_index=0, num_parts=1, aug_list=None,
                 imglist=None, dtype='float32', shuffle=False, sampler=None, last_batch=None, batch_sampler=None, batchify_fn=None,
                 num_workers=0, pin_memory=False, pin_device_id=0, prefetch=None, thread_pool=False, timeout=120, try_nopython=None,
                 **kwargs):
        name = type(self).__name__
        _check_dtype(name, dtype)
        dataset = _read(name, path_imgrec, path_imglist, path_root, imglist, num_parts, part_index)
        given = [create_image_augment(data_shape, dtype=dtype, **kwargs)] if aug_list is None else _chain(name, aug_list)
        for block in given:
            dataset = dataset.transform_first(block)
        self._load(dataset, batchify_fn, batch_size, shuffle, sampler, last_batch, batch_sampler, num_workers, pin_memory, pin_device_id,
                   prefetch, thread_pool, timeout)


class _StackAndPad:
    """Images stacked; boxes stacked, with rows of -1 where an image has fewer than others."""

    def __init__(self):
        self._stack = Stack()

    def __call__(self, samples):
        labels = [np.asarray(label.asnumpy() if isinstance(label, nd.NDArray) else label) for _, label in samples]
        largest = (max(sizes) for sizes in zip(*(label.shape for label in labels)))
        together = np.full((len(labels), *largest), _NO_BOX, dtype=labels[0].dtype)
        for row, label in zip(together, labels):
            row[tuple(slice(size) for size in label.shape)] = label
        return self._stack([img for img, _ in samples]), default_array(together, dtype=together.dtype)


class ImageBboxDataLoader(_Loader):
    """Batches of images and of their boxes, (images, boxes, 5 or more) of left, top, right, bottom,
    class, and whatever else belongs to a box. Corners are in pixels. Rows behind the last box of an
    image are filled with -1.

    The numbers of an image in a record or a list are those of `mx.image.ImageDetIter`. Arguments
    are those of `ImageDataLoader`, and:

    Parameters
    ----------
    coord_normalized : bool
        Corners are parts of the width and the height, and not pixels, in records and lists.
    aug_list : Block or list of Block, optional
        Called with image and boxes. Default: ``create_bbox_augment(data_shape, **kwargs)``.
    """

    def __init__(self, batch_size, data_shape, path_imgrec=None, path_imglist=None, path_root='.', part_index=0, num_parts=1, aug_list=None,
                 imglist=None, coord_normalized=True, dtype='float32', shuffle=False, sampler=None, last_batch=None, batch_sampler=None,
                 batchify_fn=None, num_workers=0, pin_memory=False, pin_device_id=0, prefetch=None, thread_pool=False, timeout=120,
                 try_nopython=None, **kwargs):
        name = type(self).__name__
        _check_dtype(name, dtype)
        dataset = _read(name, path_imgrec, path_imglist, path_root, imglist, num_parts, part_index)
        dataset = dataset.transform(BboxLabelTransform(coord_normalized))
        given = [create_bbox_augment(data_shape, dtype=dtype, **kwargs)] if aug_list is None else _chain(name, aug_list)
        for block in given:
            dataset = dataset.transform(block)
        self._load(dataset, batchify_fn or _StackAndPad(), batch_size, shuffle, sampler, last_batch, batch_sampler, num_workers, pin_memory,
                   pin_device_id, prefetch, thread_pool, timeout)

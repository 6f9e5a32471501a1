"""A batch of a dataset's samples, wherever it is made: in this process, in a worker or in a
thread."""

__all__ = ['make_batch']


def make_batch(dataset, batchify_fn, indices):
    """The samples with these indices, batched. StopIteration of the dataset or of `batchify_fn`
    becomes an error, as in a generator: it would end the epoch."""
    samples, batched = [], False
    index = None
    try:
        for index in indices:
            samples.append(dataset[index])
        batched = True
        return batchify_fn(samples)
    except StopIteration as error:
        source = f'batchify_fn, for the samples {list(indices)!r},' if batched else f'the dataset, for index {index!r},'
        raise RuntimeError(f'[DataLoader] {source} raised StopIteration; accepted: a sample, or another error') from error

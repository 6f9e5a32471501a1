"""What random graphs are made of."""

OPS = {}


def op(weight=1, since=7):
    def reg(f):
        OPS[f.__name__] = (f, weight, since)
        return f

    return reg

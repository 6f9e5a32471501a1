"""A reader of pickles that runs no code: it builds plain values, and what a table names.

A pickle is a program for a stack machine whose instructions may import and call anything. Here it
can build numbers, texts, lists, tuples, sets and dictionaries. Names are looked up in a table of
the caller and nowhere else, nothing is imported, and no attribute is set.

Nothing recurses, whatever the nesting. Memory is in proportion to the pickle.
"""
import re
import struct

__all__ = ["Forbidden", "Known", "PickleReader", "Refused", "brief"]

# kind(*arguments) with a state {key: of_bytes(content)}; all but the content stood there before.
_OBJECT = re.compile(rb"h(.)h(.)R\x94}\x94h(.)h(.)", re.DOTALL)
_OBJECT_HEAD = 12           # bytes of that
_OBJECT_END = b"\x94\x85\x94R\x94sb"
_LONGEST_NUMBER = 512       # bytes of one integer
_HASHED = (str, int, float, bytes, bool, type(None))


def brief(value):
    """A value in a message: short, and without going into what it holds, which may have no end."""
    return repr(value)[:80] if isinstance(value, _HASHED) else f"a {type(value).__name__}"


class Refused(ValueError):
    """A pickle that is damaged, or holds what is not accepted; `at` is the byte."""

    def __init__(self, what, at):
        super().__init__(f"{what} (byte {at} of the pickle)")
        self.at = at


class Forbidden(Refused):
    """A pickle that names something else than what the table has; `name` is that."""

    def __init__(self, name, where, at):
        super().__init__(f"the pickle names {name!r}{where}", at)
        self.name, self.where = name, where


class Known:
    """What stands for a name of the table on the stack: `call` builds a value from the arguments
    that a pickle gives; None if the name is a value that is not called."""

    __slots__ = ("call", "name", "value")

    def __init__(self, name, call=None, value=None):
        self.name, self.call, self.value = name, call, value

    def __repr__(self):
        return f"<{self.name}>"


class PickleReader:
    """Reads one pickle.

    Parameters
    ----------
    data : bytes-like
    at : int
        Where it begins.
    find : callable
        ``find(name)`` gives a :class:`Known`, or None, for ``"module.name"``.
    persistent : callable
        ``persistent(value)`` gives what stands outside of the pickle under that value.
    build : callable, optional
        ``build(object, state)`` gives an object that a :class:`Known` made the state that follows
        it, and returns whether it did.

    `at` is behind the pickle when `read` has returned.
    """

    def __init__(self, data, find, persistent, at=0, build=None):
        self.data, self.at, self.end = data, at, len(data)
        self._find, self._persistent, self._give_state = find, persistent, build
        self._begin = at
        self._stack, self._frames, self._memo = [], [], {}
        self._heads = {}        # of objects that stood there before (_parts_of); None: places may be taken again

    def read(self):
        """The value. Refused for all that is wrong, also of what the table's functions raise."""
        try:
            return self._read()
        except Refused:
            raise
        except (ValueError, TypeError, IndexError, KeyError, OverflowError, struct.error, UnicodeError, AttributeError,
                RecursionError) as error:
            raise self._bad(f"{error}" if isinstance(error, ValueError) else f"{type(error).__name__}: {error}") from error

    def _read(self):
        """Instructions are in _ACTIONS. Those that files of many arrays mostly consist of are here
        as well, where nothing is wrong with them: a call takes longer than they do."""
        actions, data, end, memo = _ACTIONS, self.data, self.end, self._memo
        at, stack, give_state = self.at, self._stack, self._give_state
        while True:
            self._begin = at
            code = data[at] if at < end else self._take(1)[0]
            at += 1
            if code == 0x94 and stack:                                                      # MEMOIZE
                memo[len(memo)] = stack[-1]
            elif code == 0x68 and give_state is not None and (behind := self._read_object(at - 1)):
                at = behind
            elif code == 0x68 and at < end and data[at] in memo:                            # BINGET
                stack.append(memo[data[at]])
                at += 1
            elif code == 0x52 and len(stack) > 1 and type(stack[-2]) is Known and stack[-2].call and type(stack[-1]) is tuple:  # REDUCE
                arguments, known = stack.pop(), stack.pop()     # so that where() tells of what the call raises
                stack.append(known.call(*arguments))
            elif code == 0x85 and stack:                                                    # TUPLE1
                stack[-1] = (self.plain(stack[-1]),)
            elif code == 0x86 and len(stack) > 1:                                           # TUPLE2
                last = stack.pop()
                stack[-1] = (self.plain(stack[-1]), self.plain(last))
            elif code == 0x4b and at < end:                                                 # BININT1
                stack.append(data[at])
                at += 1
            elif code == 0x7d:                                                              # EMPTY_DICT
                stack.append({})
            elif code == 0x73 and len(stack) > 2 and type(stack[-2]) is str and type(stack[-3]) is dict:     # SETITEM
                value, key = stack.pop(), stack.pop()
                stack[-1][key] = self.plain(value)
            elif code == 0x42 and end - at >= 4 and end - at - 4 >= (count := int.from_bytes(data[at:at + 4], "little")):    # BINBYTES
                at += 4 + count
                stack.append(bytes(data[at - count:at]))
            elif code == 0x62 and len(stack) > 1 and give_state is not None and give_state(stack[-2], stack[-1]):            # BUILD
                stack.pop()
            elif code == 0x2e:                                                              # STOP
                self.at = at
                if self._frames or len(stack) != 1:
                    raise self._bad(f"it ends with {len(stack)} values and {len(self._frames)} open lists; accepted: one value")
                return self.plain(stack[0])
            else:
                action = actions.get(code)
                if action is None:
                    raise self._bad(f"instruction {bytes([code])!r} is not accepted")
                self.at = at
                action(self)
                at, stack = self.at, self._stack

    def _read_object(self, at):
        """An object like others before it, with one dictionary of bytes: what files of arrays
        repeat. Where it ends; None, and nothing is done, for all else."""
        data, memo = self.data, self._memo
        begin = at + _OBJECT_HEAD
        head = bytes(data[at:begin])
        parts = self._heads and self._heads.get(head) or self._parts_of(head)
        if parts is None or begin + 5 > self.end:
            return None
        code = data[begin]
        if code == 0x42:                                                                    # BINBYTES
            begin, count = begin + 5, int.from_bytes(data[begin + 1:begin + 5], "little")
        elif code == 0x43:                                                                  # SHORT_BINBYTES
            begin, count = begin + 2, data[begin + 1]
        else:
            return None
        end = begin + count
        if data[end:end + len(_OBJECT_END)] != _OBJECT_END:
            return None
        make, arguments, key, of_bytes = parts
        made, content = make(*arguments), bytes(data[begin:end])
        value = of_bytes(content)
        state = {key: value}
        if not self._give_state(made, state):
            raise self._bad(f"a {type(made).__name__} with a state")
        memo[len(memo)] = made
        memo[len(memo)] = state
        memo[len(memo)] = content
        memo[len(memo)] = (content,)
        memo[len(memo)] = value
        self._stack.append(made)
        return end + len(_OBJECT_END)

    def _parts_of(self, head):
        """What the places in `head`, the beginning of an object, stand for: how it is made, of
        which arguments, the key of its state, and what makes that of bytes. None for all else."""
        found = _OBJECT.fullmatch(head)
        if found is None:
            return None
        kind, arguments, key, of_bytes = [self._memo.get(place[0]) for place in found.groups()]
        if (type(arguments) is not tuple or type(key) is not str or type(kind) is not Known or type(of_bytes) is not Known
                or kind.call is None or of_bytes.call is None):
            return None
        parts = kind.call, arguments, key, of_bytes.call
        if self._heads is not None:
            self._heads[head] = parts
        return parts

    @staticmethod
    def plain(value):
        """A name without a call, as the value that it stands for."""
        return value.value if isinstance(value, Known) and value.call is None else value

    def where(self):
        """Where in the value the reader is, as far as dictionaries around it tell."""
        keys, container = [], None
        for frame, open_value in [*((frame, False) for frame in self._frames), (self._stack, True)]:
            at, of_frame = len(frame) - 1 - (not open_value), []
            while at >= 0 and isinstance(frame[at], str):
                if at and isinstance(frame[at - 1], dict) and not frame[at - 1]:      # its first pair, set by itself
                    of_frame.append(frame[at])
                    at -= 2
                else:
                    if isinstance(container, dict) and at % 2 == 0:
                        of_frame.append(frame[at])
                    break
            keys += reversed(of_frame)
            container = frame[-1] if frame else None
        return " at " + "".join(f"[{key!r:.80}]" for key in keys) if keys else ""

    # ---- what actions are made of ----

    def _bad(self, what):
        return Refused(what, self._begin)

    def _take(self, count):
        """So many bytes."""
        at = self.at
        if count > self.end - at:
            raise Refused(f"it ends within a value of {count} bytes, {self.end - at} bytes are there", self._begin)
        self.at = at + count
        return self.data[at:at + count]

    def _number(self, count, signed=False):
        return int.from_bytes(self._take(count), "little", signed=signed)

    def _line(self, longest=4096):
        end = bytes(self.data[self.at:self.at + longest]).find(b"\n")
        if end < 0:
            raise self._bad(f"a line without end within {longest} bytes")
        line = bytes(self._take(end + 1))[:-1]
        return line[:-1] if line.endswith(b"\r") else line

    def _push(self, value):
        self._stack.append(value)

    def _pop(self):
        if not self._stack:
            raise self._bad("a value is taken from an empty list")
        return self._stack.pop()

    def _since_mark(self):
        if not self._frames:
            raise self._bad("a list is closed that was not opened")
        items, self._stack = self._stack, self._frames.pop()
        return items

    def _top(self, kinds):
        if not self._stack or not isinstance(self._stack[-1], kinds):
            what = type(self._stack[-1]).__name__ if self._stack else "nothing"
            raise self._bad(f"{what} stands where {' or '.join(kind.__name__ for kind in kinds)} is needed")
        return self._stack[-1]

    def _hashed(self, value):
        """A value that can be a key. Of tuples only short flat ones are: hashing of
        others recurses, or takes long again and again."""
        value = self.plain(value)
        if isinstance(value, _HASHED) or isinstance(value, tuple) and len(value) < 17 \
                and all(isinstance(v, _HASHED) for v in value):
            return value
        raise self._bad(f"a {type(value).__name__} as a key; accepted: texts, numbers and tuples of them")

    # ---- actions ----

    def _mark(self):
        self._frames.append(self._stack)
        self._stack = []

    def _set_items(self, pairs):
        target = self._top((dict,))
        if len(pairs) % 2:
            raise self._bad("a dictionary gets a key without a value")
        for i in range(0, len(pairs), 2):
            target[self._hashed(pairs[i])] = self.plain(pairs[i + 1])

    def _set_item(self):
        value = self._pop()
        key = self._pop()
        self._set_items([key, value])

    def _extend(self, items):
        self._top((list,)).extend([self.plain(item) for item in items])

    def _tuple(self, items):
        self._push(tuple([self.plain(item) for item in items]))

    def _tuple_of(self, count):
        if len(self._stack) < count:
            raise self._bad("a tuple of more values than there are")
        items = self._stack[len(self._stack) - count:]
        del self._stack[len(self._stack) - count:]
        self._tuple(items)

    def _dict(self):
        pairs = self._since_mark()
        self._push({})
        self._set_items(pairs)

    def _pop_any(self):
        if self._stack:
            self._stack.pop()
        else:
            self._since_mark()

    def _remember(self, number):
        if not self._stack:
            raise self._bad("there is no value to remember")
        self._heads = None
        self._memo[number] = self._stack[-1]

    def _recall(self, number):
        if number not in self._memo:
            raise self._bad(f"value {number} was not remembered")
        self._push(self._memo[number])

    def _global(self, module, name):
        known = self._find(f"{module}.{name}")
        if known is None:
            raise Forbidden(f"{module}.{name}", self.where(), self._begin)
        self._push(known)

    def _stack_global(self):
        name, module = self._pop(), self._pop()
        if not isinstance(name, str) or not isinstance(module, str):
            raise self._bad("a name that is no text")
        self._global(module, name)

    def _reduce(self):
        arguments, called = self._pop(), self._pop()
        if not isinstance(called, Known) or called.call is None:
            raise self._bad(f"a call of {called if isinstance(called, Known) else brief(called)}, which is no function")
        if not isinstance(arguments, tuple):
            raise self._bad(f"{called.name} is called with a {type(arguments).__name__}; accepted: a tuple")
        self._push(called.call(*arguments))

    def _build(self):
        """State of an object. Of a dictionary (an OrderedDict with attributes, as Module.state_dict
        gives) it is left out; besides, only what `build` knows can take one."""
        state = self._pop()
        if self._give_state and self._stack and self._give_state(self._stack[-1], state):
            return
        self._top((dict, list, set))

    def _text_number(self, kind):
        line = self._line(_LONGEST_NUMBER).rstrip(b"L")
        if kind is int and line in (b"00", b"01"):
            return line == b"01"
        return kind(line)

    def _integer(self, count):
        if count > _LONGEST_NUMBER:
            raise self._bad(f"an integer of {count} bytes; accepted: up to {_LONGEST_NUMBER}")
        return self._number(count, signed=True)

    def _text(self, count):
        return bytes(self._take(count)).decode("utf-8", "surrogatepass")

    def _old_text(self, count):
        """What Python 2 wrote: a text, in most files."""
        return bytes(self._take(count)).decode("utf-8", "backslashreplace")


def _quoted(reader):
    line = reader._line()
    if len(line) < 2 or line[:1] not in b"'\"" or line[-1:] != line[:1]:
        raise ValueError("a text without quotes")
    return line[1:-1].decode("utf-8", "backslashreplace")


# What a byte of a pickle does; all other instructions are refused.
_ACTIONS = {
    b"\x80": lambda r: r._take(1), b"\x95": lambda r: r._take(8),                        # PROTO, FRAME
    b"(": PickleReader._mark, b"0": PickleReader._pop_any, b"1": PickleReader._since_mark,
    b"2": lambda r: (r._push(r._pop()), r._push(r._stack[-1])),                          # DUP
    b"N": lambda r: r._push(None), b"\x88": lambda r: r._push(True), b"\x89": lambda r: r._push(False),
    b"J": lambda r: r._push(r._number(4, True)), b"K": lambda r: r._push(r._number(1)), b"M": lambda r: r._push(r._number(2)),
    b"\x8a": lambda r: r._push(r._integer(r._number(1))), b"\x8b": lambda r: r._push(r._integer(r._number(4))),
    b"G": lambda r: r._push(struct.unpack(">d", r._take(8))[0]),
    b"I": lambda r: r._push(r._text_number(int)), b"L": lambda r: r._push(r._text_number(int)),
    b"F": lambda r: r._push(r._text_number(float)),
    b"X": lambda r: r._push(r._text(r._number(4))), b"\x8c": lambda r: r._push(r._text(r._number(1))),
    b"\x8d": lambda r: r._push(r._text(r._number(8))), b"V": lambda r: r._push(r._line().decode("raw_unicode_escape")),
    b"T": lambda r: r._push(r._old_text(r._number(4))), b"U": lambda r: r._push(r._old_text(r._number(1))),
    b"S": lambda r: r._push(_quoted(r)),
    b"B": lambda r: r._push(bytes(r._take(r._number(4)))), b"C": lambda r: r._push(bytes(r._take(r._number(1)))),
    b"\x8e": lambda r: r._push(bytes(r._take(r._number(8)))), b"\x96": lambda r: r._push(bytes(r._take(r._number(8)))),
    b"]": lambda r: r._push([]), b")": lambda r: r._push(()), b"}": lambda r: r._push({}), b"\x8f": lambda r: r._push(set()),
    b"a": lambda r: (lambda item: r._extend([item]))(r._pop()), b"e": lambda r: r._extend(r._since_mark()),
    b"l": lambda r: r._push([r.plain(item) for item in r._since_mark()]),
    b"t": lambda r: r._tuple(r._since_mark()), b"\x85": lambda r: r._tuple_of(1), b"\x86": lambda r: r._tuple_of(2),
    b"\x87": lambda r: r._tuple_of(3),
    b"d": PickleReader._dict, b"s": PickleReader._set_item, b"u": lambda r: r._set_items(r._since_mark()),
    b"\x90": lambda r: (lambda items: r._top((set,)).update(map(r._hashed, items)))(r._since_mark()),
    b"\x91": lambda r: r._push(frozenset(map(r._hashed, r._since_mark()))),
    b"q": lambda r: r._remember(r._number(1)), b"r": lambda r: r._remember(r._number(4)), b"p": lambda r: r._remember(int(r._line(20))),
    b"\x94": lambda r: r._remember(len(r._memo)),
    b"h": lambda r: r._recall(r._number(1)), b"j": lambda r: r._recall(r._number(4)), b"g": lambda r: r._recall(int(r._line(20))),
    b"c": lambda r: r._global(r._line().decode(), r._line().decode()), b"\x93": PickleReader._stack_global,
    b"Q": lambda r: r._push(r._persistent(r._pop())),
    b"R": PickleReader._reduce, b"\x81": PickleReader._reduce, b"b": PickleReader._build,
}
_ACTIONS = {code[0]: action for code, action in _ACTIONS.items()}

"""Reads the globals form, independently of the shim, for the tests of EncodeGlobals.

Each message on standard input is a u32 length and that many bytes; the answer
is the same, its text a canonical form of what the message holds.
"""

import struct
import sys

NONE, TRUE, FALSE, INT, BIG_INT, FLOAT, ASCII, UTF8, BYTES, LIST, DICT, KEEP_ASCII, KEEP_UTF8, KEPT = range(14)
SLOTS = 1024

if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)
sys.setrecursionlimit(20_000)


class Reader:
    def __init__(self, data):
        version, size = struct.unpack_from("<II", data)
        assert version == 1, version
        self.data, self.slots = data, {}
        self.at = 8 + size
        self.shapes = [self.shape() for _ in range(self.uint())]
        self.uses = [0] * len(self.shapes)
        assert self.at == len(data), "something follows the shapes"
        self.at = 8
        self.value_text = self.value()
        assert self.at == 8 + size, "something follows the values"
        assert self.uses == [uses for uses, _ in self.shapes], "wrong counts of uses"

    def take(self, size):
        self.at += size
        assert self.at <= len(self.data), "cut off"
        return self.data[self.at - size:self.at]

    def uint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def shape(self):
        uses = self.uint()
        return uses, [self.take(self.uint()).decode() for _ in range(self.uint())]

    def text(self, ascii):
        raw = self.take(self.uint())
        assert raw.isascii() == ascii, "wrong tag for a string"
        return raw.decode()

    def value(self):
        tag = self.take(1)[0]
        if tag >= 0x80:
            return f"i{tag - 0x80}"
        if tag in (NONE, TRUE, FALSE):
            return "ntf"[tag]
        if tag == INT:
            raw = self.uint()
            assert raw < 2**64
            return f"i{raw >> 1 ^ -(raw & 1)}"
        if tag == BIG_INT:
            return f"i{int.from_bytes(self.take(self.uint()), 'little', signed=True)}"
        if tag == FLOAT:
            return "d" + self.take(8)[::-1].hex()
        if tag in (ASCII, UTF8):
            return text_of(self.text(tag == ASCII))
        if tag == BYTES:
            return "b" + self.take(self.uint()).hex()
        if tag == LIST:
            return "[" + ",".join([self.value() for _ in range(self.uint())]) + "]"
        if tag == DICT:
            number = struct.unpack("<I", self.take(4))[0]
            self.uses[number] += 1
            return "{" + ",".join([f"{text_of(key)}={self.value()}" for key in self.shapes[number][1]]) + "}"
        slot = struct.unpack("<H", self.take(2))[0]
        assert slot < SLOTS
        if tag != KEPT:
            self.slots[slot] = self.text(tag == KEEP_ASCII)
        return text_of(self.slots[slot])


def text_of(text):
    return "s" + text.encode().hex()


def main():
    while head := sys.stdin.buffer.read(4):
        data = sys.stdin.buffer.read(struct.unpack("<I", head)[0])
        try:
            text = Reader(data).value_text
        except Exception as error:
            text = f"error: {error!r}"
        answer = text.encode()
        sys.stdout.buffer.write(struct.pack("<I", len(answer)) + answer)
        sys.stdout.buffer.flush()


main()

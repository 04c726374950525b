#!/usr/bin/env python3
"""Prints CBOR items as JSON, one per line. Reads them as lines of hexadecimal digits from standard input.

Based only on RFC 8949. Strict: an item that isn't in preferred serialization, a map with equal keys, and bytes after
the item end the program with an error. As JSON lacks these types, byte strings become {"bytes": HEX}, tags
{"tag": [NUMBER, ITEM]}, and floats {"float": TEXT} with all 64 bits.
"""

import json
import struct
import sys


class Items:
    def __init__(self, data):
        self.data = data
        self.place = 0

    def take(self, count):
        if self.place + count > len(self.data):
            raise ValueError("truncated")
        self.place += count
        return self.data[self.place - count : self.place]

    def argument(self, information):
        """The argument of section 3. Checks that no shorter form represents it (section 4.1)."""
        if information < 24:
            return information
        if information > 27:
            raise ValueError("not definite, or reserved")
        size = 1 << (information - 24)
        number = int.from_bytes(self.take(size), "big")
        if number < (24 if size == 1 else 1 << (4 * size)):
            raise ValueError("a head longer than necessary")
        return number

    def float(self, information):
        size, code = {25: (2, ">e"), 26: (4, ">f"), 27: (8, ">d")}[information]
        number = struct.unpack(code, self.take(size))[0]
        narrower = {26: ">e", 27: ">f"}.get(information)
        if narrower and number == number:
            try:
                if struct.unpack(narrower, struct.pack(narrower, number))[0] == number:
                    raise ValueError("a float wider than necessary")
            except OverflowError:
                pass
        return {"float": struct.pack(">d", number).hex()}

    def map(self, count):
        entries = {}
        for _ in range(count):
            key = self.item()
            if not isinstance(key, str) or key in entries:
                raise ValueError("a key that is no text, or twice there")
            entries[key] = self.item()
        return entries

    def item(self):
        initial = self.take(1)[0]
        major, information = initial >> 5, initial & 31
        if major == 7:
            simple = {20: False, 21: True, 22: None}
            return simple[information] if information in simple else self.float(information)
        number = self.argument(information)
        if major == 0:
            return number
        if major == 1:
            return -1 - number
        if major == 2:
            return {"bytes": self.take(number).hex()}
        if major == 3:
            return self.take(number).decode("utf-8")
        if major == 4:
            return [self.item() for _ in range(number)]
        if major == 5:
            return self.map(number)
        return {"tag": [number, self.item()]}


for line in sys.stdin:
    items = Items(bytes.fromhex(line.strip()))
    value = items.item()
    if items.place != len(items.data):
        raise ValueError("bytes behind the item")
    print(json.dumps(value))

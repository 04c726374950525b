#!/usr/bin/env python3
"""Reads and writes ring files. Based only on RingFileFormat.md.

    python3 ring.py read FILE…           prints one line per file: its messages in hexadecimal, or "damaged"
    python3 ring.py write FOLDER SEED N  creates N files, and prints their expected messages in the same way
"""

import os
import random
import struct
import sys

HEADER = struct.Struct(">BQBQQ38s")
LENGTH = struct.Struct(">I")


class Damaged(Exception):
    pass


def stretch(data, place, end):
    messages = []
    while place < end:
        if place + 4 > end:
            raise Damaged
        (length,) = LENGTH.unpack_from(data, place)
        if not 0 < length < 2**31 or place + 4 + length > end:
            raise Damaged
        messages.append((place, data[place + 4 : place + 4 + length]))
        place += 4 + length
    return messages


def places(data):
    """The messages with their offsets, the oldest first."""
    if not data:
        return []
    if len(data) < 64:
        raise Damaged
    version, _, overwrites, oldest, end, _ = HEADER.unpack_from(data)
    if version != 1 or overwrites > 1:
        raise Damaged
    if not 64 <= oldest <= len(data) or not 64 <= end <= len(data):
        raise Damaged
    if oldest <= end:
        return stretch(data, oldest, end)
    return stretch(data, oldest, len(data)) + stretch(data, 64, end)


def append(data, maximum, overwrites, message):
    """The file with another message; None if it is full. Changes it in one step, not in those of the format."""
    record = LENGTH.pack(len(message)) + message
    if 64 + len(record) > maximum:
        return None
    if not data:
        data = HEADER.pack(1, maximum, overwrites, 64, 64, bytes(38))
    _, _, _, oldest, end, reserved = HEADER.unpack_from(data)
    there = [place for place, _ in places(data)]
    if end + len(record) > maximum:
        if not overwrites:
            return None
        # Continues at the beginning. The file ends after the newest message; messages located after it are dropped.
        data = data[:end]
        there = [place for place in there if place < end]
        end = 64
        while there and there[0] <= end + len(record):
            there.pop(0)
    elif oldest > end:
        while there and end < there[0] <= end + len(record):
            there.pop(0)
    body = bytearray(data)
    body[end : end + len(record)] = record
    oldest = there[0] if there else end
    body[:64] = HEADER.pack(1, maximum, overwrites, oldest, end + len(record), reserved)
    return bytes(body)


def show(messages):
    print(" ".join(message.hex() for message in messages), flush=False)


def write(folder, seed, count):
    chance = random.Random(seed)
    for number in range(count):
        maximum = chance.randint(70, chance.choice([90, 300, 2000]))
        overwrites = chance.randint(0, 3) > 0
        most = max(1, (maximum - 68) // chance.choice([1, 2, 5, 20]))
        data = b""
        for _ in range(chance.randint(0, 80)):
            longer = append(data, maximum, overwrites, chance.randbytes(chance.randint(1, most)))
            data = data if longer is None else longer
        with open(os.path.join(folder, str(number)), "wb") as file:
            file.write(data)
        show([message for _, message in places(data)])


def read(paths):
    for path in paths:
        with open(path, "rb") as file:
            try:
                show([message for _, message in places(file.read())])
            except Damaged:
                print("damaged")


if sys.argv[1] == "write":
    write(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
else:
    read(sys.argv[2:])

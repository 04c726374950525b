#!/usr/bin/env python3
"""Prints the entries of an archive, read from its log alone, as JSON, one a line, the least recent first.

    python3 segments.py STORE/NAME.archive

Written from OnDiskFormat.md only; the names of its headings are cited. It reads, and never writes. Keys and values
are printed in hexadecimal: both may be any bytes.
"""

import json
import os
import re
import struct
import sys

HEADER = struct.Struct("<IIHHBBHQQqq")  # "Frames"
PUT, DELETE, DELETE_ALL, EVICT, MOVE = 1, 2, 3, 4, 5  # "Frame kinds"
EVICTIONS = 1  # "Frame extensions"


def crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = crc_table()


def crc32c(data, seed=0):
    register = ~seed & 0xFFFFFFFF
    for byte in data:
        register = register >> 8 ^ TABLE[(register ^ byte) & 0xFF]
    return ~register & 0xFFFFFFFF


class Frame:
    """The frame at an offset of a segment; None from `at` unless it passes its checksum."""

    @staticmethod
    def at(data, offset, seed):
        if offset + 48 > len(data):
            return None
        frame = Frame()
        (checksum, value, key, extension, frame.kind, frame.encoding, _, frame.sequence, frame.recency,
         frame.time, frame.created) = HEADER.unpack_from(data, offset)
        frame.size = 48 + extension + key + value + 7 & ~7
        if frame.kind == 0 or key > 1024 or value > 1 << 30 or offset + frame.size > len(data):
            return None
        place = (seed + offset // 8 * 0x9E3779B1) & 0xFFFFFFFF
        if crc32c(data[offset + 4:offset + frame.size], place) != checksum:
            return None
        start = offset + 48
        frame.extension = data[start:start + extension]
        frame.key = data[start + extension:start + extension + key]
        frame.value = data[start + extension + key:start + extension + key + value]
        return frame

    def evictions(self):
        rest = self.extension
        while len(rest) >= 4:
            tag, _, length = struct.unpack_from("<BBH", rest)
            if tag == EVICTIONS:
                return [struct.unpack_from("<Q", rest, 4 + 8 * place)[0] for place in range(length // 8)]
            rest = rest[4 + length:]
        return []


def read_descriptor(folder):
    with open(os.path.join(folder, "descriptor"), "rb") as file:
        data = file.read()
    if data[:8] != b"VLMARCHV" or crc32c(data[:-4]) != struct.unpack("<I", data[-4:])[0]:
        sys.exit("the descriptor is damaged")
    version, = struct.unpack_from("<I", data, 8)
    if version != 1:
        sys.exit(f"format version {version} is not known")
    return data[16:32]


def frames(data, seed):
    """Pairs of offset and valid frame; damage is looked through at every eighth byte."""
    offset = 64
    while offset + 48 <= len(data):
        frame = Frame.at(data, offset, seed)
        if frame:
            yield offset, frame
        offset += frame.size if frame else 8


def read_segments(folder, identity):
    """Number and bytes of the log's segments in order: "Reading the log"."""
    segments = []
    oldest = 0
    for name in sorted(os.listdir(folder)):
        if not re.fullmatch("[0-9a-f]{8}\\.segment", name):
            continue
        number = int(name[:8], 16)
        with open(os.path.join(folder, name), "rb") as file:
            data = file.read()
        header = data[:64]
        isRight = (len(header) == 64 and header[:8] == b"VLMSEGMT" and header[16:32] == identity
                   and struct.unpack_from("<I", header, 12)[0] == number
                   and crc32c(header[:60]) == struct.unpack_from("<I", header, 60)[0])
        seed = crc32c(identity + struct.pack("<I", number))
        if isRight:
            oldest = max(oldest, struct.unpack_from("<I", header, 32)[0])
        elif next(frames(data, seed), None) is None:
            continue
        segments.append((number, data, seed))
    return [segment for segment in segments if segment[0] >= oldest]


def main():
    folder = sys.argv[1]
    entries = {}
    key_at = {}
    for number, data, seed in read_segments(folder, read_descriptor(folder)):
        for offset, frame in frames(data, seed):
            for location in frame.evictions():
                key = key_at.get(location)
                if key in entries and entries[key][0] == location:
                    del entries[key]
            if frame.kind in (PUT, MOVE):
                location = number << 32 | offset // 8
                entries[frame.key] = (location, frame)
                key_at[location] = frame.key
            elif frame.kind == DELETE:
                entries.pop(frame.key, None)
            elif frame.kind == DELETE_ALL:
                entries.clear()
    for _, frame in sorted(entries.values(), key=lambda entry: entry[1].recency):
        print(json.dumps({
            "key": frame.key.hex(), "value": frame.value.hex(), "encoding": frame.encoding,
            "created": frame.created, "sequence": frame.sequence, "recency": frame.recency}))


main()

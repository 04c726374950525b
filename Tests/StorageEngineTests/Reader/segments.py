#!/usr/bin/env python3
"""Prints the entries of an archive as lines of JSON, the least recent first. Reads only the archive's log.

    python3 segments.py STORE/NAME.archive

Based only on OnDiskFormat.md, whose headings are cited. Writes no file. Prints keys and values in hexadecimal,
because both may be any bytes.
"""

import json
import os
import re
import struct
import sys

HEADER = struct.Struct("<IIHHBBHQQqq")  # "Frames"
PUT, DELETE, DELETE_ALL, EVICT, MOVE, RESIDENT, VOID, BATCH = 1, 2, 3, 4, 5, 9, 10, 12  # "Frame kinds"
DEADLINE, KEPT = 6, 11
UNREADABLE = 0  # a damaged value in a collection: "Damage in a collection"
EVICTIONS, PLACE_IN_BATCH = 1, 8  # "Frame extensions"
CACHE, LOG = 1, 3  # "Descriptors"
PAGE, SECTOR = 4096, 512


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
    """A frame of a segment. `at` returns None for an invalid checksum."""

    @staticmethod
    def at(data, offset, seed, is_damaged=False):
        if offset + 48 > len(data):
            return None
        frame = Frame()
        (checksum, value, key, extension, frame.kind, frame.encoding, flags, frame.sequence, frame.recency,
         frame.time, frame.created) = HEADER.unpack_from(data, offset)
        frame.is_in_batch = flags & 1 == 1
        frame.size = 48 + extension + key + value + 7 & ~7
        if frame.kind == 0 or key > 1024 or value > 1 << 30 or offset + frame.size > len(data):
            return None
        place = (seed + offset // 8 * 0x9E3779B1) & 0xFFFFFFFF
        if not is_damaged and crc32c(data[offset + 4:offset + frame.size], place) != checksum:
            return None
        if is_damaged:
            keyed = frame.kind in (PUT, DELETE, MOVE, DEADLINE, RESIDENT, KEPT)
            if frame.kind > BATCH or keyed != (key > 0) or flags > 1 or frame.sequence >= 1 << 61:
                return None
            for byte in list(range(12, 24)) + list(range(48 + extension, 48 + extension + key)):
                for bit in range(8):
                    flipped = bytearray(data[offset:offset + frame.size])
                    flipped[byte] ^= 1 << bit
                    if crc32c(flipped[4:], place) == checksum:
                        return None
            frame.stores = frame.kind in (PUT, MOVE, RESIDENT)
            if keyed:
                frame.kind = VOID if frame.kind == KEPT else DELETE
        start = offset + 48
        frame.extension = data[start:start + extension]
        frame.key = data[start + extension:start + extension + key]
        frame.value = data[start + extension + key:start + extension + key + value]
        return frame

    def part(self, wanted, least=0):
        """The first part with this tag; None if it is absent or too short."""
        rest = self.extension
        while len(rest) >= 4:
            tag, _, length = struct.unpack_from("<BBH", rest)
            if 4 + length > len(rest):
                break
            if tag == wanted:
                return rest[4:4 + length] if length >= least else None
            rest = rest[4 + length:]
        return None

    def evictions(self):
        part = self.part(EVICTIONS) if self.kind in (PUT, DELETE, EVICT, MOVE, RESIDENT) else None
        return [struct.unpack_from("<Q", part, 8 * place)[0] for place in range(len(part or b"") // 8)]

    def batch_bytes(self):
        """The size of the frames after it if this is the first frame of a batch; None for others."""
        if self.kind != BATCH or len(self.value) < 16:
            return None
        size, = struct.unpack_from("<Q", self.value, 8)
        return size if 0 < size <= 48 << 20 and size % 8 == 0 else None

    def first_of_batch(self):
        """Location of the first frame of its batch; None if it is in no batch."""
        part = self.part(PLACE_IN_BATCH, least=16) if self.is_in_batch else None
        return struct.unpack_from("<Q", part)[0] if part else None


def read_descriptor(folder):
    with open(os.path.join(folder, "descriptor"), "rb") as file:
        data = file.read()
    if data[:8] != b"VLMARCHV" or crc32c(data[:-4]) != struct.unpack("<I", data[-4:])[0]:
        sys.exit("the descriptor is damaged")
    version, = struct.unpack_from("<I", data, 8)
    if version != 1:
        sys.exit(f"format version {version} is unknown")
    return data[16:32], data[12]


def pieces(data, seed):
    """Start, end and frame of each part of a segment. Damage has no frame; its end is found in steps of 8 bytes."""
    found = []
    offset = 64
    while offset + 48 <= len(data):
        frame = Frame.at(data, offset, seed)
        if frame:
            found.append((offset, offset + frame.size, frame))
        elif found and found[-1][2] is None:
            found[-1] = (found[-1][0], offset + 8, None)
        else:
            found.append((offset, offset + 8, None))
        offset = found[-1][1]
    return found


def was_not_written(data, start, end, batch_end=None):
    """Whether damage wasn't written: it begins with zeros, or contains a sector or an end of a page or batch of zeros."""
    end = end if batch_end is None else min(end, batch_end)
    if not any(data[start:start + 4]):
        return True
    for at in [start] + list(range(start // SECTOR * SECTOR + SECTOR, end, SECTOR)):
        stop = at // SECTOR * SECTOR + SECTOR
        # A later frame of the batch in this sector was written together with it.
        if stop > end and end != batch_end:
            continue
        stop = min(stop, end)
        if not any(data[max(at, stop - 64) if stop % PAGE == 0 or stop == batch_end else at:stop]):
            return True
    return False


def damaged(data, seed, start, end, kind):
    """Offset and frame of removals in a cache's damage, or of values in a collection's: "Damage in a cache"."""
    frames = []
    if was_not_written(data, start, end):
        return frames
    while start < end:
        frame = Frame.at(data, start, seed, is_damaged=True)
        if not frame or start + frame.size > end:
            return []
        frames.append((start, frame))
        start += frame.size
    if kind == CACHE:
        return [item for item in frames if item[1].kind in (DELETE, DELETE_ALL, EVICT)]
    values = [item for item in frames if item[1].stores]
    for _, frame in values:
        frame.kind = UNREADABLE
    return values


class Batch:
    """A batch during reading. Its end is None if its first frame is damaged."""

    def __init__(self, location, end):
        self.location, self.end = location, end
        self.frames, self.is_damaged, self.is_lost, self.is_repaired = [], False, False, False
        self.ends_written = False  # the missing bytes at its end begin with a checksum

    def note(self, data, start, end, frame):
        """Records damage or a `void` frame of a repair in the batch."""
        if self.end is not None and start >= self.end:
            return
        self.is_repaired |= frame is not None
        if frame is None:
            self.is_damaged = True
            self.is_lost |= was_not_written(data, start, end, self.end)

    def counts(self, reached, is_at_end):
        if self.is_lost:
            return False
        lacks_first = self.end is None
        return reached == self.end or self.ends_written or lacks_first or self.is_repaired or not is_at_end

    def is_whole(self, reached):
        return not self.is_damaged and not self.is_repaired and reached == self.end


def log(segments, kind):
    """Location and frame of all frames that have an effect: "Batches"."""
    rest = [(number, data, piece) for number, data, seed in segments for piece in pieces(data, seed)]
    last = max((place for place, item in enumerate(rest) if item[2][2]), default=-1)
    seeds = {number: seed for number, _, seed in segments}
    ends = {number: piece[0] for number, _, piece in rest if piece[2]}

    def removals(number, data, piece):
        start, end, frame = piece
        if kind == LOG or frame or start >= ends.get(number, 0):
            return []
        return [(number << 32 | at // 8, frame) for at, frame in damaged(data, seeds[number], start, end, kind)]

    place = 0
    stretch = []  # damage and `void` frames directly before the current frame
    while place <= last:
        number, data, (start, end, frame) = rest[place]
        location = number << 32 | start // 8
        first = frame.first_of_batch() if frame and kind != LOG else None
        if frame is None or frame.kind == VOID:
            if stretch and stretch[-1][0] != number:
                stretch = []
            stretch.append(rest[place])
            yield from removals(*rest[place])
            place += 1
            continue
        before, stretch = stretch, []
        if kind != LOG and frame.batch_bytes() is not None:
            batch = Batch(location, end + frame.batch_bytes())
            place += 1
        elif first is not None:
            batch = Batch(first, None)
            offset = (first & 0xFFFFFFFF) * 8
            # Otherwise these are the remaining frames of an abandoned batch.
            batch.is_lost = not any(item[0] == first >> 32 == number and item[2][0] <= offset < item[2][1] for item in before)
            for _, data, piece in before:
                batch.note(data, *piece)
        else:
            yield location, frame
            place += 1
            continue
        # The batch ends at the end of its segment, or before a frame of no batch or another one.
        reached = end if frame.kind == BATCH else start
        pending = []
        while place < len(rest) and rest[place][0] == number:
            _, data, (start, end, frame) = rest[place]
            if frame is None or frame.kind == VOID:
                pending.append((start, end, frame))
            elif frame.first_of_batch() == batch.location and not batch.is_whole(reached):
                for piece in pending:
                    batch.note(data, *piece)
                    batch.frames += removals(number, data, piece)
                pending = []
                batch.frames.append((number << 32 | start // 8, frame))
                reached = end
            else:
                break
            place += 1
        # Damage after the last present frame belongs to the batch up to the end in its first frame.
        if batch.end is not None:
            for piece in pending:
                batch.note(data, *piece)
            if len(pending) == 1 and pending[0][2] is None and pending[0][0] == reached < batch.end:
                batch.ends_written = any(data[reached:reached + 4])
            if reached < batch.end and not pending and place < len(rest):
                batch.note(data + bytes(batch.end - len(data)), reached, batch.end, None)
        stretch = [(number, data, piece) for piece in pending]
        for piece in pending:
            batch.frames += removals(number, data, piece)
        if batch.counts(reached, place > last):
            yield from batch.frames


def read_segments(folder, identity):
    """Number, bytes and checksum seed of the log's segments in order: "Reading the log"."""
    segments = []
    oldest = 0
    for name in sorted(os.listdir(folder)):
        if not re.fullmatch("[0-9a-f]{8}\\.segment", name):
            continue
        number = int(name[:8], 16)
        with open(os.path.join(folder, name), "rb") as file:
            data = file.read()
        header = data[:64]
        is_valid = (len(header) == 64 and header[:8] == b"VLMSEGMT" and header[16:32] == identity
                   and struct.unpack_from("<I", header, 12)[0] == number
                   and crc32c(header[:60]) == struct.unpack_from("<I", header, 60)[0])
        seed = crc32c(identity + struct.pack("<I", number))
        if is_valid:
            oldest = max(oldest, struct.unpack_from("<I", header, 32)[0])
        elif not any(frame for _, _, frame in pieces(data, seed)):
            continue
        segments.append((number, data, seed))
    return [segment for segment in segments if segment[0] >= oldest]


def main():
    folder = sys.argv[1]
    entries = {}
    key_at = {}
    identity, kind = read_descriptor(folder)
    for location, frame in log(read_segments(folder, identity), kind):
        for evicted in frame.evictions():
            key = key_at.get(evicted)
            if key in entries and entries[key][0] <= evicted:
                del entries[key]
        if frame.kind in (PUT, MOVE):
            entries[frame.key] = (location, frame)
            key_at[location] = frame.key
        elif frame.kind == UNREADABLE:
            key_at[location] = frame.key
        elif frame.kind in (DELETE, RESIDENT):
            entries.pop(frame.key, None)
        elif frame.kind == DELETE_ALL:
            entries.clear()
    for _, frame in sorted(entries.values(), key=lambda entry: entry[1].recency):
        print(json.dumps({
            "key": frame.key.hex(), "value": frame.value.hex(), "encoding": frame.encoding,
            "created": frame.created, "sequence": frame.sequence, "recency": frame.recency}))


main()

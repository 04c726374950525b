/// Value type for one thread at a time (copies are independent). Appends CBOR items to a byte array.
///
/// What it writes is deterministic: every head and every float is the shortest that keeps the value (preferred
/// serialization, RFC 8949, section 4.1) and all lengths are definite. Map entries stay in the order in which they are
/// given. The caller owes each array and map as many items as it announced; ``write(_:)`` sees to that by itself.
///
/// ```
/// var writer = CBORWriter()
/// writer.beginMap(count: 1)       // a1
/// writer.write("a")               // 61 61
/// writer.write(integer: -500)     // 39 01f3
/// ```
public struct CBORWriter: Sendable {
    /// What has been written so far.
    public internal(set) var bytes: [UInt8]

    /// `capacity`: bytes to make room for at once.
    public init(capacity: Int = 0) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// Forgets what was written, and keeps the memory for the next items.
    public mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    // MARK: Numbers

    /// Writes a number from 0 to 2^64 - 1.
    @inline(__always)
    public mutating func write(unsigned number: UInt64) {
        writeHead(.unsigned, number)
    }

    /// Writes the number -1 - `number`, from -2^64 to -1.
    public mutating func write(negative number: UInt64) {
        writeHead(.negative, number)
    }

    public mutating func write(integer number: Int64) {
        if number < 0 {
            writeHead(.negative, UInt64(bitPattern: ~number))
        } else {
            writeHead(.unsigned, UInt64(number))
        }
    }

    /// Writes the number in the narrowest of the three widths that keeps it exactly, NaN payloads included.
    public mutating func write(_ number: Double) {
        guard let single = FloatWidths.single(exactly: number) else {
            append(SimpleByte.double, number.bitPattern)
            return
        }
        if let half = FloatWidths.half(exactly: single) {
            append(SimpleByte.half, half)
        } else {
            append(SimpleByte.single, single)
        }
    }

    // MARK: Strings

    public mutating func write(bytes content: [UInt8]) {
        writeHead(.bytes, UInt64(content.count))
        bytes.append(contentsOf: content)
    }

    public mutating func write(bytes content: UnsafeRawBufferPointer) {
        writeHead(.bytes, UInt64(content.count))
        bytes.append(contentsOf: content)
    }

    public mutating func write(_ text: String) {
        text.withRawUTF8 { write(utf8: $0) }
    }

    /// Writes a text. `content` must be valid UTF-8; it isn't checked here.
    public mutating func write(utf8 content: UnsafeRawBufferPointer) {
        writeHead(.text, UInt64(content.count))
        bytes.append(contentsOf: content)
    }

    // MARK: Structure

    /// Begins an array; the next `count` items, 0 or more, are its content.
    public mutating func beginArray(count: Int) {
        writeHead(.array, UInt64(count))
    }

    /// Begins a map; the next 2 * `count` items, a key before each value, are its content.
    public mutating func beginMap(count: Int) {
        writeHead(.map, UInt64(count))
    }

    /// Tags the item that is written next.
    public mutating func write(tag: UInt64) {
        writeHead(.tag, tag)
    }

    // MARK: Simple values

    public mutating func write(_ flag: Bool) {
        bytes.append(flag ? SimpleByte.true : SimpleByte.false)
    }

    public mutating func writeNull() {
        bytes.append(SimpleByte.null)
    }

    public mutating func writeUndefined() {
        bytes.append(SimpleByte.undefined)
    }

    public mutating func write(_ simple: CBORSimpleValue) {
        writeHead(.simple, UInt64(simple.rawValue))
    }
}

/// Appends CBOR items to a byte array.
///
/// The output is deterministic: every head and float takes its shortest exact form (preferred serialization, RFC 8949, section
/// 4.1), and all lengths are definite. Map entries keep the order in which they are written. After ``beginArray(count:)`` and
/// ``beginMap(count:)`` the caller must write exactly the announced items; `write(_:)` for a ``CBORValue`` does so.
///
/// ```
/// var writer = CBORWriter()
/// writer.beginMap(count: 1)       // a1
/// writer.write("a")               // 61 61
/// writer.write(integer: -500)     // 39 01f3
/// ```
public struct CBORWriter: Sendable {
    /// The output.
    public internal(set) var bytes: [UInt8]

    /// Creates an empty writer that reserves `capacity` bytes.
    public init(capacity: Int = 0) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// Removes everything written, and keeps the memory for the next items.
    public mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    // MARK: Numbers

    /// Writes a number from 0 to 2^64 - 1.
    @inline(__always)
    public mutating func write(unsigned number: UInt64) { writeHead(.unsigned, number) }

    /// Writes the number -1 - `number`, from -2^64 to -1.
    public mutating func write(negative number: UInt64) { writeHead(.negative, number) }

    /// Writes an integer of either sign.
    public mutating func write(integer number: Int64) {
        if number < 0 {
            writeHead(.negative, UInt64(bitPattern: ~number))
        } else {
            writeHead(.unsigned, UInt64(number))
        }
    }

    /// Writes a float in the narrowest of the three widths that represents it exactly, NaN payloads included.
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

    /// Writes a byte string.
    public mutating func write(bytes content: [UInt8]) {
        writeHead(.bytes, UInt64(content.count))
        bytes.append(contentsOf: content)
    }

    /// Writes a byte string.
    public mutating func write(bytes content: UnsafeRawBufferPointer) {
        writeHead(.bytes, UInt64(content.count))
        bytes.append(contentsOf: content)
    }

    /// Writes a text as UTF-8.
    public mutating func write(_ text: String) { text.withRawUTF8 { write(utf8: $0) } }

    /// Writes a text. `content` must be valid UTF-8, which isn't checked.
    public mutating func write(utf8 content: UnsafeRawBufferPointer) {
        writeHead(.text, UInt64(content.count))
        bytes.append(contentsOf: content)
    }

    // MARK: Structure

    /// Begins an array. The next `count` items, 0 or more, are its elements.
    public mutating func beginArray(count: Int) { writeHead(.array, UInt64(count)) }

    /// Begins a map of `count` entries. The next 2 * `count` items are its keys and values, each key before its value.
    public mutating func beginMap(count: Int) { writeHead(.map, UInt64(count)) }

    /// Tags the item that is written next.
    public mutating func write(tag: UInt64) { writeHead(.tag, tag) }

    package mutating func write(encoded item: some Collection<UInt8>) { bytes.append(contentsOf: item) }

    // MARK: Simple values

    /// Writes `false` or `true`.
    public mutating func write(_ flag: Bool) {
        bytes.append(flag ? SimpleByte.true : SimpleByte.false)
    }

    /// Writes `null`.
    public mutating func writeNull() { bytes.append(SimpleByte.null) }

    /// Writes `undefined`.
    public mutating func writeUndefined() { bytes.append(SimpleByte.undefined) }

    /// Writes a simple value, in one or two bytes.
    public mutating func write(_ simple: CBORSimpleValue) {
        writeHead(.simple, UInt64(simple.rawValue))
    }
}

/// Reads a trace in pieces. A line is a request: the key's bytes, or key and size in bytes, separated by spaces, tabs or a comma.
/// Skips empty lines and lines that begin with `#`. Keeps at most one line in memory.
package struct TraceParser {
    package struct Fault: Error, Sendable, Equatable {
        package enum Kind: Sendable { case noKey, badSize, longLine }

        package let kind: Kind
        /// Line number, from 1.
        package let line: Int

        package init(kind: Kind, line: Int) { (self.kind, self.line) = (kind, line) }
    }

    package static let longestLine = 1 << 16

    private var partial: [UInt8] = []
    private var line = 0
    /// The first line with a request without a size.
    package private(set) var lineWithoutSize: Int?

    package init() {}

    /// Reads all complete lines; keeps the rest for the next piece.
    package mutating func read(
        _ bytes: UnsafeRawBufferPointer, _ body: (Request) -> Void
    ) throws(Fault) {
        var rest = bytes
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            try finish(UnsafeRawBufferPointer(rebasing: rest[..<end]), body)
            rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
        }
        guard partial.count + rest.count <= Self.longestLine else {
            throw Fault(kind: .longLine, line: line + 1)
        }
        partial += rest
    }

    /// Reads the last line if it has no line feed.
    package mutating func end(_ body: (Request) -> Void) throws(Fault) {
        if !partial.isEmpty { try finish(UnsafeRawBufferPointer(start: nil, count: 0), body) }
    }

    private mutating func finish(_ rest: UnsafeRawBufferPointer, _ body: (Request) -> Void) throws(Fault) {
        line += 1
        guard partial.count + rest.count <= Self.longestLine else { throw Fault(kind: .longLine, line: line) }
        guard !partial.isEmpty else { return try parse(rest, body) }
        let whole = partial + rest
        partial.removeAll(keepingCapacity: true)
        do {
            let fault: Fault? = whole.withUnsafeBytes { bytes in
                do throws(Fault) {
                    try parse(bytes, body)
                    return nil
                } catch { return error }
            }
            if let fault { throw fault }
        }
    }

    private mutating func parse(_ line: UnsafeRawBufferPointer, _ body: (Request) -> Void) throws(Fault) {
        var end = line.count
        while end > 0, Self.isSpace(line[end - 1]) { end -= 1 }
        guard end > 0, line[0] != UInt8(ascii: "#") else { return }
        var keyEnd = 0
        while keyEnd < end, !Self.isSeparator(line[keyEnd]) { keyEnd += 1 }
        guard keyEnd > 0 else { throw Fault(kind: .noKey, line: self.line) }
        var start = keyEnd
        while start < end, Self.isSpace(line[start]) { start += 1 }
        if start < end, line[start] == UInt8(ascii: ",") { start += 1 }
        while start < end, Self.isSpace(line[start]) { start += 1 }
        var size = 0
        if keyEnd < end {
            guard start < end else { throw Fault(kind: .badSize, line: self.line) }
            for byte in line[start..<end] {
                let (product, overflow) = size.multipliedReportingOverflow(by: 10)
                guard (0x30...0x39).contains(byte), !overflow, product <= Int.max - 9
                else { throw Fault(kind: .badSize, line: self.line) }
                size = product + Int(byte - 0x30)
            }
            // 0 means that the size is unknown.
            size = max(1, size)
        } else if lineWithoutSize == nil {
            lineWithoutSize = self.line
        }
        body(Request(hash: Request.hash(line[..<keyEnd]), size: size))
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0d }

    private static func isSeparator(_ byte: UInt8) -> Bool { isSpace(byte) || byte == UInt8(ascii: ",") }
}

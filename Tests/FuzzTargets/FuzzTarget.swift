/// What is fed with arbitrary bytes. The same code runs below libFuzzer (`make fuzz`), in the plain mutation tests and
/// when an input that once failed is replayed.
package protocol FuzzTarget {
    static var name: String { get }

    /// Inputs to begin with, made from what the program itself writes.
    static func seeds() throws -> [[UInt8]]

    /// For one thread; what was made ready is used again by the next call.
    init() throws

    /// Takes the input. Returns what should not have happened, or nil; a trap is worse and ends the process.
    mutating func run(_ input: [UInt8]) throws -> String?
}

/// All that need no more than the libraries. (Import files are read by the program, see the fuzzers' own package.)
package enum FuzzTargets {
    package static var all: [any FuzzTarget.Type] {
        [
            SegmentTarget.self, FramesTarget.self, IndexTarget.self, DescriptorTarget.self, CBORTarget.self,
            JSONTarget.self, QueryTarget.self, TerminalTarget.self,
        ]
    }
}

/// Takes fields from the front of an input; at its end everything is 0.
struct InputCursor {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    mutating func number(bytes: Int) -> Int {
        (0..<bytes).reduce(0) { sum, index in sum | Int(byte()) << (8 * index) }
    }

    mutating func take(_ count: Int) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }
}

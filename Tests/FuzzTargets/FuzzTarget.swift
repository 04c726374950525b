/// Code that processes arbitrary bytes: with libFuzzer (`make fuzz`), in the mutation tests, and in replays of inputs
/// that failed.
package protocol FuzzTarget {
    static var name: String { get }

    /// Initial inputs, made by the program.
    static func seeds() throws -> [[UInt8]]

    /// For one thread; calls reuse prepared state.
    init() throws

    /// Processes the input. Returns an failure, or `nil`; a trap ends the process.
    mutating func run(_ input: [UInt8]) throws -> String?
}

/// All targets that need only the libraries. (The package of the fuzzers has those of import files.)
package enum FuzzTargets {
    package static var all: [any FuzzTarget.Type] {
        [
            SegmentTarget.self, FramesTarget.self, IndexTarget.self, DescriptorTarget.self, CBORTarget.self,
            JSONTarget.self, QueryTarget.self, TerminalTarget.self,
        ]
    }
}

/// Reads fields from the front of an input; after its end everything is 0.
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

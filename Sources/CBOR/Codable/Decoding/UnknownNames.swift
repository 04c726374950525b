/// The names in maps that no type knows that was decoded from them: a type reads on where a value has more than it asks for. For
/// one thread at a time.
package final class UnknownNames: @unchecked Sendable {
    /// By the place of the map, which several types may be decoded from.
    private var names: [Int: Set<String>] = [:]
    /// What is decoded meanwhile doesn't count.
    package var isPaused = false

    package init() {}

    /// Those that were found, in their order.
    package var found: [String] { names.values.reduce(into: Set()) { $0.formUnion($1) }.sorted() }

    func note<Key: CodingKey>(_ type: Key.Type, _ map: ValueDecoder) {
        guard !isPaused, let keys = try? map.map?.keys(map.reader(at: 0)) else { return }
        var unknown: Set<String> = []
        for key in keys {
            switch key {
            case .text(let bytes): Self.note(String(decoding: bytes, as: UTF8.self), type, &unknown)
            case .assembled(let bytes): Self.note(String(decoding: bytes, as: UTF8.self), type, &unknown)
            case .integer(let number): if Key(intValue: number) == nil { unknown.insert("\(number)") }
            // Keys of other kinds are none that a type can have.
            default: break
            }
        }
        names[map.start] = names[map.start].map { $0.intersection(unknown) } ?? unknown
    }

    /// A superclass is decoded from a name that no type declares.
    private static func note<Key: CodingKey>(_ name: String, _ type: Key.Type, _ unknown: inout Set<String>) {
        if name != "super", Key(stringValue: name) == nil { unknown.insert(name) }
    }
}

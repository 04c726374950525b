/// The names of the enclosing objects, by their bytes in the output, to detect repeated names. Not thread-safe.
struct ObjectNames {
    /// Maximum names that are compared in pairs. Larger objects use a hash table to avoid quadratic time.
    private static let mostCompared = 32

    /// The names in all enclosing objects, the innermost last.
    private var names: [Range<Int>] = []
    private var objects: [(first: Int, hashed: Set<[UInt8]>)] = []

    mutating func beginObject() { objects.append((names.count, [])) }

    mutating func endObject() {
        guard let object = objects.popLast() else { return }
        names.removeSubrange(object.first...)
    }

    /// Adds the name at `name` of the bytes; returns whether it is new to its object. O(length).
    mutating func add(_ name: Range<Int>, of bytes: UnsafeRawBufferPointer) -> Bool {
        guard let first = objects.last?.first else { return true }
        defer { names.append(name) }
        guard names.count - first >= ObjectNames.mostCompared else {
            let wanted = UnsafeRawBufferPointer(rebasing: bytes[name])
            return !names[first...].contains {
                UnsafeRawBufferPointer(rebasing: bytes[$0]).hasSameBytes(as: wanted)
            }
        }
        let last = objects.count - 1
        if objects[last].hashed.isEmpty {
            objects[last].hashed = Set(names[first...].map { Array(bytes[$0]) })
        }
        return objects[last].hashed.insert(Array(bytes[name])).inserted
    }
}

extension CBORReader {
    /// Whether a map in the item has a text twice as a key, compared by bytes; false if the item can't be read. O(length).
    package static func repeatsName(_ item: UnsafeRawBufferPointer) -> Bool {
        var (reader, names) = (CBORReader(item), ObjectNames())
        return (try? reader.repeatsName(&names, depth: 0)) ?? false
    }

    private mutating func repeatsName(_ names: inout ObjectNames, depth: Int) throws(CBORError) -> Bool {
        try checkDepth(depth, at: offset)
        let start = offset
        var read = 0
        switch try readHead() {
        case .tag: return try repeatsName(&names, depth: depth + 1)
        case .array(let count):
            while !readEnd(count: count, read: read) {
                if try repeatsName(&names, depth: depth + 1) { return true }
                read += 1
            }
        case .map(let count):
            names.beginObject()
            defer { names.endObject() }
            while !readEnd(count: count, read: read) {
                var key = self
                try skipItem()
                if case .text(_?) = try key.readHead(), !names.add(key.offset..<offset, of: bytes) {
                    return true
                }
                if try repeatsName(&names, depth: depth + 1) { return true }
                read += 1
            }
        default:
            offset = start
            try skipItem()
        }
        return false
    }
}

/// The names of the enclosing objects, by their bytes in the output, to detect repeated names. Not thread-safe.
struct ObjectNames {
    /// Larger objects use a hash table: comparing all pairs would take quadratic time.
    private static let mostCompared = 32

    /// In all enclosing objects, the innermost last.
    private var names: [Range<Int>] = []
    private var objects: [(first: Int, hashed: Set<[UInt8]>)] = []

    mutating func beginObject() { objects.append((names.count, [])) }

    mutating func endObject() {
        guard let object = objects.popLast() else { return }
        names.removeSubrange(object.first...)
    }

    /// Adds the name encoded from `start` on; returns whether it is new to its object. O(length).
    mutating func add(_ bytes: [UInt8], from start: Int) -> Bool {
        guard let first = objects.last?.first else { return true }
        let name = start..<bytes.count
        defer { names.append(name) }
        guard names.count - first >= ObjectNames.mostCompared else {
            return bytes.withUnsafeBytes { bytes in
                let wanted = UnsafeRawBufferPointer(rebasing: bytes[name])
                return !names[first...].contains {
                    UnsafeRawBufferPointer(rebasing: bytes[$0]).hasSameBytes(as: wanted)
                }
            }
        }
        let last = objects.count - 1
        if objects[last].hashed.isEmpty {
            objects[last].hashed = Set(names[first...].map { Array(bytes[$0]) })
        }
        return objects[last].hashed.insert(Array(bytes[name])).inserted
    }
}

/// The names of the objects being read, to notice one that comes twice, by their bytes in the output. Not thread-safe.
struct ObjectNames {
    /// Of objects with more names, the names are hashed: all pairs of a long object would take hours.
    private static let mostCompared = 32

    /// Of all objects under way, the innermost last.
    private var names: [Range<Int>] = []
    private var objects: [(first: Int, hashed: Set<[UInt8]>)] = []

    mutating func beginObject() { objects.append((names.count, [])) }

    mutating func endObject() {
        guard let object = objects.popLast() else { return }
        names.removeSubrange(object.first...)
    }

    /// Adds the name encoded from `start` on, in proportion to its length; returns whether it is new to its object.
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

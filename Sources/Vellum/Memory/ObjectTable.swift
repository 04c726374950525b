import StorageEngine

/// Objects by key and in LRU order: a chained hash table and linked list in an array. Amortised O(1).
struct ObjectTable {
    struct Node {
        var hash: UInt64 = 0
        var key = ""
        /// `nil` for a free node.
        var object: HeldObject?
        /// When the object has to be read from disk again, in microseconds of the engine's boot clock (S8).
        var end = Int64.max
        var held: HeldEntry
        var bytes = 0
        /// Whether nothing is on disk, so that the entry exists only with this object (S11).
        var isOnlyHere = false

        fileprivate(set) var newer = ObjectTable.none
        fileprivate(set) var older = ObjectTable.none
        fileprivate(set) var next = ObjectTable.none
    }

    /// The index of a node in ``nodes``. There are at most as many as an archive has entries: 2³¹.
    typealias Place = Int32

    static let none: Place = -1

    private var nodes: [Node] = []
    private var firstFree = ObjectTable.none
    /// First node of each chain; a power of two of them, at least twice as many as nodes.
    private var buckets = [Place](repeating: ObjectTable.none, count: 16)
    private(set) var count = 0
    private(set) var bytes = 0
    private(set) var onlyHere = 0
    private(set) var newest = ObjectTable.none
    private(set) var oldest = ObjectTable.none

    func find(_ hash: UInt64, _ key: String) -> Place {
        var place = buckets[Int(truncatingIfNeeded: hash) & (buckets.count - 1)]
        while place != ObjectTable.none {
            if nodes[Int(place)].hash == hash, nodes[Int(place)].key == key { return place }
            place = nodes[Int(place)].next
        }
        return ObjectTable.none
    }

    var keys: [String] {
        sequence(state: newest) { place in
            guard place != ObjectTable.none else { return nil }
            defer { place = nodes[Int(place)].older }
            return nodes[Int(place)].key
        }.map(\.self)
    }

    func node(_ place: Place) -> Node { nodes[Int(place)] }

    var places: some Sequence<Place> {
        nodes.indices.lazy.filter { nodes[$0].object != nil }.map { Place($0) }
    }

    mutating func follow(_ held: HeldEntry, at place: Place) { nodes[Int(place)].held = held }

    mutating func makeNewest(_ place: Place) {
        guard newest != place else { return }
        unlink(place)
        link(place)
    }

    /// Adds a node as the most recent one; its key must be absent.
    mutating func insert(_ node: Node) {
        if count * 2 == buckets.count { grow() }
        var place = firstFree
        if place == ObjectTable.none {
            place = Place(nodes.count)
            nodes.append(node)
        } else {
            firstFree = nodes[Int(place)].next
            nodes[Int(place)] = node
        }
        let bucket = Int(truncatingIfNeeded: node.hash) & (buckets.count - 1)
        nodes[Int(place)].next = buckets[bucket]
        buckets[bucket] = place
        link(place)
        count += 1
        bytes += node.bytes
        if node.isOnlyHere { onlyHere += 1 }
    }

    mutating func remove(_ place: Place) -> Node {
        let node = nodes[Int(place)]
        let bucket = Int(truncatingIfNeeded: node.hash) & (buckets.count - 1)
        if buckets[bucket] == place {
            buckets[bucket] = node.next
        } else {
            var before = buckets[bucket]
            while nodes[Int(before)].next != place { before = nodes[Int(before)].next }
            nodes[Int(before)].next = node.next
        }
        unlink(place)
        count -= 1
        bytes -= node.bytes
        if node.isOnlyHere { onlyHere -= 1 }
        nodes[Int(place)] = Node(held: node.held)
        nodes[Int(place)].next = firstFree
        firstFree = place
        return node
    }

    private mutating func link(_ place: Place) {
        nodes[Int(place)].newer = ObjectTable.none
        nodes[Int(place)].older = newest
        if newest != ObjectTable.none { nodes[Int(newest)].newer = place }
        newest = place
        if oldest == ObjectTable.none { oldest = place }
    }

    private mutating func unlink(_ place: Place) {
        let (newer, older) = (nodes[Int(place)].newer, nodes[Int(place)].older)
        if newer == ObjectTable.none { newest = older } else { nodes[Int(newer)].older = older }
        if older == ObjectTable.none { oldest = newer } else { nodes[Int(older)].newer = newer }
    }

    private mutating func grow() {
        buckets = [Place](repeating: ObjectTable.none, count: buckets.count * 2)
        for place in nodes.indices where nodes[place].object != nil {
            let bucket = Int(truncatingIfNeeded: nodes[place].hash) & (buckets.count - 1)
            nodes[place].next = buckets[bucket]
            buckets[bucket] = Place(place)
        }
    }
}

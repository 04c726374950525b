import StorageEngine

/// Objects by key, and in the order of use: a hash table with chains, and a doubly linked list, in one array of nodes.
/// A node keeps its place as long as it is there. Everything but growing costs the same however many there are.
struct ObjectTable {
    struct Node {
        var key = ""
        var hash: UInt64 = 0
        /// `nil`: the place is free.
        var object: HeldObject?
        var held: HeldEntry
        /// Size of the encoded object.
        var bytes = 0
        /// When the object has to be read from disk anew, microseconds on the engine's boot clock (S8).
        var end = Int64.max
        /// There is nothing on disk: without this object the entry is gone (S11).
        var isOnlyHere = false

        /// Neighbours in the order of use.
        fileprivate(set) var newer = ObjectTable.none
        fileprivate(set) var older = ObjectTable.none
        /// The next of the bucket's chain, or of the free places.
        fileprivate(set) var next = ObjectTable.none
    }

    static let none = -1

    private(set) var nodes: [Node] = []
    private var firstFree = ObjectTable.none
    /// First node of each chain; a power of two of them, at least as many as nodes.
    private var buckets = [Int](repeating: ObjectTable.none, count: 16)
    private(set) var count = 0
    /// Sum of the encoded sizes.
    private(set) var bytes = 0
    private(set) var newest = ObjectTable.none
    private(set) var oldest = ObjectTable.none

    /// The place of a key, or ``none``. Keys are compared byte by byte, as the engine does: two spellings of one letter
    /// that Swift holds equal have different hashes.
    func find(_ hash: UInt64, _ key: String) -> Int {
        var place = buckets[Int(truncatingIfNeeded: hash) & (buckets.count - 1)]
        while place != ObjectTable.none {
            if nodes[place].hash == hash, nodes[place].key == key { return place }
            place = nodes[place].next
        }
        return ObjectTable.none
    }

    /// The keys, the most recent first.
    var keys: [String] {
        sequence(state: newest) { place in
            guard place != ObjectTable.none else { return nil }
            defer { place = nodes[place].older }
            return nodes[place].key
        }.map(\.self)
    }

    mutating func follow(_ held: HeldEntry, at place: Int) { nodes[place].held = held }

    mutating func makeNewest(_ place: Int) {
        guard newest != place else { return }
        unlink(place)
        link(place)
    }

    /// Adds a node as the most recent one; its key must not be there.
    mutating func insert(_ node: Node) {
        if count == buckets.count { grow() }
        var place = firstFree
        if place == ObjectTable.none {
            place = nodes.count
            nodes.append(node)
        } else {
            firstFree = nodes[place].next
            nodes[place] = node
        }
        let bucket = Int(truncatingIfNeeded: node.hash) & (buckets.count - 1)
        nodes[place].next = buckets[bucket]
        buckets[bucket] = place
        link(place)
        count += 1
        bytes += node.bytes
    }

    mutating func remove(_ place: Int) -> Node {
        let node = nodes[place]
        let bucket = Int(truncatingIfNeeded: node.hash) & (buckets.count - 1)
        if buckets[bucket] == place {
            buckets[bucket] = node.next
        } else {
            var before = buckets[bucket]
            while nodes[before].next != place { before = nodes[before].next }
            nodes[before].next = node.next
        }
        unlink(place)
        count -= 1
        bytes -= node.bytes
        nodes[place] = Node(held: node.held)
        nodes[place].next = firstFree
        firstFree = place
        return node
    }

    private mutating func link(_ place: Int) {
        nodes[place].newer = ObjectTable.none
        nodes[place].older = newest
        if newest != ObjectTable.none { nodes[newest].newer = place }
        newest = place
        if oldest == ObjectTable.none { oldest = place }
    }

    private mutating func unlink(_ place: Int) {
        let (newer, older) = (nodes[place].newer, nodes[place].older)
        if newer == ObjectTable.none { newest = older } else { nodes[newer].older = older }
        if older == ObjectTable.none { oldest = newer } else { nodes[older].newer = newer }
    }

    private mutating func grow() {
        buckets = [Int](repeating: ObjectTable.none, count: buckets.count * 2)
        for place in nodes.indices where nodes[place].object != nil {
            let bucket = Int(truncatingIfNeeded: nodes[place].hash) & (buckets.count - 1)
            nodes[place].next = buckets[bucket]
            buckets[bucket] = place
        }
    }
}

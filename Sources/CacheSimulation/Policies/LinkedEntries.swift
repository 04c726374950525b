/// The entries of a simulated cache in doubly linked lists. One array has a node for each key number. Its first nodes are
/// sentinels of the lists; their sizes are the lists' totals. A key is in one list at most.
struct LinkedEntries {
    struct Node {
        fileprivate var previous: Int32
        fileprivate var next: Int32
        fileprivate(set) var size = 0
        /// The list's number; ``none`` for a key in no list.
        fileprivate(set) var list = LinkedEntries.none
        /// Set by the policy; kept while the key is in no list.
        var frequency: UInt16 = 0
        /// Set by the policy; kept while the key is in no list.
        var epoch: UInt32 = 0

        fileprivate init(alone index: Int) { (previous, next) = (Int32(index), Int32(index)) }
    }

    static let none = UInt8.max
    private static let mostLists = 4

    private var nodes = (0..<mostLists).map { Node(alone: $0) }

    subscript(key: Int) -> Node {
        get { key + Self.mostLists < nodes.count ? nodes[key + Self.mostLists] : Node(alone: 0) }
        _modify {
            reserve(key)
            yield &nodes[key + Self.mostLists]
        }
    }

    /// The sum of the sizes in a list.
    func total(_ list: UInt8) -> Int { nodes[Int(list)].size }

    /// The least recently added key; nil if the list is empty.
    func last(_ list: UInt8) -> Int? { key(nodes[Int(list)].previous) }

    /// The key that was added after `key` to its list; nil for the newest.
    func newer(_ key: Int) -> Int? { self.key(nodes[key + Self.mostLists].previous) }

    private func key(_ index: Int32) -> Int? {
        index < Int32(Self.mostLists) ? nil : Int(index) - Self.mostLists
    }

    /// Adds a key as the newest of a list. Requires that it is in no list.
    mutating func add(_ key: Int, to list: UInt8, size: Int) {
        reserve(key)
        nodes[key + Self.mostLists].size = size
        link(key + Self.mostLists, to: list)
    }

    /// Makes a key the newest of this list.
    mutating func move(_ key: Int, to list: UInt8) {
        unlink(key + Self.mostLists)
        link(key + Self.mostLists, to: list)
    }

    mutating func remove(_ key: Int) {
        unlink(key + Self.mostLists)
        nodes[key + Self.mostLists].list = Self.none
    }

    mutating func resize(_ key: Int, to size: Int) {
        let index = key + Self.mostLists
        nodes[Int(nodes[index].list)].size += size - nodes[index].size
        nodes[index].size = size
    }

    private mutating func link(_ index: Int, to list: UInt8) {
        let first = nodes[Int(list)].next
        nodes[index].previous = Int32(list)
        nodes[index].next = first
        nodes[index].list = list
        nodes[Int(first)].previous = Int32(index)
        nodes[Int(list)].next = Int32(index)
        nodes[Int(list)].size += nodes[index].size
    }

    private mutating func unlink(_ index: Int) {
        let node = nodes[index]
        nodes[Int(node.previous)].next = node.next
        nodes[Int(node.next)].previous = node.previous
        nodes[Int(node.list)].size -= node.size
    }

    private mutating func reserve(_ key: Int) {
        while nodes.count <= key + Self.mostLists { nodes.append(Node(alone: nodes.count)) }
    }
}

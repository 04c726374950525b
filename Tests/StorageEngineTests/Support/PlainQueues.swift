import Foundation
import StorageEngine

/// A plain model of S3-FIFO with values, which evicts one entry after another.
struct PlainQueues {
    struct Entry {
        var value: [UInt8]
        var frequency = 0
        var isHidden = false
    }

    let limit: Int
    var entries: [String: Entry] = [:]
    /// The oldest first.
    var small: [String] = []
    var main: [String] = []
    var ghosts: PlainGhosts

    init(limit: Int, ghosts: PlainGhosts) {
        self.limit = limit
        self.ghosts = ghosts
    }

    var visible: [String: [UInt8]] { entries.filter { !$1.isHidden }.mapValues(\.value) }
    var bytes: Int { entries.values.reduce(0) { $0 + ($1.isHidden ? 0 : $1.value.count) } }
    /// All visible keys, the next evicted first, if new keys fill the free space, and replace each evicted one. Once the small queue
    /// has only new keys, those of the main queue.
    var evictionOrder: [String] {
        var copy = self
        var order: [String] = []
        var added = limit - bytes
        while true {
            if added > 0 {
                copy.small.append("new \(order.count)")
                copy.entries["new \(order.count)"] = Entry(value: [UInt8](repeating: 0, count: added))
            }
            let before = copy.bytes
            guard let key = copy.evictOne([]), entries[key] != nil else { break }
            order.append(key)
            added = before - copy.bytes
        }
        for key in copy.small { copy.drop(key) }
        while let key = copy.evictOne([]) { order.append(key) }
        return order
    }
    private var smallBytes: Int { small.reduce(0) { $0 + (entries[$1]?.value.count ?? 0) } }

    func isPresent(_ key: String) -> Bool { entries[key]?.isHidden == false }

    mutating func access(_ key: String) -> [UInt8]? {
        guard isPresent(key) else { return nil }
        touch(key)
        return entries[key]?.value
    }

    private mutating func touch(_ key: String) {
        let frequency = entries[key]?.frequency ?? 0
        entries[key]?.frequency = min(3, frequency + 1)
    }

    mutating func delete(_ key: String) -> Bool {
        guard isPresent(key) else { return false }
        drop(key)
        return true
    }

    private mutating func drop(_ key: String) {
        entries[key] = nil
        small.removeAll { $0 == key }
        main.removeAll { $0 == key }
    }

    mutating func deleteAll() {
        (entries, small, main) = ([:], [], [])
        ghosts.sets = [:]
    }

    /// Applies all changes or none. Without a value, the key is deleted.
    mutating func apply(_ changes: [(key: String, value: [UInt8]?)]) -> Bool {
        var last: [(key: String, value: [UInt8]?)] = []
        for change in changes {
            last.removeAll { $0.key == change.key }
            last.append(change)
        }
        guard last.reduce(0, { $0 + ($1.value?.count ?? 0) }) <= limit else { return false }
        let keys = Set(last.map(\.key))
        let replaced = keys.reduce(0) { $0 + (isPresent($1) ? entries[$1]?.value.count ?? 0 : 0) }
        evict(
            toFree: bytes - replaced + last.reduce(0) { $0 + ($1.value?.count ?? 0) } - limit, sparing: keys)
        for (key, value) in last {
            guard let value else {
                _ = delete(key)
                continue
            }
            if isPresent(key) {
                entries[key]?.value = value
                touch(key)
            } else {
                drop(key)
                entries[key] = Entry(value: value)
                if ghosts.remove(key) { main.append(key) } else { small.append(key) }
            }
        }
        return true
    }

    mutating func evict(toFree bytes: Int, sparing keys: Set<String> = []) {
        var left = bytes
        while left > 0 {
            let before = self.bytes
            guard evictOne(keys) != nil else { return }
            left -= before - self.bytes
        }
    }

    private mutating func evictOne(_ spared: Set<String>) -> String? {
        let isSmallFull = smallBytes > 0 && smallBytes >= limit / 10
        let victim =
            isSmallFull ? fromSmall(spared) ?? fromMain(spared) : fromMain(spared) ?? fromSmall(spared)
        if let victim { drop(victim) }
        return victim
    }

    private mutating func fromSmall(_ spared: Set<String>) -> String? {
        while let key = small.first(where: { !spared.contains($0) }) {
            guard let entry = entries[key], entry.frequency > 1 else {
                ghosts.add(key, bytes: entries[key]?.value.count ?? 0)
                return key
            }
            small.removeAll { $0 == key }
            main.append(key)
            entries[key]?.frequency = 0
        }
        return nil
    }

    private mutating func fromMain(_ spared: Set<String>) -> String? {
        while let key = main.first(where: { !spared.contains($0) && isPresent($0) }) {
            guard let entry = entries[key], entry.frequency > 0 else { return key }
            entries[key]?.frequency -= 1
            main.removeAll { $0 == key }
            main.append(key)
        }
        return nil
    }

    /// Hides an entry that an action removes.
    mutating func hide(_ key: String) {
        entries[key]?.isHidden = true
        guard small.contains(key) else { return }
        small.removeAll { $0 == key }
        main.append(key)
    }

    /// Restores hidden entries; another entry of the key takes a hidden one's place (``apply(_:)``).
    mutating func restore(_ keys: [String]) {
        let bytes = keys.reduce(0) { $0 + (entries[$1]?.value.count ?? 0) }
        evict(toFree: self.bytes + bytes - limit)
        for key in keys { entries[key]?.isHidden = false }
    }
}

/// Fingerprints of evicted keys, as OnDiskFormat defines them.
struct PlainGhosts {
    let limit: Int
    let hash: KeyHash
    /// Number of sets at the moment.
    let setCount: () -> Int
    /// The latest first; a print of 0: none.
    var sets: [Int: [(print: UInt32, epoch: Int)]] = [:]
    private var epoch = 0
    private var bytes = 0

    init(limit: Int, hash: KeyHash, setCount: @escaping () -> Int) {
        (self.limit, self.hash, self.setCount) = (limit, hash, setCount)
    }

    private func place(_ key: String) -> (set: Int, print: UInt32) {
        let tag = Array(key.utf8).withUnsafeBytes { UInt32(truncatingIfNeeded: hash($0)) }
        return (Int((UInt64(tag &* 0x9E37_79B1) * UInt64(setCount())) >> 32), max(1, tag & 2047))
    }

    mutating func add(_ key: String, bytes: Int) {
        let place = place(key)
        sets[place.set] = Array(([(place.print, epoch)] + (sets[place.set] ?? [])).prefix(8))
        self.bytes += bytes
        let part = max(1, limit / 10 * 9 / 8)
        epoch += self.bytes / part
        self.bytes %= part
    }

    mutating func remove(_ key: String) -> Bool {
        let place = place(key)
        let found = sets[place.set]?.firstIndex { cell in
            cell.print == place.print && (epoch - cell.epoch) % 32 <= 8
        }
        if let found { sets[place.set]?[found].print = 0 }
        return found != nil
    }
}

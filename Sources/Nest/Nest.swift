import Foundation
import StorageEngine

/// A cache of items of any type, each with its time in memory and, if requested, on disk. Safe from any thread, and for
/// several processes that share the items on disk.
///
/// Expired items are removed automatically. An item that is also on disk is read from there when it is requested later, and its
/// time in memory restarts; its time on disk never does. Changes on disk apply to all processes; items in memory belong to their
/// process.
///
/// Items are returned unchanged: while an instance of a class is in memory, all callers share it.
open class Nest: @unchecked Sendable {
    /// The nest in the program's own store, as archive "Nest".
    public static let shared = Nest()

    private let stored: StoredItems
    // Guarded by `lock`.
    private var table = CachedItemTable()
    private var expiration = ExpirationIntervals()
    private var persistance = PersistanceIntervals()
    private var classes = ItemCoding.plainClasses
    private var failure: String?
    private let lock = NSLock()
    /// Held while a key's entry on disk changes or is taken into memory, so both agree. Items' code, which may use the
    /// nest, never runs with this or `lock` held: they are encoded before, and decoded and released outside.
    private let keyLocks = (0..<32).map { _ in NSLock() }
    private let sweeper = Sweeper()

    /// - Parameters:
    ///   - name: the archive's name; nests with the same name and store share the items on disk.
    ///   - store: the store's folder, created with the first item that is stored on disk; by default that of the
    ///     program, `$VELLUM_STORE` or a folder with the program's name in the caches folder.
    public init(named name: String = "Nest", store: URL? = nil) {
        let named = ProcessInfo.processInfo.environment["VELLUM_STORE"].flatMap { $0.isEmpty ? nil : $0 }
        let path = store?.path ?? named ?? CachesFolder.path() + "/" + ProcessInfo.processInfo.processName
        stored = StoredItems(path: path, name: name)
    }

    // MARK: Items

    /// Keeps an item under a key, and replaces the item there in memory and on disk. An item that can't be stored on
    /// disk is kept in memory only (``problem(with:)``). To store an item, it is encoded first; a collection that isn't
    /// `Codable`, and an object that is stored as a keyed archive, is also read back once.
    open func add(
        item: Any, withKey key: String, expirationPolicy policy: ExpirationPolicy,
        andPersistancePolicy persistancePolicy: PersistancePolicy = .disabled
    ) {
        let (memory, disk) = locked { (expiration[policy], persistance[persistancePolicy]) }
        var value: [UInt8]?
        var problem: String?
        if persistancePolicy != .disabled {
            do {
                let encoded = try ItemCoding.encode(
                    item, memory: memory, mirror: persistancePolicy == .mirror)
                allow(encoded.classes)
                value = encoded.bytes
            } catch {
                problem = "\(error)"
            }
        }
        withLock(of: key) { (removed) in
            var mark: StoredMark?
            if let value {
                do { mark = try stored.put(value, forKey: key, seconds: disk ?? memory) } catch {
                    problem = "\(error)"
                }
            }
            // An old entry that couldn't be replaced must not be returned either.
            if mark == nil {
                do { try stored.remove(key, isLikely: false) } catch { problem = problem ?? "\(error)" }
            }
            let now = NestClock.now()
            let cached = CachedItem(
                key: key, item: item, expiry: NestClock.moment(memory, after: now), stored: mark,
                problem: problem)
            keep(cached, now, &removed)
        }
    }

    /// The item with this key, from memory or disk; `nil` if absent or expired.
    public subscript(key: String) -> Any? {
        let now = NestClock.now()
        let (cached, old) = locked { () -> (CachedItem?, CachedItem?) in
            guard let cached = table[key] else { return (nil, nil) }
            return cached.expiry > now ? (cached, nil) : (nil, table.remove(key))
        }
        withExtendedLifetime(old) {}
        if let cached {
            if isCurrent(cached) {
                if cached.stored != nil { stored.noteAccess(key) }
                return cached.item
            }
            let old = locked { table.remove(cached) }
            withExtendedLifetime(old) {}
        }
        return recordingProblem { try reload(key) } ?? nil
    }

    /// Removes the item with this key, if present, from memory and disk. ``lastProblem`` reports a failure on disk.
    open func removeItem(with key: String) {
        withLock(of: key) { (removed) in
            if let old = locked({ table.remove(key) }) { removed.append(old) }
            recordingProblem { try stored.remove(key, isLikely: true) }
        }
        returnFreedMemory()
    }

    // MARK: Clearing

    /// Removes all items, from memory and disk.
    open func clear() { clear(ItemsOf: nil) }

    /// Removes an owner's items from memory and disk: those whose keys were made by ``key(with:parameters:)`` for
    /// this owner. `nil` removes all items. Costs a pass over the keys in memory and the index of the archive.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    open func clear(ItemsOf owner: String? = nil) {
        withAllKeyLocks { (removed) in
            guard let owner else {
                removed = locked { table.removeAll() }
                recordingProblem { try stored.removeAll() }
                return
            }
            let exact = ExactText(owner)
            removed = locked {
                table.keys.filter { OwnedKey.owner(of: $0).map { ExactText($0) } == exact }.compactMap {
                    table.remove($0)
                }
            }
            recordingProblem { try stored.removeAll(ofOwner: owner) }
        }
        returnFreedMemory()
    }

    /// Removes expired items, in memory and on disk separately: an item that has expired in memory stays on disk. This also
    /// happens automatically.
    open func clearExpired() {
        sweep()
        recordingProblem { try stored.removeExpired() }
    }

    /// A key that names the owner of its item.
    open class func key(with owner: String, parameters: [String]) -> String {
        OwnedKey.key(owner: owner, parameters: parameters)
    }

    // MARK: More than the page has

    /// The seconds of the expiration policies. A change applies to items that are added later.
    public var expirationIntervals: ExpirationIntervals {
        get { locked { expiration } }
        set { locked { expiration = newValue } }
    }

    /// The seconds of the persistance policies. A change applies to items that are added later.
    public var persistanceIntervals: PersistanceIntervals {
        get { locked { persistance } }
        set { locked { persistance = newValue } }
    }

    /// Allows reading objects of these classes from keyed archives. Foundation's plain classes are always allowed,
    /// and so are the classes of objects that this nest has stored since the program started.
    public func allow(_ classes: AnyClass...) { allow(classes) }

    private func allow(_ new: [AnyClass]) {
        locked { for one in new where !classes.contains(where: { $0 == one }) { classes.append(one) } }
    }

    /// Whether there is an item on disk under this key.
    public func isPersisted(_ key: String) -> Bool {
        recordingProblem { try stored.sequence(of: key) } ?? nil != nil
    }

    /// The reason, in one line, why the item under this key isn't on disk as requested, or is unreadable there; `nil`: no problem.
    public func problem(with key: String) -> String? {
        if let cached = locked({ table[key] }), cached.expiry > NestClock.now() { return cached.problem }
        do {
            guard let found = try stored.find(key) else { return nil }
            _ = try ItemCoding.decode(found.value, allowing: locked { classes })
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// The latest failure to read or change items on disk, in one line; `nil`: none. Also reports damage found when the
    /// archive on disk was opened, because no single call can report the lost items.
    public var lastProblem: String? { locked { failure } ?? stored.damage }

    /// The number of items in memory.
    public var countInMemory: Int { locked { table.count } }

    // MARK: Both tiers

    /// Whether the item in memory is still the one on disk. Also true for an item that is in memory only, for one whose entry on
    /// disk has expired, and if the disk can't be read now.
    private func isCurrent(_ cached: CachedItem) -> Bool {
        guard let mark = cached.stored else { return true }
        do {
            if let sequence = try stored.sequence(of: cached.key) { return sequence == mark.sequence }
            guard mark.expiry <= NestClock.now() + 1_000_000, cached.expiry > mark.expiry else {
                return false
            }
            // If the entry was removed or replaced before it expired, the item must leave memory, too.
            let known = locked { cached.leftDiskBefore }
            guard let next = try stored.expiredWithoutReplacement(cached.key, mark, knownBefore: known) else {
                return false
            }
            locked { cached.leftDiskBefore = next }
            return true
        } catch {
            return true
        }
    }

    private func reload(_ key: String) throws -> Any? {
        guard let found = try stored.find(key) else { return nil }
        let (item, terms) = try ItemCoding.decode(found.value, allowing: locked { classes })
        return withLock(of: key) { (removed) in
            let now = NestClock.now()
            if let cached = locked({ table[key] }) {
                removed.append(cached)
                if cached.expiry > now, isCurrent(cached) { return cached.item }
            }
            // If the entry was replaced or removed during this, its item is returned, but not kept.
            guard (try? stored.sequence(of: key)) == found.mark.sequence else { return item }
            var expiry = NestClock.moment(terms.memory ?? .infinity, after: now)
            if terms.mirror { expiry = min(expiry, found.mark.expiry) }
            keep(CachedItem(key: key, item: item, expiry: expiry, stored: found.mark), now, &removed)
            return item
        }
    }

    private func keep(_ cached: CachedItem, _ now: Int64, _ removed: inout [CachedItem]) {
        let (old, next) = locked { (table.insert(cached, now: now), table.nextMoment) }
        if let old { removed.append(old) }
        if let next { sweeper.wake(at: next, self) }
    }

    @discardableResult
    private func recordingProblem<Value>(_ body: () throws -> Value) -> Value? {
        do {
            return try body()
        } catch {
            let text = "\(error)"
            locked { failure = text }
            return nil
        }
    }

    /// `body` adds the items that it removes to `removed`, to be released after the key is unlocked.
    private func withLock<Value>(of key: String, _ body: (_ removed: inout [CachedItem]) throws -> Value)
        rethrows
        -> Value
    {
        var removed: [CachedItem] = []
        defer { withExtendedLifetime(removed) {} }
        return try keyLocks[Int(UInt(bitPattern: ExactText(key).hashValue) % UInt(keyLocks.count))].withLock {
            try body(&removed)
        }
    }

    private func withAllKeyLocks(_ body: (_ removed: inout [CachedItem]) -> Void) {
        var removed: [CachedItem] = []
        for keyLock in keyLocks { keyLock.lock() }
        body(&removed)
        for keyLock in keyLocks.reversed() { keyLock.unlock() }
        withExtendedLifetime(removed) {}
    }

    private func locked<Value>(_ body: () -> Value) -> Value { lock.withLock(body) }

    // MARK: Expiry

    /// Removes the items that have expired in memory. Returns the next sweep's time; `nil`: none.
    @discardableResult
    func sweep() -> Int64? {
        var count = 0
        let now = NestClock.now()
        // Removes some items at a time, so that other threads get the lock. Releases the items outside the lock.
        while let removed = locked({ table.removeExpired(now, most: 1_024) }) { count += removed.count }
        if count > 0 { returnFreedMemory() }
        return locked { table.nextMoment }
    }

    private func returnFreedMemory() {
        locked { table.shrink() }
        MemoryReturn.schedule()
    }
}

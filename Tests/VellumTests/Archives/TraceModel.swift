import Vellum

/// An archive of notes without any storage: what each step of two programs that share it leaves in the memory of each
/// and on disk.
struct TraceModel {
    struct Terms {
        /// Microseconds; nil: for ever.
        var lifetime: Int64?
        var memoryLifetime: Int64?
        var owner: String?
    }

    private struct Entry {
        var note: Note
        var bytes: Int
        /// Each store makes a new one.
        var version: Int
        /// The program whose memory alone has it.
        var onlyHere: Int?
        var terms: Terms
        var deadline: Int64
        var accessed: Int64
    }

    /// What a program's memory has, valid any more or not.
    private struct Held {
        var key: String
        var bytes: Int
        var version: Int
        var isOnlyHere: Bool
        var end: Int64
    }

    private(set) var memoryLimit: Int
    private(set) var diskLimit: Int
    private(set) var now: Int64 = 0
    private var versions = 0
    private var entries: [String: Entry] = [:]
    /// The most recent first.
    private(set) var order: [String] = []
    private var held: [[Held]] = [[], []]

    init(memoryLimit: Int, diskLimit: Int) {
        self.memoryLimit = memoryLimit
        self.diskLimit = diskLimit
    }

    static func size(_ note: Note) -> Int { (try? note.archive().count) ?? 0 }

    var diskBytes: Int { entries.values.reduce(0) { $0 + ($1.onlyHere == nil ? $1.bytes : 0) } }
    func memoryBytes(_ program: Int) -> Int { held[program].reduce(0) { $0 + $1.bytes } }
    func memoryKeys(_ program: Int) -> [String] { held[program].map(\.key) }
    var expired: [String] { order.filter { isExpired($0) } }

    private func isExpired(_ key: String) -> Bool { entries[key].map { $0.deadline <= now } ?? false }

    // MARK: Storing

    /// Returns whether there was room for it anywhere.
    mutating func record(_ note: Note, _ terms: Terms, by program: Int) -> Bool {
        let (key, bytes) = (note.primaryKey, TraceModel.size(note))
        guard bytes <= max(diskLimit, memoryLimit) else { return false }
        remove(key)
        let isOnlyHere = bytes > diskLimit
        if !isOnlyHere { evict(downTo: diskLimit - bytes) }
        versions += 1
        entries[key] = Entry(
            note: note, bytes: bytes, version: versions, onlyHere: isOnlyHere ? program : nil, terms: terms,
            deadline: terms.lifetime.map { now + $0 } ?? .max, accessed: now)
        order.insert(key, at: 0)
        hold(key, by: program)
        return true
    }

    private mutating func evict(downTo limit: Int) {
        while diskBytes > limit, let oldest = order.last(where: { entries[$0]?.onlyHere == nil }) {
            remove(oldest)
        }
    }

    private mutating func hold(_ key: String, by program: Int) {
        guard let entry = entries[key], !isExpired(key) else { return }
        drop(key, by: program)
        guard entry.bytes <= memoryLimit else { return }
        trim(program, to: memoryLimit - entry.bytes)
        held[program].insert(
            Held(
                key: key, bytes: entry.bytes, version: entry.version, isOnlyHere: entry.onlyHere != nil,
                end: entry.terms.memoryLifetime.map { now + $0 } ?? .max), at: 0)
    }

    private mutating func trim(_ program: Int, to limit: Int) {
        while memoryBytes(program) > limit, let oldest = held[program].last { drop(oldest.key, by: program) }
    }

    /// What leaves the only memory that has it is gone.
    private mutating func drop(_ key: String, by program: Int) {
        guard let place = held[program].firstIndex(where: { $0.key == key }) else { return }
        let gone = held[program].remove(at: place)
        if gone.isOnlyHere, entries[key]?.version == gone.version { remove(key) }
    }

    private mutating func remove(_ key: String) {
        entries[key] = nil
        order.removeAll { $0 == key }
    }

    // MARK: Looking up

    private mutating func findHeld(_ key: String, by program: Int) -> Int? {
        guard let place = held[program].firstIndex(where: { $0.key == key }) else { return nil }
        let found = held[program][place]
        if entries[key]?.version == found.version, !isExpired(key), found.end > now { return place }
        drop(key, by: program)
        return nil
    }

    private mutating func touch(_ key: String) {
        order.removeAll { $0 == key }
        order.insert(key, at: 0)
        entries[key]?.accessed = now
    }

    mutating func access(_ key: String, by program: Int) -> Note? {
        if let place = findHeld(key, by: program) {
            held[program].insert(held[program].remove(at: place), at: 0)
            touch(key)
            return entries[key]?.note
        }
        if isExpired(key) { remove(key) }
        guard let entry = entries[key], entry.onlyHere == nil else { return nil }
        touch(key)
        hold(key, by: program)
        return entry.note
    }

    mutating func peek(_ key: String, by program: Int) -> Note? {
        let isHeld = findHeld(key, by: program) != nil
        guard let entry = entries[key], isHeld || entry.onlyHere == nil, !isExpired(key) else { return nil }
        return entry.note
    }

    /// Those found are used in both tiers, and none comes into memory for it.
    mutating func accessAll(limit: Int, by program: Int) -> [Note] {
        var found: [Note] = []
        for key in order where found.count < limit {
            if let note = peek(key, by: program) { found.append(note) }
        }
        for note in found.reversed() {
            touch(note.primaryKey)
            guard let place = findHeld(note.primaryKey, by: program) else { continue }
            held[program].insert(held[program].remove(at: place), at: 0)
        }
        return found
    }

    // MARK: Removing

    mutating func delete(_ key: String, by program: Int) {
        remove(key)
        drop(key, by: program)
    }

    mutating func deleteAll(ofOwner owner: String) {
        for key in order where entries[key]?.terms.owner == owner { remove(key) }
    }

    mutating func deleteIdle(longerThan interval: Int64) {
        for key in order where entries[key].map({ $0.accessed < now - interval }) ?? false { remove(key) }
    }

    mutating func deleteAll() {
        entries = [:]
        order = []
    }

    mutating func pass(_ microseconds: Int64) { now += microseconds }

    mutating func resize(memory: Int, disk: Int) {
        (memoryLimit, diskLimit) = (memory, disk)
        evict(downTo: disk)
    }

    /// A program looks through its memory, as it does when it is asked for the size.
    mutating func sweep(_ program: Int) {
        for key in memoryKeys(program)
        where entries[key]?.version != held[program].first(where: { $0.key == key })?.version {
            drop(key, by: program)
        }
        trim(program, to: memoryLimit)
    }
}

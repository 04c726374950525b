import Vellum

/// A model of an archive of notes: the memory of two programs and the disk that they share.
struct TraceModel {
    struct Terms {
        /// In microseconds; `nil` for no limit.
        var lifetime: Int64?
        var memoryLifetime: Int64?
        var owner: String?
    }

    /// The location of a key's object: the disk, or the memory of one program. Both programs may have one while the disk has
    /// none.
    private struct Place: Hashable {
        var key: String
        /// The only program that has it in memory.
        var program: Int?
    }

    private struct Entry {
        var note: Note
        var bytes: Int
        /// Incremented with each store.
        var version: Int
        var terms: Terms
        var deadline: Int64
        var accessed: Int64
    }

    private struct Held {
        var key: String
        var bytes: Int
        var version: Int
        var isOnlyHere: Bool
        var end: Int64

        func place(in program: Int) -> Place { Place(key: key, program: isOnlyHere ? program : nil) }
    }

    private(set) var memoryLimit: Int
    private(set) var diskLimit: Int
    private(set) var now: Int64 = 0
    private var versions = 0
    private var entries: [Place: Entry] = [:]
    /// The most recent first.
    private var places: [Place] = []
    private var held: [[Held]] = [[], []]

    init(memoryLimit: Int, diskLimit: Int) {
        self.memoryLimit = memoryLimit
        self.diskLimit = diskLimit
    }

    static func size(_ note: Note) -> Int { (try? note.archive().count) ?? 0 }

    var diskBytes: Int { entries.reduce(0) { $0 + ($1.key.program == nil ? $1.value.bytes : 0) } }
    func memoryBytes(_ program: Int) -> Int { held[program].reduce(0) { $0 + $1.bytes } }
    func memoryKeys(_ program: Int) -> [String] { held[program].map(\.key) }
    /// Keys in LRU order, without expired ones.
    var order: [String] { places.filter { !isExpired($0) }.map(\.key) }
    var expired: [String] { places.filter { isExpired($0) }.map(\.key) }

    private func isExpired(_ place: Place) -> Bool { entries[place].map { $0.deadline <= now } ?? false }

    // MARK: Storing

    /// Returns whether any tier has space for it. An update keeps unspecified options.
    mutating func record(_ note: Note, _ terms: Terms, isUpdate: Bool, by program: Int) -> Bool {
        let (key, bytes) = (note.primaryKey, TraceModel.size(note))
        guard bytes <= max(diskLimit, memoryLimit) else { return false }
        let former = isUpdate ? former(key, of: program) : nil
        var terms = terms
        terms.memoryLifetime = terms.memoryLifetime ?? former?.terms.memoryLifetime
        terms.owner = terms.owner ?? former?.terms.owner
        let isOnlyHere = bytes > diskLimit
        let place = Place(key: key, program: isOnlyHere ? program : nil)
        if isOnlyHere {
            remove(place)
            remove(Place(key: key))
        } else {
            remove(key)
        }
        if !isOnlyHere { evict(downTo: diskLimit - bytes) }
        versions += 1
        entries[place] = Entry(
            note: note, bytes: bytes, version: versions, terms: terms,
            deadline: terms.lifetime.map { now + $0 } ?? former?.deadline ?? .max, accessed: now)
        places.insert(place, at: 0)
        hold(place, by: program)
        return true
    }

    /// The object that an update finds: the program's own, the one on disk, or another program's.
    private func former(_ key: String, of program: Int) -> Entry? {
        [Place(key: key, program: program), Place(key: key), Place(key: key, program: 1 - program)]
            .first { entries[$0] != nil && !isExpired($0) }.flatMap { entries[$0] }
    }

    private mutating func evict(downTo limit: Int) {
        while diskBytes > limit, let oldest = places.last(where: { $0.program == nil }) {
            remove(oldest)
        }
    }

    private mutating func hold(_ place: Place, by program: Int) {
        guard let entry = entries[place], !isExpired(place) else { return }
        drop(place.key, by: program)
        guard entry.bytes <= memoryLimit else { return }
        trim(program, to: memoryLimit - entry.bytes)
        held[program].insert(
            Held(
                key: place.key, bytes: entry.bytes, version: entry.version,
                isOnlyHere: place.program != nil,
                end: entry.terms.memoryLifetime.map { now + $0 } ?? .max), at: 0)
    }

    private mutating func trim(_ program: Int, to limit: Int) {
        while memoryBytes(program) > limit, let oldest = held[program].last { drop(oldest.key, by: program) }
    }

    /// An object is lost when the only memory with it drops it.
    private mutating func drop(_ key: String, by program: Int) {
        guard let place = held[program].firstIndex(where: { $0.key == key }) else { return }
        let removed = held[program].remove(at: place)
        if removed.isOnlyHere, entries[removed.place(in: program)]?.version == removed.version {
            remove(removed.place(in: program))
        }
    }

    private mutating func remove(_ place: Place) {
        entries[place] = nil
        places.removeAll { $0 == place }
    }

    /// In every location.
    private mutating func remove(_ key: String) {
        for place in places where place.key == key { remove(place) }
    }

    // MARK: Looking up

    private mutating func findHeld(_ key: String, by program: Int) -> Int? {
        guard let index = held[program].firstIndex(where: { $0.key == key }) else { return nil }
        let found = held[program][index]
        let place = found.place(in: program)
        if entries[place]?.version == found.version, !isExpired(place), found.end > now { return index }
        drop(key, by: program)
        return nil
    }

    private mutating func touch(_ place: Place) {
        places.removeAll { $0 == place }
        places.insert(place, at: 0)
        entries[place]?.accessed = now
    }

    mutating func access(_ key: String, by program: Int) -> Note? {
        if let index = findHeld(key, by: program) {
            let found = held[program].remove(at: index)
            held[program].insert(found, at: 0)
            touch(found.place(in: program))
            return entries[found.place(in: program)]?.note
        }
        for place in places where place.key == key && isExpired(place) { remove(place) }
        guard let entry = entries[Place(key: key)] else { return nil }
        touch(Place(key: key))
        hold(Place(key: key), by: program)
        return entry.note
    }

    mutating func peek(_ key: String, by program: Int) -> Note? {
        if let index = findHeld(key, by: program) {
            return entries[held[program][index].place(in: program)]?.note
        }
        guard let entry = entries[Place(key: key)], !isExpired(Place(key: key)) else { return nil }
        return entry.note
    }

    /// Counts as an access of the objects in both tiers, and loads none into memory.
    mutating func accessAll(limit: Int, by program: Int) -> [Note] {
        var found: [Note] = []
        for place in places where found.count < limit && place.program ?? program == program {
            if let note = peek(place.key, by: program) { found.append(note) }
        }
        for note in found.reversed() {
            guard let index = findHeld(note.primaryKey, by: program) else {
                touch(Place(key: note.primaryKey))
                continue
            }
            touch(held[program][index].place(in: program))
            held[program].insert(held[program].remove(at: index), at: 0)
        }
        return found
    }

    // MARK: Removing

    mutating func delete(_ key: String, by program: Int) {
        remove(key)
        drop(key, by: program)
    }

    mutating func deleteAll(ofOwner owner: String) {
        for place in places where entries[place]?.terms.owner == owner { remove(place) }
    }

    mutating func deleteIdle(longerThan interval: Int64) {
        for place in places where entries[place].map({ $0.accessed < now - interval }) ?? false {
            remove(place)
        }
    }

    mutating func deleteAll() {
        entries = [:]
        places = []
    }

    mutating func pass(_ microseconds: Int64) { now += microseconds }

    mutating func resize(memory: Int, disk: Int) {
        (memoryLimit, diskLimit) = (memory, disk)
        evict(downTo: disk)
    }

    /// A program checks its whole memory, as when it returns its size.
    mutating func sweep(_ program: Int) {
        for found in held[program] where entries[found.place(in: program)]?.version != found.version {
            drop(found.key, by: program)
        }
        trim(program, to: memoryLimit)
    }
}

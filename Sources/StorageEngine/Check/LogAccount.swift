/// The state of each key of a part according to a log: OnDiskFormat, "Reading the log". For one thread. Uses some 100 bytes an
/// entry. Keys are stored as 64 bits, half a hash with a separate secret, to resist crafted collisions.
struct LogAccount {
    struct Word {
        var location: Location
        var valueBytes: UInt32
        /// Whether the frame that stored or removed the key was written since the check began.
        var isNew: Bool
        var isRemoved: Bool
        var isMet = false
        var sequence: UInt64
    }

    private let kind: ArchiveKind
    private let hash: KeyHash
    private let tagHash: KeyHash
    /// Frames from here on were appended since the check began.
    private let begin: Location
    /// Whether the frame that is being applied was appended since the check began.
    private var isNew = false
    private(set) var part: TagRange
    /// For a log archive: messages before this location have been dropped.
    private(set) var oldestMessage = Location.none
    /// Number of messages in memory at which dropped ones are removed.
    private var most = 10_000
    private(set) var last: [UInt64: Word] = [:]
    /// Keys by the location of their latest state, or of a damaged one: an eviction counts only if no later state is intact.
    private var keys: [Location: UInt64] = [:]
    /// For each removed key the sequence of its removal, and below that of the latest `deleteAll`, to detect copies of older states.
    private var removals: [UInt64: UInt64] = [:]
    private var allRemoved: UInt64 = 0
    private struct Aside {
        var word: Word
        var isOverwritten = false
    }

    /// For each key its tombstoned entries, at most one for each action, by the action's place in the undo table.
    private var aside: [UInt64: [Int: Aside]] = [:]
    /// The action at each place of the table, and the keys of its entries.
    private var actions: [Int: (group: UInt32, keys: Set<UInt64>)] = [:]
    /// Locations of tombstoned entries, to find those that `evict` frames drop.
    private var places: [Location: (key: UInt64, place: Int)] = [:]

    init(_ part: TagRange, kind: ArchiveKind, tagHash: KeyHash, begin: Location) throws(StorageError) {
        (self.part, self.kind, self.tagHash, self.begin) = (part, kind, tagHash, begin)
        var secret = ByteReader(try RandomSource.bytes(16, for: "a check"))
        hash = KeyHash(k0: secret.uint64(), k1: secret.uint64())
    }

    /// The number that stands for a frame's key, or for a message; 0 if it isn't in this part.
    func key(of frame: Frame, at location: Location) -> UInt64 {
        guard kind != .log else {
            // Multiplying by an odd factor is reversible: different locations give different keys.
            let key = location.raw &* 0x9E37_79B9_7F4A_7C15
            return part.contains(LogAccount.tag(of: key)) ? key : 0
        }
        let tag = tagHash.tag(frame.key)
        guard part.contains(tag) else { return 0 }
        return UInt64(tag) << 32 | UInt64(max(1, hash.tag(frame.key)))
    }

    static func tag(of key: UInt64) -> UInt32 { UInt32(key >> 32) }

    enum Concern {
        case none
        /// The frame matters only while its key is in the part.
        case ofKey
        /// The frame may matter for every part.
        case always
    }

    func concern(with frame: Frame, at location: Location) -> Concern {
        guard kind != .log, frame.keyBytes > 0, frame.evictions.isEmpty else { return .always }
        return key(of: frame, at: location) == 0 ? .none : .ofKey
    }

    /// Number of stored keys. A tombstoned entry counts as several, because of its memory.
    var count: Int { last.count + removals.count / 4 + LogAccount.asideWeight * places.count }
    private static let asideWeight = 4

    /// Drops half of the part and returns that half, to be examined in another pass; `nil` if it can't be split.
    mutating func halve() -> TagRange? {
        guard let other = part.halve() else { return nil }
        let part = part
        func isOther(_ key: UInt64) -> Bool { !part.contains(LogAccount.tag(of: key)) }
        last = last.filter { !isOther($0.key) }
        keys = keys.filter { !isOther($0.value) }
        removals = removals.filter { !isOther($0.key) }
        aside = aside.filter { !isOther($0.key) }
        places = places.filter { !isOther($0.value.key) }
        actions = actions.mapValues { ($0.group, $0.keys.filter { !isOther($0) }) }
        return other
    }

    /// The latest states. The account is empty afterwards.
    mutating func takeLast() -> [UInt64: Word] {
        keys = [:]
        defer { last = [:] }
        return last
    }

    /// Applies the next frame of the log that counts.
    mutating func add(_ frame: Frame, at location: Location) {
        let change = frame.change(in: kind, at: location)
        isNew = location >= begin
        switch change {
        case .store, .storeInMemory, .remove: removeEntries(namedIn: frame, undo: nil)
        case .evict(let note): removeEntries(namedIn: frame, undo: note)
        default: break
        }
        let key = key(of: frame, at: location)
        guard key != 0 || frame.keyBytes == 0 || kind == .log else { return }
        let word = Word(
            location: location, valueBytes: UInt32(frame.valueBytes), isNew: isNew, isRemoved: false,
            sequence: frame.sequence)
        switch change {
        case .store(let isCopy):
            guard !isCopy || !isOutdated(key, word) else { break }
            markOverwritten(key)
            set(key, word)
        case .storeInMemory:
            // Only the index knows whether the process that holds the entry is alive.
            guard !isOutdated(key, word) else { break }
            markOverwritten(key)
            remove(key, by: frame)
        case .storeDamaged: keys[location] = key
        case .remove: remove(key, by: frame)
        case .removeAll:
            removeAll()
            (removals, allRemoved) = ([:], max(allRemoved, word.sequence))
        case .tombstone(let note): keep(key, word, by: note.group)
        case .restore(let note):
            if let note { restore(note) }
            (removals, allRemoved) = ([:], 0)
        case .setDeadline(let note): if let note, isPresent(key) { begin(note.group) }
        case .append(let oldest):
            if key != 0 { set(key, word) }
            oldestMessage = max(oldestMessage, oldest)
            forgetDropped()
        case .shorten(let oldest): oldestMessage = max(oldestMessage, oldest)
        case .evict, .none: break
        }
    }

    private mutating func removeEntries(namedIn frame: Frame, undo note: RemovalNote?) {
        for location in frame.evictions {
            if note == nil, let found = places[location] { drop(found.key, found.place) }
            guard let key = keys[location], let word = last[key], !word.isRemoved,
                word.location <= location
            else { continue }
            if let note { tombstone(key, word, by: note.group) }
            remove(key, by: frame)
        }
    }

    private mutating func forgetDropped() {
        guard last.count >= most else { return }
        last = last.filter { $0.value.location >= oldestMessage }
        most = max(most, 2 * last.count)
    }

    private mutating func set(_ key: UInt64, _ word: Word) {
        if let before = last[key] { keys[before.location] = nil }
        last[key] = word
        if kind != .log { keys[word.location] = key }
    }

    private mutating func remove(_ key: UInt64, by frame: Frame) {
        removals[key] = frame.sequence
        if let before = last[key] { keys[before.location] = nil }
        // Removals from before the check began need not be stored.
        guard isNew else { return last[key] = nil }
        last[key]?.isRemoved = true
        last[key]?.isNew = true
    }

    private mutating func removeAll() {
        (aside, actions, places) = ([:], [:], [:])
        keys = [:]
        guard isNew else { return last = [:] }
        for key in Array(last.keys) {
            last[key]?.isRemoved = true
            last[key]?.isNew = true
        }
    }

    private func isOutdated(_ key: UInt64, _ copy: Word) -> Bool {
        if let present = last[key], !present.isRemoved { return present.sequence > copy.sequence }
        return copy.sequence < allRemoved || copy.sequence < removals[key] ?? 0
    }

    private func isPresent(_ key: UInt64) -> Bool { last[key].map { !$0.isRemoved } ?? false }

    /// The place of an action in the table. Drops an earlier action's entries there.
    @discardableResult private mutating func begin(_ group: UInt32) -> Int {
        let place = IndexLayout.undoPlace(of: group)
        if let other = actions[place], other.group == group { return place }
        for key in actions[place]?.keys ?? [] { drop(key, place) }
        actions[place] = (group, [])
        return place
    }

    private mutating func tombstone(
        _ key: UInt64, _ word: Word, by group: UInt32, isOverwritten: Bool = false
    ) {
        let place = begin(group)
        drop(key, place)
        aside[key, default: [:]][place] = Aside(word: word, isOverwritten: isOverwritten)
        actions[place]?.keys.insert(key)
        places[word.location] = (key, place)
    }

    /// Applies the copy of a tombstoned entry. A newer state of its key overwrites it.
    private mutating func keep(_ key: UInt64, _ word: Word, by group: UInt32) {
        var isOverwritten = isPresent(key)
        for (place, other) in aside[key] ?? [:] where !other.isOverwritten {
            if other.word.sequence == word.sequence { drop(key, place) }
            if other.word.sequence < word.sequence { aside[key]?[place]?.isOverwritten = true }
            isOverwritten = isOverwritten || other.word.sequence > word.sequence
        }
        tombstone(key, word, by: group, isOverwritten: isOverwritten)
    }

    private mutating func markOverwritten(_ key: UInt64) {
        for place in (aside[key] ?? [:]).keys { aside[key]?[place]?.isOverwritten = true }
    }

    private mutating func drop(_ key: UInt64, _ place: Int) {
        guard let dropped = aside[key]?.removeValue(forKey: place) else { return }
        if aside[key]?.isEmpty ?? false { aside[key] = nil }
        actions[place]?.keys.remove(key)
        places[dropped.word.location] = nil
    }

    private mutating func restore(_ note: RemovalNote) {
        let place = IndexLayout.undoPlace(of: note.group)
        guard let action = actions[place], action.group == note.group else { return }
        for key in action.keys {
            guard let coming = aside[key]?[place] else { continue }
            drop(key, place)
            if coming.isOverwritten, note.keepsOut || isPresent(key) { continue }
            if coming.isOverwritten { markOverwritten(key) }
            guard !isPresent(key) else { continue }
            var back = coming.word
            back.isNew = isNew
            set(key, back)
        }
    }
}

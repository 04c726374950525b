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
    private(set) var part: TagRange
    /// For a log archive: messages before this location have been dropped.
    private(set) var oldestMessage = Location.none
    /// Messages kept in memory before dropped ones are removed from it.
    private var most = 10_000
    private(set) var last: [UInt64: Word] = [:]
    /// Keys by the location of their latest state: an eviction counts only if its location is still the latest.
    private var keys: [Location: UInt64] = [:]
    /// For each removed key the sequence of its removal, and below that of the latest `deleteAll`, to detect copies of older states.
    private var removals: [UInt64: UInt64] = [:]
    private var allRemoved: UInt64 = 0
    private struct Aside {
        var word: Word
        var isSuperseded = false
    }

    /// For each key its tombstoned entries, at most one for each action, by the action's place in the undo table.
    private var aside: [UInt64: [Int: Aside]] = [:]
    /// The action at each place of the table, and the keys of its entries.
    private var actions: [Int: (group: UInt32, keys: Set<UInt64>)] = [:]
    /// Locations of tombstoned entries, to find those that `evict` frames drop.
    private var places: [Location: (key: UInt64, place: Int)] = [:]

    init(_ part: TagRange, kind: ArchiveKind, tagHash: KeyHash) throws(StorageError) {
        self.part = part
        self.kind = kind
        self.tagHash = tagHash
        var secret = ByteReader(try RandomSource.bytes(16, for: "a check"))
        hash = KeyHash(k0: secret.uint64(), k1: secret.uint64())
    }

    /// The number that stands for a frame's key; 0 if the key isn't in this part.
    func key(of frame: LoggedFrame) -> UInt64 {
        guard kind != .log else { return key(ofMessageAt: frame.location) }
        return frame.key.withUnsafeBytes { (key) in
            let tag = UInt32(truncatingIfNeeded: tagHash(key))
            return part.contains(tag)
                ? UInt64(tag) << 32 | UInt64(max(1, UInt32(truncatingIfNeeded: hash(key)))) : 0
        }
    }

    private func key(ofMessageAt location: Location) -> UInt64 {
        // Multiplying by an odd factor is reversible: different locations give different keys.
        let key = location.raw &* 0x9E37_79B9_7F4A_7C15
        return part.contains(LogAccount.tag(of: key)) ? key : 0
    }

    static func tag(of key: UInt64) -> UInt32 { UInt32(key >> 32) }

    enum Concern {
        case none
        /// Only while its key is in the part.
        case ofKey
        /// Possibly, for every part.
        case always
    }

    func concern(with frame: LoggedFrame) -> Concern {
        guard kind != .log, !frame.key.isEmpty, frame.removed.isEmpty else { return .always }
        return key(of: frame) == 0 ? .none : .ofKey
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

    /// Applies the next frame. `isNew`: the frame was appended since the check began.
    mutating func add(_ frame: LoggedFrame, isNew: Bool) {
        guard let kind = frame.header.kind, kind.isMeant(in: self.kind, hasKey: !frame.key.isEmpty) else {
            return
        }
        if kind.namesRemoved {
            let group = kind == .evict ? frame.group : 0
            for place in frame.removed {
                if group == 0, let found = places[place] { drop(found.key, found.place) }
                guard let key = keys[place], let word = last[key], !word.isRemoved else { continue }
                if group != 0 { setAside(key, word, by: group) }
                remove(key, isNew: isNew)
                removals[key] = frame.header.sequence
            }
        }
        let word = Word(
            location: frame.location, valueBytes: UInt32(frame.header.valueBytes), isNew: isNew,
            isRemoved: false, sequence: frame.header.sequence)
        let key = key(of: frame)
        if kind == .message {
            if key != 0 { set(key, word) }
            dropMessages(frame, unlessSaid: oldestMessage)
            return forgetDropped()
        }
        guard key != 0 || frame.key.isEmpty else { return }
        switch kind {
        case .move where isOutdated(key, word): break
        case .put, .move:
            supersede(key)
            set(key, word)
        // The value on disk is replaced; only the index knows whether the process that holds the entry is alive.
        case .delete, .resident:
            if kind == .resident, isOutdated(key, word) { break }
            if kind == .resident { supersede(key) }
            remove(key, isNew: isNew)
            removals[key] = word.sequence
        case .deleteAll:
            removeAll(isNew: isNew)
            (removals, allRemoved) = ([:], max(allRemoved, word.sequence))
        case .kept: if frame.group != 0 { keep(key, word, by: frame.group) }
        case .restore:
            restore(frame.group, keepsOut: frame.keepsOut, isNew: isNew)
            (removals, allRemoved) = ([:], 0)
        case .deadline: if frame.group != 0, isPresent(key) { begin(frame.group) }
        case .evict:
            if self.kind == .log { dropMessages(frame, unlessSaid: frame.location) }
        case .message, .batch, .void: break
        }
    }

    /// Applies a frame of a log archive that names the oldest remaining message.
    private mutating func dropMessages(_ frame: LoggedFrame, unlessSaid: Location) {
        let said = Location(raw: UInt64(bitPattern: frame.header.created))
        let oldest = said == .none ? unlessSaid : min(said, frame.location)
        oldestMessage = max(oldestMessage, oldest)
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

    /// Removals from before the check began need not be stored.
    private mutating func remove(_ key: UInt64, isNew: Bool) {
        if let before = last[key] { keys[before.location] = nil }
        if isNew {
            last[key]?.isRemoved = true
            last[key]?.isNew = true
        } else {
            last[key] = nil
        }
    }

    private mutating func removeAll(isNew: Bool) {
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

    // MARK: Undo

    /// The place of an action in the table. Drops an earlier action's entries there.
    @discardableResult
    private mutating func begin(_ group: UInt32) -> Int {
        let place = IndexLayout.undoPlace(of: group)
        if let other = actions[place], other.group == group { return place }
        for key in actions[place]?.keys ?? [] { drop(key, place) }
        actions[place] = (group, [])
        return place
    }

    private mutating func setAside(
        _ key: UInt64, _ word: Word, by group: UInt32, isSuperseded: Bool = false
    ) {
        let place = begin(group)
        drop(key, place)
        aside[key, default: [:]][place] = Aside(word: word, isSuperseded: isSuperseded)
        actions[place]?.keys.insert(key)
        places[word.location] = (key, place)
    }

    /// Applies the copy of a tombstoned entry. A newer state of its key overwrites it.
    private mutating func keep(_ key: UInt64, _ word: Word, by group: UInt32) {
        var isSuperseded = isPresent(key)
        for (place, other) in aside[key] ?? [:] where !other.isSuperseded {
            if other.word.sequence == word.sequence { drop(key, place) }
            if other.word.sequence < word.sequence { aside[key]?[place]?.isSuperseded = true }
            isSuperseded = isSuperseded || other.word.sequence > word.sequence
        }
        setAside(key, word, by: group, isSuperseded: isSuperseded)
    }

    private mutating func supersede(_ key: UInt64, butAt exempt: Int? = nil) {
        guard !aside.isEmpty else { return }
        for place in aside[key]?.keys.map({ $0 }) ?? [] where place != exempt {
            aside[key]?[place]?.isSuperseded = true
        }
    }

    private mutating func drop(_ key: UInt64, _ place: Int) {
        guard let gone = aside[key]?.removeValue(forKey: place) else { return }
        if aside[key]?.isEmpty ?? false { aside[key] = nil }
        actions[place]?.keys.remove(key)
        places[gone.word.location] = nil
    }

    private mutating func restore(_ group: UInt32, keepsOut: Bool, isNew: Bool) {
        let place = IndexLayout.undoPlace(of: group)
        guard let action = actions[place], action.group == group else { return }
        for key in action.keys {
            guard let coming = aside[key]?[place] else { continue }
            drop(key, place)
            if coming.isSuperseded, keepsOut || isPresent(key) { continue }
            if coming.isSuperseded { supersede(key) }
            guard !isPresent(key) else { continue }
            var back = coming.word
            back.isNew = isNew
            set(key, back)
        }
    }
}

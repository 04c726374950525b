import CPlatform
import SystemC

/// Reads an archive's files without the index, as OnDiskFormat defines, and compares them with look-ups and lists of the index.
/// Takes no lock: the index is listed before the log is read, so that later frames explain differences. Live frames of a segment
/// reclaimed during this are in a newer one, which is read later.
extension ArchiveEngine {
    /// Checks the archive. With active writers, a finding counts only if a second pass repeats it. Reads the log once for each
    /// part of the keys. A part has at most `most` entries. By default, a part uses the greater of 64 MiB and a sixteenth of the
    /// log's size, or less if addresses are limited. `progress` gets the first pass's fraction, which may decrease.
    func check(most: Int? = nil, progress: (Double) -> Void = { _ in }) throws(StorageError) -> CheckReport {
        let most = if let most { most } else { try bearableEntries() }
        var findings = try checkOnce(most, progress)
        for _ in 0..<2 where !findings.report.clean && isChanging(since: findings.head) {
            findings.keep(foundIn: try checkOnce(most) { _ in })
        }
        for gap in try gaps() { findings.add(gap) }
        findings.report.remarks = try leftovers()
        if !findings.hasIndex {
            findings.report.remarks.append(
                "the index's structure was not checked: it changes continuously, or a process died during a change"
            )
        }
        return findings.report
    }

    /// Reports missing segments that the index doesn't report. Segments are removed oldest first and created in sequence, so a
    /// missing one in between was lost.
    private func gaps() throws(StorageError) -> [String] {
        let head = index.head.segment
        let numbers = try log.segmentNumbers().filter { $0 <= head }
        var gaps: [String] = []
        for missing in try log.missing(among: numbers) {
            // Ignores a segment that was created, or whose predecessor was reclaimed, since the folder was listed.
            guard let one = numbers.last(where: { $0 < missing.lowerBound }), one >= index.oldestSegment,
                try log.status(of: missing.lowerBound) == nil, try log.status(of: one) != nil,
                !missing.contains(where: holdsLiveFrames), index.loss?.covers(missing) != true
            else { continue }
            let (first, last) = (
                SegmentHeader.fileName(missing.lowerBound), SegmentHeader.fileName(missing.upperBound)
            )
            let names = first == last ? "\(first) is" : "\(first) to \(last) are"
            gaps.append(
                "\(folder.path): \(names) missing; entries stored there are lost, and older ones may be outdated"
            )
        }
        return gaps
    }

    /// Whether the index counts live frames in the segment.
    fileprivate func holdsLiveFrames(_ segment: UInt32) -> Bool {
        index.liveFrames(ofSegment: segment) >> IndexLayout.liveCountShift != 0
    }

    /// Describes a segment with entries whose file is missing, has a bad header or ends before an entry. Opens the file of each
    /// such segment and reads 64 bytes.
    func lostSegment() throws(StorageError) -> StorageError? {
        let (oldest, newest) = (index.oldestSegment, index.head.segment)
        guard !isCopy, newest > oldest, newest - oldest < UInt32(SegmentLayout.slots) else { return nil }
        var numbers = (oldest...newest).filter { $0 == oldest || holdsLiveFrames($0) }
        if kind == .log {
            // Messages aren't counted by segment.
            numbers = try log.segmentNumbers().filter { (oldest...newest).contains($0) }
            numbers += try log.missing(among: numbers).map(\.lowerBound)
            if !numbers.contains(oldest) { numbers.append(oldest) }
        }
        for number in numbers.sorted() {
            let header = try StorageError.nilIf(
                { $0.isMissing || $0.isUnreadableHeader }, log.checkHeader(of: number))
            if header == nil, number >= index.oldestSegment { return log.unreadable(number) }
        }
        return try cutSegment()
    }

    /// A segment whose file ends before an entry that the index names, or inside a message. Gets the size of each segment's file;
    /// reads all slots of the index, or all messages, only if the files are smaller than the index expects.
    private func cutSegment() throws(StorageError) -> StorageError? {
        let expected = index.segmentBytes
        var sizes: [UInt32: Int] = [:]
        for number in try log.segmentNumbers() { sizes[number] = try log.fileBytes(of: number) }
        let liveBytes: UInt64 = (1 << IndexLayout.liveCountShift) - 1
        guard
            sizes.values.reduce(0, +) < expected
                || sizes.contains(where: { index.liveFrames(ofSegment: $0) & liveBytes > $1 })
        else { return nil }
        guard kind != .log else {
            let end = index.head
            var place = index.firstMessage
            while let found = try MessageReader(self).message(from: place, before: end) {
                if found.isBehindDamage, index.firstMessage <= place { return log.damagedEntry(at: place) }
                place = found.end
            }
            return nil
        }
        for number in 1..<index.usedEntries + 1 {
            guard let slot = index.entry(number), !slot.isMemoryOnly,
                case let (place, bytes)? = slot.read({ (place, _) in (place, Int(slot.frameBytes)) }),
                place.offset + bytes > sizes[place.segment] ?? 0
            else { continue }
            // Files grow before their slots are written, and are removed after their entries were moved.
            let size = try log.fileBytes(of: place.segment)
            if place.offset + bytes > size, slot.location == place, place.segment >= index.oldestSegment {
                return log.damage(
                    of: place.segment, at: size, "the file ends before an entry that the index names")
            }
        }
        return nil
    }

    /// Segments with entries before the log's beginning, which no process is removing now.
    private func leftovers() throws(StorageError) -> [String] {
        func found() throws(StorageError) -> [UInt32] {
            let oldest = index.oldestSegment
            var numbers: [UInt32] = []
            for number in try log.segmentNumbers() where number < oldest {
                if try log.holdsFrames(number) { numbers.append(number) }
            }
            return numbers
        }
        let early = try found()
        guard !early.isEmpty else { return [] }
        // Without a writer, no segment is being removed.
        if index.processes.attached.contains(where: liveness.isAlive) { usleep(100_000) }
        return try found().prefix(CheckReport.maximumProblems).map {
            "\(SegmentHeader.fileName($0)) is older than the log: its removal was interrupted, or the file was restored later; "
                + "then entries stored only in it are lost"
        }
    }

    private func isChanging(since head: Location) -> Bool { index.head != head || index.lockOwner != 0 }

    private func bearableEntries() throws(StorageError) -> Int {
        var bytes = 0
        for number in try log.segmentNumbers() {
            bytes += try folder.status(ofEntry: SegmentHeader.fileName(number))?.allocatedBytes ?? 0
        }
        let most = max(64 << 20, bytes / 16) / CheckPass.entryBytes
        // More parts would read the log too often. An entry uses a byte in the check of the index.
        let entries = min(index.entryCount, Int(index.usedEntries))
        let least = min(most, max(10_000, entries / 64))
        // Requires twice the memory, because memory freed by one part may be fragmented for the next.
        return AddressPressure.countWithinLimit(
            most, least: least, bytesEach: 2 * EntryLister.checkedBytes, besides: entries)
    }

    private func checkOnce(_ most: Int, _ progress: (Double) -> Void) throws(StorageError) -> CheckFindings {
        var done = 0.0
        var parts = [TagRange()]
        var findings = CheckFindings()
        findings.head = index.head
        let totals = (entries: index.entryCount, bytes: index.valueBytes)
        while let part = parts.popLast() {
            // Otherwise all entries of a removed archive would be reported as missing.
            try throwIfRemoved()
            var pass = try CheckPass(self, part, most: most, findings)
            let passes = done + 1 + Double(parts.count)
            try pass.readLog { progress((done + $0) / passes) }
            try pass.compare()
            done += 1
            parts += pass.otherParts
            findings = pass.findings
        }
        try finish(&findings, totals)
        if !findings.report.clean { try throwIfRemoved() }
        return findings
    }

    private func finish(
        _ findings: inout CheckFindings, _ totals: (entries: Int, bytes: UInt64)
    ) throws(StorageError) {
        let (entries, bytes) = (totals.entries - findings.inMemory, totals.bytes)
        // No process is changing the archive, and none has since the check began: the totals are stable.
        let isQuiet = !isChanging(since: findings.head)
        if isQuiet, (entries, bytes) != (findings.report.entries, findings.report.valueBytes),
            findings.report.clean
        {
            findings.add(
                "the index counts \(entries) entries of \(bytes) bytes, the log \(findings.report.entries) of "
                    + "\(findings.report.valueBytes)")
        }
        if index.state == .damaged {
            findings.add(
                "the index is inconsistent; it is rebuilt when all processes have closed the archive")
        }
        try index.catchUp()
        if let violations = IndexChecker.undisturbedViolations(of: self) {
            findings.hasIndex = true
            for violation in violations { findings.add("the index: \(violation)") }
        }
        if !isQuiet { (findings.report.entries, findings.report.valueBytes) = (entries, bytes) }
        // Expired entries that are not removed yet are intact, but no displayed total counts them.
        let overdue = index.deadlines.overdue(at: Clock.boot())
        findings.report.entries = max(0, findings.report.entries - overdue.entries)
        findings.report.valueBytes -= min(findings.report.valueBytes, overdue.bytes)
    }
}

struct CheckFindings {
    var report = CheckReport()
    var inMemory = 0
    var head = Location.none
    /// Whether the log has been read once and its own problems have been reported.
    var hasLog = false
    var hasIndex = false

    mutating func add(_ problem: String) { report.add(problem) }

    /// Keeps only findings that another pass repeated. If one pass has more findings than it lists, keeps all.
    mutating func keep(foundIn other: CheckFindings) {
        var repeated = other.report
        if repeated.damaged == repeated.problems.count, report.damaged == report.problems.count {
            let problems = Set(report.problems)
            repeated.problems.removeAll { !problems.contains($0) }
            repeated.damaged = repeated.problems.count
        } else if !repeated.clean {
            (repeated.damaged, repeated.problems) = (report.damaged, report.problems)
        }
        (report, head) = (repeated, other.head)
        hasIndex = hasIndex || other.hasIndex
    }
}

private struct CheckPass {
    private let engine: ArchiveEngine
    private(set) var findings: CheckFindings
    /// Parts that were split off because there were too many entries.
    private(set) var otherParts: [TagRange] = []
    private let most: Int
    private var account: LogAccount
    private var filter: BatchFilter
    /// Number of frames with a key of this part that ``filter`` may be holding.
    private var held = 0
    private struct Listed {
        let location: Location
        let valueBytes: UInt32
        let number: UInt32
        let tag: UInt32
        /// The key's hash from the frame; 0 until the frame is found in the log.
        var key: UInt64 = 0
        /// Whether the frame is in a damaged or missing part of the log, which is reported already.
        var isReported = false
    }

    static let entryBytes = 175
    /// Memory for a frame of an undecided batch, besides its key, in entries.
    private static let heldWeight = 3
    private var listed: [Listed]
    /// Keys of damaged ranges; the log may have older entries of them.
    private var damagedKeys: Set<UInt64> = []
    /// Tags of entries that are in damaged or missing parts of the log.
    private var lost: Set<UInt32> = []
    private var inMemory: [UInt32] = []
    private var next = 0
    private let begin: Location
    private let end: Location
    private let oldest: UInt32
    /// Keys whose look-up returned another location than the listed one.
    private var misplaced: [(key: UInt64, location: Location, problem: String)] = []

    init(
        _ engine: ArchiveEngine, _ part: TagRange, most: Int, _ findings: CheckFindings
    ) throws(StorageError) {
        self.engine = engine
        self.most = most
        self.findings = findings
        begin = engine.index.head
        listed = []
        oldest = engine.index.oldestSegment
        account = try LogAccount(part, kind: engine.kind, tagHash: engine.hash, begin: begin)
        filter = BatchFilter(kind: engine.kind, copiesFrames: true)
        let lister = EntryLister(engine: engine)
        var entries = try lister.liveReferences(allOf: part, most: most)
        while entries == nil {
            // If all entries have one hash, the part can't be split.
            let other = account.halve()
            if let other { otherParts.append(other) }
            entries = try lister.liveReferences(allOf: account.part, most: other == nil ? .max : most)
        }
        for entry in entries ?? [] {
            if entry.tier == .memory {
                inMemory.append(entry.tag)
            } else {
                listed.append(
                    Listed(
                        location: entry.location, valueBytes: entry.valueBytes, number: entry.number,
                        tag: entry.tag))
            }
        }
        listed.sort { $0.location < $1.location }
        end = engine.index.head
    }

    /// Halves the part until its entries are within the limit.
    private mutating func keepToBounds() {
        while account.count + CheckPass.heldWeight * held > most, let other = account.halve() {
            otherParts.append(other)
            let part = account.part
            var held = 0
            filter.keep { frame, location in
                let concern = account.concern(with: frame, at: location)
                if concern == .ofKey { held += 1 }
                return concern != .none
            }
            self.held = held
            let following = listed[next...].count { part.contains($0.tag) }
            listed.removeAll { !part.contains($0.tag) }
            next = listed.count - following
            inMemory.removeAll { !part.contains($0) }
            misplaced.removeAll { !part.contains(LogAccount.tag(of: $0.key)) }
        }
    }

    private mutating func add(ofLog problem: String) {
        if !findings.hasLog { findings.add(problem) }
    }

    mutating func readLog(_ progress: (Double) -> Void) throws(StorageError) {
        defer { findings.hasLog = true }
        for conflict in try NameConflict.all(in: engine.folder) {
            add(ofLog: conflict.description + "; " + conflict.effect)
        }
        // Anything else in the place of the index is reported above.
        if let file = try? engine.folder.file(named: ArchiveFile.index, writable: false),
            let header = try? IndexHeader(file), header.state == .replaced
        {
            add(ofLog: "\(engine.folder.path): a repair was interrupted; run it again")
        }
        if let loss = engine.index.loss { add(ofLog: loss.description(in: engine.folder)) }
        // Problems of the descriptor itself are reported elsewhere.
        let named = try StorageError.nilIf(
            { $0.isMissing || $0.isUnreadableHeader },
            ArchiveOpening(folder: engine.folder, options: StoreOptions()).otherName)
        if let other = named ?? nil { add(ofLog: ArchiveOpening.nameProblem(other, in: engine.folder)) }
        for name in try engine.folder.names().sorted()
        where name.hasSuffix(".segment") && SegmentHeader.number(ofFileName: name) == nil {
            add(ofLog: "\(engine.folder.path)/\(name): not a valid segment name, so the file is not read")
        }
        let names = try engine.log.segmentNames()
        for stray in names.strays { add(ofLog: engine.log.strayProblem(stray)) }
        let numbers = names.numbers
        for number in missingSegments(numbers) {
            add(ofLog: "\(engine.log.path(of: number)): the segment is missing")
            markLost(from: Location(segment: number, offset: 0))
        }
        for (place, number) in numbers.enumerated() {
            progress(Double(place) / Double(numbers.count))
            try read(number, next: place + 1 < numbers.count ? numbers[place + 1] : nil)
        }
        let cut = try filter.endLog { account.add($0, at: $1) }
        // The last batch may just be being written.
        for batch in filter.dropped where batch.first != cut && batch.first < end {
            add(
                ofLog:
                    "\(engine.log.path(of: batch.first.segment)): the batch from byte \(batch.first.offset) on was "
                    + "never written completely and is ignored")
        }
    }

    private mutating func read(_ number: UInt32, next: UInt32?) throws(StorageError) {
        let path = engine.log.path(of: number)
        let name = SegmentHeader.fileName(number)
        // An absent segment may have been reclaimed.
        guard let file = try engine.folder.fileIfPresent(named: name, writable: false) else { return }
        if let problem = try headerProblem(number) { add(ofLog: problem) }
        guard number >= oldest else { return }
        if let problem = try engine.log.lengthProblem(of: number) { add(ofLog: problem) }
        let reader = try FrameSearch(file, archive: engine.log.identity, segment: number)
        let slots = SegmentLayout.slots(forBytes: reader.bytes)
        if let next, Int(next - number) < slots {
            add(ofLog: "\(path): \(reader.bytes) bytes, longer than this segment may be")
        }
        let result = try reader.scan { (item) throws(StorageError) in
            switch item {
            case .frame(let frame, let location): try take(frame, location, of: reader)
            case .damage(let range):
                try filter.take(item, of: reader) { account.add($0, at: $1) }
                guard Location(segment: number, offset: range.lowerBound) < end else { return }
                try markReported(range, of: reader)
                guard !findings.hasLog else { return }
                let keys = try reader.keys(inDamaged: range)
                let bytes = "bytes \(range.lowerBound) to \(range.upperBound)"
                findings.add("\(path): \(bytes) hold no valid entry\(keys)")
            }
        }
        try filter.end(reader)
        // Zeros before the log tail replaced frames, which are lost.
        if !result.isBlankBehind || number == end.segment, Location(segment: number, offset: result.end) < end
        {
            add(ofLog: "\(path): no valid entry from byte \(result.end) on")
            markLost(from: Location(segment: number, offset: result.end))
        }
    }

    /// Marks the listed entries from this location to the end of its segment as reported: the missing part is one finding.
    private mutating func markLost(from first: Location) {
        markLost(
            from: listed.partitioningIndex { $0.location >= first },
            to: Location(segment: first.segment &+ 1, offset: 0))
    }

    private mutating func markLost(from place: Int, to end: Location) {
        for place in listed[place...].indices.prefix(while: { listed[$0].location < end }) {
            listed[place].isReported = true
            lost.insert(listed[place].tag)
        }
    }

    /// Marks the listed entries of a damaged range as reported, and records its readable keys. The range is one finding.
    private mutating func markReported(_ range: Range<Int>, of reader: FrameSearch) throws(StorageError) {
        let first = Location(segment: reader.segment, offset: range.lowerBound)
        while next < listed.count, listed[next].location < first { next += 1 }
        markLost(from: next, to: Location(segment: reader.segment, offset: range.upperBound))
        _ = try reader.visitDamaged(in: range) { (frame, location) throws(StorageError) in
            if frame.keyBytes > 0 { damagedKeys.insert(account.key(of: frame, at: location)) }
        }
    }

    private func missingSegments(_ numbers: [UInt32]) -> [UInt32] {
        let present = Set(numbers)
        let newest = begin.segment
        guard oldest > 0, oldest < newest, newest - oldest < UInt32(SegmentLayout.slots) else { return [] }
        return (oldest..<newest).filter {
            guard !present.contains($0) else { return false }
            let isKnown = $0 == oldest || engine.holdsLiveFrames($0)
            // A segment reclaimed since is no loss; the oldest segment is a newer one then.
            return isKnown && $0 >= engine.index.oldestSegment
        }
    }

    private func headerProblem(_ number: UInt32) throws(StorageError) -> String? {
        let isNew = number > end.segment
        var problem: String?
        for _ in 0..<(isNew ? 100 : 1) {
            do throws(StorageError) {
                try engine.log.checkHeader(of: number)
                return nil
            } catch {
                if error.isMissing { return nil }
                guard error.isUnreadableHeader else { throw error }
                problem = error.finding
            }
            // The segment is being created, or its creator was killed before storing anything.
            if isNew, try engine.log.isUnwritten(number) { return nil }
        }
        return problem
    }

    private mutating func take(
        _ frame: Frame, _ location: Location, of reader: FrameSearch
    ) throws(StorageError) {
        if location < begin, begin < location.advanced(by: frame.bytes) {
            add(ofLog: "according to the index the log ends inside the entry at \(location)")
        }
        let concern = account.concern(with: frame, at: location)
        if concern == .ofKey { held += 1 }
        // Includes frames after `end`, because the index may already contain their effect.
        try filter.take(.frame(frame, location), of: reader, needed: concern != .none) {
            account.add($0, at: $1)
        }
        if !filter.isOpen { held = 0 }
        try meet(frame, location)
        keepToBounds()
    }

    /// Compares a frame that the index lists with a look-up of its key.
    private mutating func meet(_ frame: Frame, _ location: Location) throws(StorageError) {
        while next < listed.count, listed[next].location < location { next += 1 }
        guard next < listed.count, listed[next].location == location, frame.keyBytes > 0 else { return }
        let key = account.key(of: frame, at: location)
        listed[next].key = key
        if let problem = try lookUp(frame, location), isListed(listed[next]) {
            misplaced.append((key, location, problem))
        }
        if let content = try slotContent(of: listed[next]), content.location == location,
            content.owner != engine.ownerTag(frame.owner)
        {
            let problem = "the index has another owner for the entry at \(location) than the log"
            misplaced.append((key, location, problem))
        }
    }

    private func slotContent(of reference: Listed) throws(StorageError) -> SlotContent? {
        guard let slot = engine.index.entry(reference.number) else { return nil }
        return try engine.slotContent(reference.number, slot, settled: .none)
    }

    /// Whether the index still has the listed location. Otherwise a segment created since may explain the difference.
    private func isListed(_ reference: Listed) -> Bool {
        guard let slot = engine.index.entry(reference.number) else { return false }
        return slot.location == reference.location && engine.index.marks.isVisible(reference.number, slot)
    }

    private func lookUp(_ frame: Frame, _ location: Location) throws(StorageError) -> String? {
        do throws(StorageError) {
            guard let entry = try engine.find(frame.key, tag: engine.hash.tag(frame.key)) else {
                return "the index lists the entry at \(location), but no look-up finds it"
            }
            defer { engine.unpin(entry) }
            guard entry.location != location else { return nil }
            return
                "the index lists the entry at \(location), and a look-up finds the one at \(entry.location)"
        } catch {
            guard error.isCorrupted else { throw error }
            return "the entry at \(location) can't be looked up: \(error.finding)"
        }
    }

    mutating func compare() throws(StorageError) {
        // Frames in segments reclaimed during the check are unknown. Live ones were copied, perhaps after this check.
        let reclaimed = engine.index.oldestSegment
        var words = account.takeLast()
        if engine.kind == .log {
            let oldest = max(engine.index.firstMessage, account.oldestMessage)
            words = words.filter { $0.value.location >= oldest }
        } else {
            compareReferences(&words, reclaimed)
        }
        var live = (count: 0, bytes: UInt64(0))
        for word in words.values where !word.isRemoved && word.location.segment >= reclaimed {
            live.count += 1
            live.bytes += UInt64(word.valueBytes)
        }
        findings.inMemory += inMemory.count
        findings.report.entries += live.count
        findings.report.valueBytes += live.bytes
    }

    private mutating func compareReferences(_ words: inout [UInt64: LogAccount.Word], _ reclaimed: UInt32) {
        for reference in listed where reference.location.segment >= reclaimed && !reference.isReported {
            let key = reference.key
            guard let word = words[key], word.location == reference.location else {
                if reference.location >= begin { continue }
                // The latest frame of its key may be a newer one at another location.
                if let word = words[key], word.isNew { continue }
                if key == 0, reference.location.segment < engine.index.oldestSegment { continue }
                let isIntact = key != 0 && words[key] == nil
                if isIntact { findings.report.unrecorded += 1 }
                findings.add(
                    "the index names an entry at \(reference.location) that the log "
                        + (isIntact ? "has removed" : "does not have"))
                continue
            }
            words[key]?.isMet = true
            if !word.isNew, word.valueBytes != reference.valueBytes {
                findings.add(
                    "the entry at \(reference.location) has \(reference.valueBytes) bytes in the index, \(word.valueBytes) in the log"
                )
            }
        }
        // A newer frame of the key explains the difference.
        for item in misplaced where item.location.segment >= reclaimed {
            guard let word = words[item.key], word.location == item.location, !word.isNew else { continue }
            findings.add(item.problem)
        }
        for (key, word) in words
        where !word.isMet && !word.isRemoved && !word.isNew && word.location.segment >= reclaimed {
            findings.report.unlisted += 1
            let tag = LogAccount.tag(of: key)
            let hidden = engine.index.table.entries(ofTag: tag, hidden: true)
            if hidden.contains(where: { (engine.index.entry($0)?.location ?? .none) >= word.location }) {
                findings.report.deleted += 1
            }
            guard !damagedKeys.contains(key), !lost.contains(tag) else { continue }
            findings.add("the index does not have the entry at \(word.location)")
        }
    }
}

import CPlatform
import SystemC

/// Reads an archive's files without the index, as OnDiskFormat defines, and compares them with look-ups and lists of the index.
/// Takes no lock: the index is listed before the log is read, so that later frames explain differences. Live frames of a segment
/// reclaimed during this are in a newer one, which is read later.
extension ArchiveEngine {
    /// With active writers, a finding counts only if a second pass repeats it. Reads the log once for each part of the
    /// keys. A part has at most `most` entries; by default as many as take the greater of 64 MiB and a sixteenth of the
    /// log's size, or fewer if addresses are short. `progress` gets the first pass's fraction, which may decrease.
    func check(most: Int? = nil, progress: (Double) -> Void = { _ in }) throws(StorageError) -> CheckReport {
        let most = if let most { most } else { try bearableEntries() }
        var report = try checkOnce(most, progress)
        for _ in 0..<2 where !report.clean && isChanging(since: report.head) {
            let again = try checkOnce(most) { _ in }
            report.keep(foundIn: again)
        }
        var result = report.report
        result.remarks = try gaps() + leftovers()
        if !report.hasIndex {
            result.remarks.append(
                "the index's structure was not checked: it changes continuously, or a process died during a change"
            )
        }
        return result
    }

    /// Segments are removed oldest first and created in sequence, so a missing one in between was lost or quarantined.
    private func gaps() throws(StorageError) -> [String] {
        let numbers = try log.segmentNumbers()
        var remarks: [String] = []
        for missing in try log.missing(among: numbers) {
            // Ignores a segment that was created, or whose predecessor was reclaimed, since the folder was listed.
            guard let one = numbers.last(where: { $0 < missing.lowerBound }), one >= index.oldestSegment,
                try log.status(of: missing.lowerBound) == nil, try log.status(of: one) != nil
            else { continue }
            let (first, last) = (
                SegmentHeader.fileName(missing.lowerBound), SegmentHeader.fileName(missing.upperBound)
            )
            let names = first == last ? "\(first) is" : "\(first) to \(last) are"
            remarks.append(
                "\(names) missing; entries stored there are lost unless a repair has moved them")
            if remarks.count == CheckReport.maximumProblems { break }
        }
        return remarks
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

    private func isChanging(since head: Location) -> Bool {
        index.head != head || index.sectionOwner != 0
    }

    private func bearableEntries() throws(StorageError) -> Int {
        var bytes = 0
        for number in try log.segmentNumbers() {
            bytes += try folder.status(ofEntry: SegmentHeader.fileName(number))?.allocatedBytes ?? 0
        }
        let most = max(64 << 20, bytes / 16) / CheckPass.entryBytes
        // More parts would read the log too often. An entry uses a byte in the check of the index.
        let entries = min(index.entryCount, Int(index.usedEntries))
        let least = min(most, max(10_000, entries / 64))
        // Twice, because memory freed by one part may be fragmented for the next.
        return AddressPressure.bearable(
            most, least: least, bytesEach: 2 * EntryLister.checkedBytes, besides: entries)
    }

    private func checkOnce(
        _ most: Int, _ progress: (Double) -> Void
    ) throws(StorageError) -> CheckFindings {
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
        if !findings.clean { try throwIfRemoved() }
        return findings
    }

    private func finish(
        _ findings: inout CheckFindings, _ totals: (entries: Int, bytes: UInt64)
    ) throws(StorageError) {
        let (entries, bytes) = (totals.entries - findings.inMemory, totals.bytes)
        // No process is changing the archive, and none has since the check began: the totals are stable.
        let isQuiet = !isChanging(since: findings.head)
        if isQuiet, (entries, bytes) != (findings.entries, findings.valueBytes), findings.clean {
            findings.add(
                "the index counts \(entries) entries of \(bytes) bytes, the log \(findings.entries) of "
                    + "\(findings.valueBytes)")
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
        if !isQuiet { (findings.entries, findings.valueBytes) = (entries, bytes) }
        // Expired entries that are not removed yet are intact, but no displayed total counts them.
        let overdue = index.deadlines.overdue(at: Clock.boot())
        findings.entries = max(0, findings.entries - overdue.entries)
        findings.valueBytes -= min(findings.valueBytes, overdue.bytes)
    }
}

struct CheckFindings {
    var found = ReplayFindings()
    var entries = 0
    var valueBytes: UInt64 = 0
    var inMemory = 0
    var head = Location.none
    /// Whether the log has been read once and its own problems have been reported.
    var hasLog = false
    var hasIndex = false

    var clean: Bool { found.damaged == 0 }

    mutating func add(_ problem: String) { found.add(problem) }

    var report: CheckReport {
        CheckReport(
            entries: entries, valueBytes: valueBytes, damaged: found.damaged, salvaged: 0,
            problems: found.problems)
    }

    /// Keeps only findings that another pass repeated. If one pass has more findings than it lists, keeps all.
    mutating func keep(foundIn other: CheckFindings) {
        if other.found.damaged == other.found.problems.count, found.damaged == found.problems.count {
            let problems = Set(found.problems)
            found.problems = other.found.problems.filter(problems.contains)
            found.damaged = found.problems.count
        } else if other.clean {
            found = other.found
        }
        (entries, valueBytes, head) = (other.entries, other.valueBytes, other.head)
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
    private var sieve: BatchSieve<LoggedFrame>
    /// Number of frames with a key of this part that ``sieve`` may be holding.
    private var held = 0
    private struct Listed {
        let location: Location
        let valueBytes: UInt32
        let number: UInt32
        let tag: UInt32
        /// The key's hash from the frame; 0 until the frame is found in the log.
        var key: UInt64 = 0
    }

    static let entryBytes = 175
    /// Memory for a frame of an undecided batch, besides its key, in entries.
    private static let heldWeight = 3
    private var listed: [Listed]
    private var inMemory: [UInt32] = []
    private var next = 0
    private let begin: Location
    private let end: Location
    private let oldest: UInt32
    /// Keys whose look-up returned another location than the listed one.
    private var astray: [(key: UInt64, location: Location, problem: String)] = []

    init(
        _ engine: ArchiveEngine, _ part: TagRange, most: Int, _ findings: CheckFindings
    ) throws(StorageError) {
        self.engine = engine
        self.most = most
        self.findings = findings
        begin = engine.index.head
        listed = []
        oldest = engine.index.oldestSegment
        account = try LogAccount(part, kind: engine.kind, tagHash: engine.hash)
        sieve = BatchSieve(kind: engine.kind)
        var entries = try EntryLister(engine: engine).liveReferences(allOf: part, most: most)
        while entries == nil, let other = account.halve() {
            otherParts.append(other)
            entries = try EntryLister(engine: engine).liveReferences(allOf: account.part, most: most)
        }
        // All entries have one hash, so the part can't be split.
        if entries == nil { entries = try EntryLister(engine: engine).liveReferences(allOf: account.part) }
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
            sieve.keep { frame in
                let concern = account.concern(with: frame)
                if concern == .ofKey { held += 1 }
                return concern != .none
            }
            self.held = held
            let following = listed[next...].count { part.contains($0.tag) }
            listed.removeAll { !part.contains($0.tag) }
            next = listed.count - following
            inMemory.removeAll { !part.contains($0) }
            astray.removeAll { !part.contains(LogAccount.tag(of: $0.key)) }
        }
    }

    private mutating func add(ofLog problem: String) {
        if !findings.hasLog { findings.add(problem) }
    }

    // MARK: The files

    mutating func readLog(_ progress: (Double) -> Void) throws(StorageError) {
        defer { findings.hasLog = true }
        for conflict in try NameConflict.all(in: engine.folder) {
            add(ofLog: conflict.description + "; the archive can't be opened for writing")
        }
        if let loss = engine.index.loss { add(ofLog: loss.description(in: engine.folder)) }
        if let problem = try engine.misnaming() { add(ofLog: problem) }
        for name in try engine.folder.names().sorted()
        where name.hasSuffix(".segment") && SegmentHeader.number(ofFileName: name) == nil {
            add(ofLog: "\(engine.folder.path)/\(name): not a valid segment name, so the file is not read")
        }
        let names = try engine.log.segmentNames()
        for stray in names.strays { add(ofLog: engine.log.strayProblem(stray)) }
        let numbers = names.numbers
        for number in missingSegments(numbers) {
            add(ofLog: "\(engine.log.path(of: number)): the segment is missing")
        }
        for (place, number) in numbers.enumerated() {
            progress(Double(place) / Double(numbers.count))
            try read(number, next: place + 1 < numbers.count ? numbers[place + 1] : nil)
        }
        var counting: [LoggedFrame] = []
        let cut = try sieve.endLog { (frame, _) throws(StorageError) in counting.append(frame) }
        take(counting)
        // The last batch may just be being written.
        for batch in sieve.dropped where batch.first != cut && batch.first < end {
            add(
                ofLog:
                    "\(engine.log.path(of: batch.first.segment)): the batch from byte \(batch.first.offset) on never "
                    + "reached the medium completely and is left out")
        }
    }

    private mutating func read(_ number: UInt32, next: UInt32?) throws(StorageError) {
        let path = engine.log.path(of: number)
        guard var reader = try SegmentReader(number, in: engine.folder, archive: engine.log.identity) else {
            return
        }
        if let problem = try headerProblem(reader) { add(ofLog: problem) }
        guard number >= oldest else { return }
        if let problem = reader.lengthProblem { add(ofLog: problem) }
        let slots = SegmentLayout.slots(forBytes: reader.bytes)
        if let next, Int(next - number) < slots {
            add(ofLog: "\(path): \(reader.bytes) bytes, longer than this segment may be")
        }
        let result = try reader.read { (item) throws(StorageError) in
            switch item {
            case .frame(let frame):
                if frame.location < begin, begin < frame.location.advanced(by: frame.header.bytes) {
                    add(
                        ofLog:
                            "according to the index the log ends inside the entry at \(describe(frame.location))"
                    )
                }
                var counting: [LoggedFrame] = []
                let concern = account.concern(with: frame)
                if concern == .ofKey { held += 1 }
                try sieve.take(
                    concern == .none ? nil : frame, frame.role, frame.location, bytes: frame.header.bytes
                ) { (frame, _) throws(StorageError) in counting.append(frame) }
                if !sieve.isOpen { held = 0 }
                take(counting)
                try meet(frame)
                keepToBounds()
            case .damage(let range, let search):
                try sieve.take(damage: range, search.isZero)
                guard Location(segment: number, offset: range.lowerBound) < end else { return }
                add(ofLog: "\(path): bytes \(range.lowerBound) to \(range.upperBound) hold no valid entry")
            }
        }
        try sieve.endSegment(number, reader.isZero)
        // Zeros before the log tail replaced frames, which are lost.
        if !result.isBlankBehind || number == end.segment, Location(segment: number, offset: result.end) < end
        {
            add(ofLog: "\(path): no valid entry from byte \(result.end) on")
        }
    }

    private func missingSegments(_ numbers: [UInt32]) -> [UInt32] {
        let present = Set(numbers)
        let newest = begin.segment
        guard oldest > 0, oldest < newest, newest - oldest < UInt32(SegmentLayout.slots) else { return [] }
        return (oldest..<newest).filter {
            guard !present.contains($0) else { return false }
            let isKnown =
                $0 == oldest || engine.index.liveFrames(ofSegment: $0) >> IndexLayout.liveCountShift != 0
            // A segment reclaimed since is no loss; the oldest segment is a newer one then.
            return isKnown && $0 >= engine.index.oldestSegment
        }
    }

    private func headerProblem(_ reader: SegmentReader) throws(StorageError) -> String? {
        let problem: StorageError
        switch reader.header {
        case .success(let header):
            if header.archive == engine.log.identity, header.segment == reader.number { return nil }
            problem = .corrupted(
                path: engine.log.path(of: reader.number),
                offset: header.archive == engine.log.identity ? 12 : SegmentHeader.archiveOffset,
                reason: header.archive == engine.log.identity
                    ? "is segment \(header.segment) under another name" : "belongs to another archive")
        case .failure(let error): problem = error
        }
        guard reader.number > end.segment else { return problem.finding }
        // The segment is being created, or its creator was killed before storing anything, or it was removed since.
        for _ in 0..<100 {
            if try engine.log.isUnwritten(reader.number) { return nil }
            do throws(StorageError) {
                try engine.log.checkHeader(of: reader.number)
                return nil
            } catch {
                if case .system(_, _, SystemCode.missing) = error { return nil }
                guard case .corrupted = error else { throw error }
            }
        }
        return problem.finding
    }

    /// Includes frames after `end`, because the index may already contain their effect.
    private mutating func take(_ frames: [LoggedFrame]) {
        for frame in frames { account.add(frame, isNew: frame.location >= begin) }
    }

    private mutating func meet(_ frame: LoggedFrame) throws(StorageError) {
        while next < listed.count, listed[next].location < frame.location { next += 1 }
        guard next < listed.count, listed[next].location == frame.location, !frame.key.isEmpty else { return }
        let key = account.key(of: frame)
        listed[next].key = key
        if let problem = try lookUp(frame), isListed(listed[next]) {
            astray.append((key, frame.location, problem))
        }
        if let line = try line(of: listed[next]), line.location == frame.location,
            line.owner != frame.owner.withUnsafeBytes(engine.ownerTag)
        {
            let problem =
                "the index has another owner for the entry at \(describe(frame.location)) than the log"
            astray.append((key, frame.location, problem))
        }
    }

    private func line(of reference: Listed) throws(StorageError) -> EntryLine? {
        guard let slot = engine.index.entry(reference.number) else { return nil }
        return try engine.line(reference.number, slot, settled: .none)
    }

    /// Whether the index still has the listed location. Otherwise a segment created since may explain the difference.
    private func isListed(_ reference: Listed) -> Bool {
        guard let slot = engine.index.entry(reference.number) else { return false }
        return slot.location == reference.location && engine.index.marks.isVisible(reference.number, slot)
    }

    private func lookUp(_ frame: LoggedFrame) throws(StorageError) -> String? {
        let place = describe(frame.location)
        do throws(StorageError) {
            let found = try frame.key.withUnsafeBytesTyped { (key) throws(StorageError) -> Location? in
                guard let entry = try engine.find(key, tag: UInt32(truncatingIfNeeded: engine.hash(key)))
                else {
                    return nil
                }
                defer { engine.unpin(entry) }
                return entry.location
            }
            if found == frame.location { return nil }
            guard let found else { return "the index lists the entry at \(place), but no look-up finds it" }
            return "the index lists the entry at \(place), and a look-up finds the one at \(describe(found))"
        } catch {
            guard case .corrupted = error else { throw error }
            return "the entry at \(place) can't be looked up: \(error.finding)"
        }
    }

    // MARK: Comparing index and log

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
        findings.entries += live.count
        findings.valueBytes += live.bytes
    }

    private mutating func compareReferences(_ words: inout [UInt64: LogAccount.Word], _ reclaimed: UInt32) {
        for reference in listed where reference.location.segment >= reclaimed {
            let key = reference.key
            guard let word = words[key], word.location == reference.location else {
                if reference.location >= begin { continue }
                // The latest frame of its key may be a newer one at another location.
                if let word = words[key], word.isNew { continue }
                if key == 0, reference.location.segment < engine.index.oldestSegment { continue }
                findings.add(
                    "the index names an entry at \(describe(reference.location)) that the log does not have")
                continue
            }
            words[key]?.isMet = true
            if !word.isNew, word.valueBytes != reference.valueBytes {
                findings.add(
                    "the entry at \(describe(reference.location)) has \(reference.valueBytes) bytes in the index, \(word.valueBytes) in the log"
                )
            }
        }
        // A newer frame of the key explains the difference.
        for item in astray where item.location.segment >= reclaimed {
            guard let word = words[item.key], word.location == item.location, !word.isNew else { continue }
            findings.add(item.problem)
        }
        for word in words.values
        where !word.isMet && !word.isRemoved && !word.isNew && word.location.segment >= reclaimed {
            findings.add("the index does not have the entry at \(describe(word.location))")
        }
    }

    private func describe(_ location: Location) -> String {
        "byte \(location.offset) of \(SegmentHeader.fileName(location.segment))"
    }
}

extension ArchiveEngine {
    fileprivate func misnaming() throws(StorageError) -> String? {
        do throws(StorageError) {
            guard let other = try ArchiveOpening(folder: folder, options: StoreOptions()).otherName else {
                return nil
            }
            return ArchiveOpening.nameProblem(other, in: folder)
        } catch {
            switch error {
            // Problems of the descriptor itself are reported elsewhere.
            case .corrupted, .unsupportedVersion, .system(_, _, SystemCode.missing): return nil
            default: throw error
            }
        }
    }
}

extension [UInt8] {
    fileprivate func withUnsafeBytesTyped<Result>(
        _ body: (UnsafeRawBufferPointer) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        let result = withUnsafeBytes { bytes in
            Swift.Result { () throws(StorageError) in try body(bytes) }
        }
        return try result.get()
    }
}

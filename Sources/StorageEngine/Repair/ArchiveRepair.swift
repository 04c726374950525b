import CPlatform

/// A repair of one archive, by one thread. Until the rebuilt index replaces it, the old one stays as evidence that no process
/// trusts, so a repair that was interrupted can be repeated. OnDiskFormat, "Repairing".
struct ArchiveRepair {
    let folder: FileDescriptor
    let name: String
    let identity: [UInt8]
    let kind: ArchiveKind
    let knownHead: Location?
    var evidence: PriorIndexEvidence?
    private var found = CheckReport()
    /// The offset in each segment from which on entries count as salvaged.
    var salvagedFrom: [UInt32: Int] = [:]
    /// Damaged frames that have intact frames of their batch behind them, and its first frame.
    var batches: [Location: Location] = [:]

    static func run(
        on folder: FileDescriptor, name: String, options: StoreOptions,
        _ progress: (Double) -> Void = { _ in }
    ) throws(StorageError) -> RepairReport {
        // Moves these items first, because they may have lock files' names. No process can lock an item that isn't a file.
        var conflicts: [String] = []
        for conflict in try NameConflict.all(in: folder) {
            if let refusal = conflict.refusal { throw refusal }
            let kept = try DamagedFile.quarantine(conflict.name, in: folder)
            conflicts.append(conflict.description + "; renamed to \(kept)")
        }
        let openLock = try OpenLock.take(in: folder, archive: name)
        defer { openLock.release() }
        let attachment = try folder.fileMakingIfMissing(named: ArchiveFile.attached)
        let known = try ArchiveOpening.ifDescribed(folder, options)
        guard try attachment.lock(.exclusive, within: FileDescriptor.startNanoseconds) else {
            throw .busy(
                archive: name, process: known?.firstUser ?? 0,
                reason: "a repair needs exclusive access; close it there, then try again")
        }
        defer { attachment.unlock() }
        let (descriptor, loss) = try ArchiveRepair.descriptor(of: folder, name: name, options: options)
        var repair = ArchiveRepair(
            folder: folder, name: name, identity: descriptor.identity, kind: descriptor.configuration.kind,
            knownHead: loss == nil ? try known?.ownIndex()?.header.head : nil,
            evidence: try PriorIndexEvidence(folder, descriptor, forRepair: true))
        for conflict in conflicts { repair.report(conflict) }
        try folder.unlink(ArchiveFile.newIndex)
        try repair.keepEvidence()
        if let loss {
            try repair.replaceDescriptor(descriptor, loss)
        } else if let other = known?.otherName {
            try ArchiveOpening.replaceDescriptor(descriptor, in: folder)
            repair.report(ArchiveOpening.nameProblem(other, in: folder) + "; renamed to match the folder")
        }
        try repair.mendSegments(progress)
        return try repair.finish(ArchiveOpening(folder: folder, options: options), attachment: attachment)
    }

    private mutating func keepEvidence() throws(StorageError) {
        guard let evidence else { return try folder.unlink(ArchiveFile.index) }
        if evidence.isReplaced {
            report("\(folder.path): an earlier repair was interrupted; it was completed")
        }
        try evidence.markReplaced(in: folder, evidence.lossBeforeRepair())
    }

    mutating func report(_ problem: String) { found.add(problem) }

    /// The byte range of a whole file, to begin a line about the file; empty for an empty file.
    static func whole(_ bytes: Int) -> String { bytes == 0 ? "" : "bytes 0 to \(bytes): " }

    /// The descriptor, or a new one and the reason: identity from segments, name from the folder, any secret (the index is rebuilt).
    private static func descriptor(
        of folder: FileDescriptor, name: String, options: StoreOptions
    ) throws(StorageError) -> (Descriptor, loss: String?) {
        var loss: String
        var present: Descriptor?
        do throws(StorageError) {
            present = try ArchiveOpening(folder: folder, options: options).descriptor
            loss = "belongs to another archive"
        } catch {
            guard case .corrupted(_, _, let reason) = error else { throw error }
            loss = reason
        }
        let identities = try ArchiveIdentities(folder, descriptor: present)
        if let present, identities.best == nil || identities.best == present.identity {
            guard present.name != name else { return (present, nil) }
            var renamed = present
            renamed.name = name
            return (renamed, "named the archive \"\(present.name)\", which doesn't match the folder")
        }
        var identity = try RandomSource.bytes(16, for: folder.path)
        if let best = identities.best { identity = best }
        let configuration = try LogContent(folder, identity: identity).configuration
        let descriptor = Descriptor(
            identity: identity, hashKey: try RandomSource.bytes(16, for: folder.path),
            created: Clock.wall(), name: name, configuration: configuration)
        return (descriptor, loss)
    }

    private mutating func replaceDescriptor(_ descriptor: Descriptor, _ loss: String) throws(StorageError) {
        let file = Descriptor.fileName
        var bytes = 0
        var kept = ""
        if try folder.hasEntry(named: file) {
            bytes = try folder.status(ofEntry: file)?.bytes ?? 0
            kept = "; the old file is kept as \(try DamagedFile.quarantine(file, in: folder))"
        }
        try ArchiveOpening.replaceDescriptor(descriptor, in: folder)
        report(
            "\(folder.path)/\(file): \(ArchiveRepair.whole(bytes))recreated (\(loss))\(kept). "
                + LogContent.description(of: descriptor.configuration))
    }

    private mutating func finish(
        _ opening: ArchiveOpening, attachment: FileDescriptor
    ) throws(StorageError) -> RepairReport {
        evidence?.isDamaged = found.damaged > 0
        let (memory, _) = try opening.buildIndex(attachment: attachment, evidence: evidence)
        defer { withExtendedLifetime(memory) {} }
        let index = ChangingIndex(unshared: memory)
        // The counters of a new index include only the rebuild.
        if case let stored = index.count(.records), stored > 0 {
            let entries = stored == 1 ? "1 entry" : "\(stored) entries"
            report("\(folder.path): stored \(entries) again that only the old index had")
        }
        if case let removed = index.count(.deletes), removed > 0 {
            let entries = removed == 1 ? "1 outdated entry" : "\(removed) outdated entries"
            report("\(folder.path): removed \(entries), unlisted or deleted in the old index")
        }
        if evidence?.isRejected == true {
            report(
                "\(folder.path): the old index is damaged or of another copy, and was not used; older values may be current"
            )
        }
        let entries = index.entryCount
        if let loss = index.loss {
            report(loss.description(in: folder) + "; from now on the log counts as complete without it")
        }
        // Clears the loss last: until then a check reports it, and another repair repeats this one.
        index.setLoss(nil)
        let salvaged = (0..<index.usedEntries).count { place in
            guard let location = index.entry(place + 1)?.location, location != .none else { return false }
            return salvagedFrom[location.segment].map { location.offset >= $0 } ?? false
        }
        // Without the mark, the next opening verifies the index.
        try? index.cleanMark.set()
        return RepairReport(
            entries: entries, valueBytes: index.valueBytes, damaged: found.damaged, salvaged: salvaged,
            problems: found.problems)
    }
}

/// The archive to which the files of a folder belong, according to its segments.
struct ArchiveIdentities {
    /// The descriptor's identity, unless no segment has it and two files agree on another; else the most common, or `nil`.
    let best: [UInt8]?

    init(_ folder: FileDescriptor, descriptor: Descriptor?) throws(StorageError) {
        var votes: [[UInt8]: Int] = [:]
        var unsure: [UInt32] = []
        var guesses: Set<[UInt8]> = []
        if let descriptor { guesses.insert(descriptor.identity) }
        for number in try folder.names().compactMap(SegmentHeader.number(ofFileName:)) {
            let name = SegmentHeader.fileName(number)
            guard let file = try folder.fileIfPresent(named: name, writable: false) else { continue }
            let bytes = try file.read(atMost: SegmentHeader.bytes)
            do throws(StorageError) {
                let header = try SegmentHeader.decode(bytes, path: file.path)
                if header.segment == number { votes[header.archive, default: 0] += 1 }
            } catch {
                guard error.isCorrupted else { throw error }
                if bytes.count == SegmentHeader.bytes { guesses.insert(Array(bytes[16..<32])) }
            }
            unsure.append(number)
        }
        let evidence = try ArchiveIdentities.claim(of: ArchiveFile.index, in: folder)
        let claims = [evidence, try ArchiveIdentities.claim(of: Descriptor.fileName, in: folder)]
        guesses.formUnion(claims.compactMap { $0 })
        // If the headers identify no archive, frames do: they pass their checksums only with the right identity.
        if votes.isEmpty {
            for guess in guesses {
                for number in unsure {
                    let name = SegmentHeader.fileName(number)
                    guard let file = try folder.fileIfPresent(named: name, writable: false),
                        try FrameSearch(file, archive: guess, segment: number).findsFrame()
                    else { continue }
                    votes[guess, default: 0] += 1
                }
            }
        }
        let own = descriptor.flatMap { votes[$0.identity] } ?? 0
        let most = votes.max { $0.value < $1.value }
        if let descriptor,
            own > 0 || evidence == descriptor.identity || (most?.value ?? 0) < 2 && evidence != most?.key
        {
            best = descriptor.identity
        } else {
            best = most?.key
        }
    }

    /// The archive's identity in a file (all files have it at the same offset); `nil` if the file is missing or too short.
    private static func claim(of name: String, in folder: FileDescriptor) throws(StorageError) -> [UInt8]? {
        let bytes = try folder.fileIfPresent(named: name, writable: false)?.read(atMost: 32)
        return bytes.flatMap { $0.count == 32 ? Array($0[16..<32]) : nil }
    }
}

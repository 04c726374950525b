import TestSupport
import Foundation
import StorageEngine
import Testing

/// R6: a repair keeps intact entries, moves damaged bytes to other files, and makes the archive clean.
@Suite struct RepairTests {
    private static let entries = 1200

    private static func value(_ number: Int) -> [UInt8] {
        Array("value \(number) ".utf8) + repeated(0x61, number % 200)
    }

    /// A closed cache of several segments, with a new identity.
    private func filled() throws -> TemporaryFolder {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive(
            creating: ArchiveConfiguration(kind: .cache, diskLimit: 4_000_000, typeName: "Sample"))
        for number in 0..<RepairTests.entries {
            try archive.put(RepairTests.value(number), forKey: "key \(number)")
        }
        archive.close()
        return folder
    }

    enum Damage: String, CaseIterable {
        case none, bit, stretch, header, headerAndFirstFrame, foreignHeader, foreignSegment, randomSegment
        case duplicate, emptySegment, truncatedOlder, truncatedNewest, garbageBehindNewest, index
        case noDescriptor, damagedDescriptor, foreignDescriptor, noDescriptorAndNoHeaders

        /// Number of entries that may be lost.
        var mayLose: ClosedRange<Int> {
            switch self {
            case .bit, .headerAndFirstFrame: 1...1
            case .stretch: 1...40
            case .randomSegment, .foreignSegment, .emptySegment: 200...700
            case .truncatedOlder, .truncatedNewest: 1...700
            default: 0...0
            }
        }

        /// Bytes after the log tail of a trusted index belong to an unfinished operation.
        var isReported: Bool {
            switch self {
            case .none, .index, .garbageBehindNewest: false
            default: true
            }
        }

        var leavesBytes: Bool { isReported && self != .noDescriptor }

        var losesDescriptor: Bool {
            switch self {
            case .noDescriptor, .damagedDescriptor, .foreignDescriptor, .noDescriptorAndNoHeaders: true
            default: false
            }
        }
    }

    private func apply(_ damage: Damage, to folder: TemporaryFolder, _ other: TemporaryFolder) throws {
        func path(_ file: String) -> String { folder.archivePath("A", file) }
        let segments = try folder.segments()
        try #require(segments.count >= 3)
        let first = path(segments[0])
        let newest = path(segments[segments.count - 1])
        let foreign = try contents(of: other.archivePath("A", segments[0]))
        switch damage {
        case .none: break
        case .bit: try change(file: first) { $0[9000] ^= 1 }
        case .stretch:
            try change(file: first) {
                $0.replaceSubrange(5000..<8003, with: Data(repeating: 0x5a, count: 3003))
            }
        case .header: try change(file: first) { $0[20] ^= 4 }
        case .headerAndFirstFrame:
            try change(file: first) { $0.replaceSubrange(0..<80, with: Data(count: 80)) }
        case .foreignHeader: try change(file: first) { $0.replaceSubrange(0..<64, with: foreign[0..<64]) }
        case .foreignSegment: try foreign.write(to: URL(fileURLWithPath: first))
        case .randomSegment:
            var random = SeededGenerator(seed: 11)
            try change(file: first) { $0 = Data($0.map { _ in UInt8.random(in: 0...255, using: &random) }) }
        case .duplicate: try FileManager.default.copyItem(atPath: first, toPath: path("000000f0.segment"))
        case .emptySegment: try Data().write(to: URL(fileURLWithPath: first))
        case .truncatedOlder: try change(file: first) { $0 = $0.prefix(20_045) }
        case .truncatedNewest: try change(file: newest) { $0 = $0.prefix(3001) }
        case .garbageBehindNewest:
            try change(file: newest) { data in
                let end = ((data.lastIndex { $0 != 0 } ?? 0) + 16) & ~7
                data.replaceSubrange(end..<end + 100, with: Data(repeating: 7, count: 100))
            }
        case .index: try change(file: path("index")) { $0[262_144 + 40] ^= 1 }
        case .noDescriptor: try FileManager.default.removeItem(atPath: path("descriptor"))
        case .damagedDescriptor: try change(file: path("descriptor")) { $0[60] ^= 1 }
        case .foreignDescriptor:
            try contents(of: other.archivePath("A", "descriptor"))
                .write(to: URL(fileURLWithPath: path("descriptor")))
        case .noDescriptorAndNoHeaders:
            try FileManager.default.removeItem(atPath: path("descriptor"))
            // The identity stays in one of them.
            for segment in segments {
                try change(file: path(segment)) { $0[segment == segments[1] ? 3 : 20] ^= 1 }
            }
        }
    }

    @Test("repairs all kinds of damage", arguments: Damage.allCases)
    func repair(damage: Damage) throws {
        let folder = try filled()
        let other = try filled()
        try apply(damage, to: folder, other)
        let store = try Store.open(at: folder.store)
        defer { store.close() }
        let report = try store.repair(archiveNamed: "A")
        #expect((report.damaged > 0) == damage.isReported, "\(report)")
        #expect(report.damaged == report.problems.count)
        #expect(damage.mayLose.contains(RepairTests.entries - report.entries), "\(report)")
        let archive = try store.archive(named: "A")
        let check = try archive.check()
        #expect(check.clean, "\(check.problems)")
        #expect(check.entries == report.entries && check.valueBytes == report.valueBytes)
        for number in 0..<RepairTests.entries {
            let found = try archive.peek("key \(number)")
            #expect(found == nil || found == RepairTests.value(number), "key \(number)")
        }
        #expect(try archive.entries().count == report.entries)
        #expect(try archive.configuration().kind == (damage.losesDescriptor ? .collection : .cache))
        let kept = try folder.files(inArchive: "A").filter { $0.hasSuffix(".damaged") }
        #expect(kept.isEmpty == !damage.leavesBytes)
        for name in kept { #expect(report.problems.contains { $0.contains(name) }, "\(name)") }
        try archive.put([1, 2, 3], forKey: "new")
        #expect(try archive.peek("new") == [1, 2, 3])
        #expect(try archive.invariantViolations() == [])
        archive.close()
        let again = try store.repair(archiveNamed: "A")
        #expect(again.damaged == 0 && again.entries == report.entries + 1, "\(again)")
        try store.removeArchive(named: "A")
        #expect(!FileManager.default.fileExists(atPath: folder.store + "/A.archive"))
    }

    @Test("keeps damaged bytes at their offsets") func keptBytes() throws {
        let folder = try filled()
        try change(file: folder.archivePath("A", "00000001.segment")) { $0[9000] ^= 1 }
        let before = try contents(of: folder.archivePath("A", "00000001.segment"))
        let report = try folder.repair()
        let problem = try #require(report.problems.first)
        let words = problem.split(separator: " ")
        let place = try #require(words.firstIndex(of: "bytes"))
        let from = try #require(Int(words[place + 1]))
        let to = try #require(Int(words[place + 3].dropLast()))
        #expect(from < 9000 && to > 9000)
        #expect(problem.contains("00000001.segment: bytes \(from) to \(to): "))
        let kept = try contents(of: folder.archivePath("A", "00000001.segment.damaged"))
        #expect(kept.count == to)
        #expect(kept[from..<to] == before[from..<to])
        #expect(report.salvaged > 0 && report.salvaged < report.entries)
    }

    @Test("a repair needs exclusive access") func exclusiveAccess() throws {
        let folder = try filled()
        let store = try Store.open(at: folder.store)
        let archive = try store.archive(named: "A")
        #expect { try store.repair(archiveNamed: "A") } throws: {
            guard case .busy("A", getpid(), _)? = $0 as? StorageError else { return false }
            return true
        }
        #expect(try archive.peek("key 1") == RepairTests.value(1))
        archive.close()
        #expect(try store.repair(archiveNamed: "A").damaged == 0)
        #expect(throws: StorageError.readOnly(operation: "repair archive \"A\"")) {
            try Store.open(at: folder.store, mode: .readOnly).repair(archiveNamed: "A")
        }
        #expect(throws: StorageError.noSuchArchive(name: "B", store: folder.store)) {
            try store.repair(archiveNamed: "B")
        }
    }

    @Test("a new segment doesn't replace an existing file") func existingFile() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let other = try filled()
        let archive = try folder.archive(creating: .cache())
        try archive.put([1], forKey: "old")
        let next = folder.archivePath("A", "00000002.segment")
        let foreign = try contents(of: other.archivePath("A", "00000002.segment"))
        try foreign.write(to: URL(fileURLWithPath: next))
        for number in 0..<80 { try archive.put(repeated(5, 1000), forKey: "\(number)") }
        #expect(try archive.peek("old") == [1])
        #expect(try contents(of: next + ".damaged") == foreign)
        #expect(try archive.check().clean)
    }

    @Test("damaged segment headers lose nothing") func damagedHeaders() throws {
        let folder = try filled()
        for segment in try folder.segments() {
            try change(file: folder.archivePath("A", segment)) { $0[20] ^= 1 }
        }
        let archive = try folder.rebuilt()
        try archive.put([2], forKey: "new")
        #expect(try archive.entries().count == RepairTests.entries + 1)
        #expect(try !archive.check().clean)
    }

    @Test("doesn't open with the descriptor of another archive") func foreignDescriptor() throws {
        let folder = try filled()
        let other = try filled()
        try apply(.foreignDescriptor, to: folder, other)
        let store = try Store.open(at: folder.store)
        #expect { try store.archive(named: "A") } throws: {
            $0.damagedFile == folder.archivePath("A", "descriptor")
        }
        #expect(try store.repair(archiveNamed: "A").entries == RepairTests.entries)
    }

    @Test("a check reports a cleared log tail") func clearedTail() throws {
        let folder = try filled()
        let segments = try folder.segments()
        let newest = folder.archivePath("A", segments[segments.count - 1])
        try overwrite(newest, at: 4000, with: Data(count: contents(of: newest).count - 4000))
        let report = try folder.check()
        #expect(report.problems.contains { $0.contains("no valid entry from byte") }, "\(report.problems)")
    }
}

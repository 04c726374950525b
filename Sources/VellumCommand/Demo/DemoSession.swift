import StorageEngine
import StoreInspection

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// For one thread. A store of cities with a workload on it in a second process, until ``end()``.
final class DemoSession {
    /// The store's folder.
    let path: String
    private let archive: Archive
    private let before: ArchiveStatus
    private let start: Double
    private let workload: WorkloadProcess
    /// To be removed at the end.
    private let temporary: TemporaryFolder?

    /// `store`: the folder of a store to use or make, nil for a temporary one. The workload's process removes a temporary
    /// one at its end, unless told to `keep` it, so that nothing is left behind even if this process is killed.
    init(store: String?, keeps: Bool, rate: Int, seed: UInt64, isSilent: Bool) throws {
        let dataPath = try DemoFile.path()
        let data = try DemoData(path: dataPath)
        let made = store == nil ? try TemporaryFolder() : nil
        path = made?.path ?? store ?? ""
        temporary = keeps ? nil : made
        do {
            try Self.fill(path, with: data)
            let store = try Store.open(at: path, mode: .readOnly, createIfMissing: false)
            archive = try store.archive(named: DemoData.archiveName)
            before = try archive.status()
            start = MonotonicClock.seconds()
            workload = try WorkloadProcess(
                store: path, dataPath: dataPath, rate: rate, seed: seed, removesStore: temporary != nil,
                isSilent: isSilent)
        } catch {
            made?.remove()
            throw error
        }
        if made != nil, keeps { Narration.say("the store is \(path)") }
    }

    /// What the workload has done so far.
    func figures() throws -> DemoFigures {
        DemoFigures(from: before, to: try archive.status(), seconds: MonotonicClock.seconds() - start)
    }

    /// Waits while the workload works, telling every second how far it is. A signal that asks to end ends the wait.
    func wait(seconds: Double) throws {
        var nextReport = 1.0
        while !Interruption.isRequested {
            let elapsed = MonotonicClock.seconds() - start
            let left = seconds - elapsed
            guard left > 0 else { return }
            if workload.hasEnded() {
                throw CommandFailure("the workload ended too early", status: .storeFailure)
            }
            if elapsed >= nextReport {
                nextReport = elapsed.rounded(.down) + 1
                Narration.say(try figures().progress)
            }
            poll(nil, 0, Int32(min(left, nextReport - elapsed, 0.5) * 1000) + 1)
        }
    }

    func end() {
        workload.end()
        // Done already, unless that process was killed.
        temporary?.remove()
    }

    private static func fill(_ path: String, with data: DemoData) throws {
        let store = try Store.open(at: path, options: StoreOptions(processName: "vellum demo"))
        defer { store.close() }
        let archive = try store.archive(
            named: DemoData.archiveName,
            orCreate: ArchiveConfiguration(
                kind: .cache, diskLimit: UInt64(data.bytes / 2), typeName: DemoData.typeName))
        guard try archive.configuration().typeName == DemoData.typeName else {
            throw CommandFailure(
                "\(path) has an archive \(DemoData.archiveName) already that isn't the demonstration's",
                status: .usage)
        }
        let countries = try store.archive(
            named: DemoCountries.archiveName,
            orCreate: ArchiveConfiguration(
                kind: .collection, diskLimit: nil, typeName: DemoCountries.archiveName))
        guard try countries.configuration().typeName == DemoCountries.archiveName else {
            throw CommandFailure(
                "\(path) has an archive \(DemoCountries.archiveName) already that isn't the demonstration's",
                status: .usage)
        }
        try DemoCountries(data).record(in: countries)
        let log = try store.archive(
            named: DemoJournal.archiveName,
            orCreate: ArchiveConfiguration(kind: .log, diskLimit: DemoJournal.diskLimit))
        guard try log.configuration().kind == .log else {
            throw CommandFailure(
                "\(path) has an archive \(DemoJournal.archiveName) already that is no log", status: .usage)
        }
        for place in data.keys.indices {
            try archive.put(
                data.values[place], forKey: data.keys[place], encoding: .cbor,
                attributes: data.attributes(of: place))
        }
        let total = Figures.amount(data.keys.count, bytes: UInt64(data.bytes))
        Narration.say("recorded \(total) into an archive for half of them")
        try log.append(Array("demo     \(total) recorded, for half of which there is room".utf8))
    }
}

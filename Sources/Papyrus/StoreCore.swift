import Dispatch
import Foundation
import StorageEngine

/// The archive behind all stores of one folder in this process. Opened when it is needed; opened or made anew when it was
/// removed. Safe from any thread.
final class StoreCore: @unchecked Sendable {
    /// Of the one archive that has the objects of all types: what is saved together is in one archive, for a batch is.
    static let archiveName = "Papyrus"

    let path: String
    private let refusal: StorageError?
    private let lock = NSLock()
    // Guarded by `lock`.
    private var archive: Archive?
    /// Of the latest store that was made with this folder: what is found out when the archive is opened no call asked for.
    private weak var journal: Journal?

    /// Reads for all who observe, one after another: however many they are, they take one thread from all other work.
    let lane = ObservationLane()

    private init(path: String, refusal: StorageError?) {
        self.path = path
        self.refusal = refusal
    }

    private struct Weak {
        weak var core: StoreCore?
    }

    private static let known = Guarded<[ExactText: Weak]>([:])

    /// Stores come and go with the views that use them; the archive stays open as long as one of them is there.
    static func at(_ url: URL) -> StoreCore {
        let path = url.standardizedFileURL.path
        let refusal: StorageError? =
            url.isFileURL ? nil : .notAStore(path: url.absoluteString, reason: "it is no file URL")
        return known.withLock { known in
            let key = ExactText(url.isFileURL ? path : url.absoluteString)
            if let core = known[key]?.core { return core }
            let new = StoreCore(path: path, refusal: refusal)
            known = known.filter { $0.value.core != nil }
            known[key] = Weak(core: new)
            return new
        }
    }

    func report(to journal: Journal) { lock.withLock { self.journal = journal } }

    /// The program's own stays open.
    static let ofProgram = at(defaultPlace())

    /// `$VELLUM_STORE`, else a folder with the program's name among the user's application data.
    private static func defaultPlace() -> URL {
        if let named = ProcessInfo.processInfo.environment["VELLUM_STORE"], !named.isEmpty {
            return URL(fileURLWithPath: named, isDirectory: true)
        }
        let data =
            FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            ?? URL(fileURLWithPath: NSHomeDirectory(), isDirectory: true)
        return data.appendingPathComponent(ProcessInfo.processInfo.processName, isDirectory: true)
            .appendingPathComponent("Papyrus", isDirectory: true)
    }

    // MARK: The archive

    /// `nil`: there is no store, and `makes` is false. `body` is called again if the archive turns out to be removed. `waits`:
    /// whether for another process that is just making it.
    func withArchive<Value>(
        makes: Bool, waits: Bool = true, _ body: (Archive) throws -> Value
    ) throws -> Value? {
        for _ in 0..<100 {
            do {
                let present = try waits ? openPatiently(makes: makes) : open(makes: makes)
                guard let archive = present else { return nil }
                return try body(archive)
            } catch let error as StorageError {
                guard case .closed = error else { throw error }
            }
        }
        throw StorageError.closed(name: StoreCore.archiveName)
    }

    /// Where it is made if it is missing there is always one.
    func withArchive<Value>(_ body: (Archive) throws -> Value) throws -> Value {
        guard let value = try withArchive(makes: true, body) else {
            throw StorageError.noSuchArchive(name: StoreCore.archiveName, store: path)
        }
        return value
    }

    /// Another process may just be making the archive.
    private func openPatiently(makes: Bool) throws(StorageError) -> Archive? {
        let end = ContinuousClock.now + .seconds(5)
        while true {
            do throws(StorageError) {
                return try open(makes: makes)
            } catch {
                guard case .busy = error, ContinuousClock.now < end else { throw error }
            }
            usleep(2_000)
        }
    }

    private func open(makes: Bool) throws(StorageError) -> Archive? {
        var problem: String?
        let archive = try open(makes: makes, &problem)
        // Of what the index no longer knows no call can say that it is missing.
        if let problem, let journal = lock.withLock({ journal }) {
            journal.error("vouch that all objects are there", StoredProblem(description: problem))
        }
        return archive
    }

    private func open(makes: Bool, _ problem: inout String?) throws(StorageError) -> Archive? {
        lock.lock()
        defer { lock.unlock() }
        // What is stored in removed files nobody finds again, so that is asked each time: one system call.
        if let archive, !archive.closeIfRemoved() { return archive }
        archive = nil
        if let refusal { throw refusal }
        do throws(StorageError) {
            let store = try Store.open(at: path, mode: .readWrite, createIfMissing: makes)
            let found =
                makes
                ? try store.archive(
                    named: StoreCore.archiveName,
                    orCreate: ArchiveConfiguration(kind: .collection, typeName: StoreCore.archiveName))
                : try store.archive(named: StoreCore.archiveName)
            let kind = try found.configuration().kind
            guard kind == .collection else {
                throw .wrongKind(archive: found.name, kind: kind, operation: "keep objects")
            }
            archive = found
            problem = try found.problem()
        } catch {
            switch error {
            case .storeNotFound where !makes, .noSuchArchive where !makes: return nil
            default: throw error
            }
        }
        return archive
    }

    var waitingObservers: Int { lock.withLock { archive?.followers.waiting ?? 0 } }

    // MARK: Other threads

    /// Calls `body`, which may wait for the disk or another process, on a thread of the system's: those of Swift's concurrency
    /// must not be blocked.
    nonisolated(nonsending) func elsewhere<Value>(
        _ body: @escaping @Sendable (StoreCore) throws -> Value
    ) async throws -> Value {
        let result: Carried<Result<Value, any Error>> = await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .userInitiated).async { [self] in
                continuation.resume(returning: Carried(value: Result { try body(self) }))
            }
        }
        return try result.value.get()
    }

    // MARK: Migrations

    /// By the paths of stores; a program has few, and a store may come and go between two of them.
    private static let migrations = Guarded<[String: [RegisteredMigration]]>([:])

    /// Notes a migration, and returns it with those that go on from what it makes, in the order in which they are to run.
    func chain(from migration: RegisteredMigration) -> [RegisteredMigration] {
        let known = StoreCore.migrations.withLock { migrations in
            var known = migrations[path] ?? []
            known.removeAll { $0.from == migration.from && $0.to == migration.to }
            known.append(migration)
            migrations[path] = known
            return known
        }
        var chain = [migration]
        while let last = chain.last,
            let next = known.first(where: { next in
                next.from == last.to && !chain.contains { $0.from == next.from }
            })
        {
            chain.append(next)
        }
        return chain
    }
}

/// What goes to another thread and comes back: nobody else has it meanwhile.
struct Carried<Value>: @unchecked Sendable {
    let value: Value
}

import Dispatch
import Foundation
import StorageEngine

/// The archive behind all stores of one folder in this process, opened and reopened when needed.
final class StoreCore: @unchecked Sendable {
    /// One archive for all types, because objects that are saved together must be in one batch.
    static let archiveName = "Papyrus"

    let path: String
    private let refusal: StorageError?
    private let lock = NSLock()
    // Guarded by `lock`.
    private var archive: Archive?
    /// The journal of the folder's latest store, for problems found when the archive is opened.
    private weak var journal: Journal?

    /// Runs the readings of all observers on one thread.
    let lane = ObservationLane()

    private init(path: String, refusal: StorageError?) {
        self.path = path
        self.refusal = refusal
    }

    private struct Weak {
        weak var core: StoreCore?
    }

    private static let known = Guarded<[ExactText: Weak]>([:])

    /// Stores may be short-lived, like the views that use them. The archive stays open as long as one of them exists.
    static func at(_ url: URL) -> StoreCore {
        let path = url.standardizedFileURL.path
        let refusal: StorageError? =
            url.isFileURL ? nil : .notAStore(path: url.absoluteString, reason: "it isn't a file URL")
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

    /// The program's own store, which stays open.
    static let ofProgram = at(defaultPlace())

    /// `$VELLUM_STORE`, otherwise a folder with the program's name in the user's application data.
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

    /// Calls `body` with the archive, again if it was removed; `nil`: absent, unless `creates`. `waits`: for a creator.
    func withArchive<Value>(
        creates: Bool, waits: Bool = true, _ body: (Archive) throws -> Value
    ) throws -> Value? {
        for _ in 0..<100 {
            do {
                let present = try waits ? openWaiting(creates: creates) : open(creates: creates)
                guard let archive = present else { return nil }
                return try body(archive)
            } catch let error as StorageError {
                guard case .closed = error else { throw error }
            }
        }
        throw StorageError.closed(name: StoreCore.archiveName)
    }

    /// Creates the archive if it is missing.
    func withArchive<Value>(_ body: (Archive) throws -> Value) throws -> Value {
        guard let value = try withArchive(creates: true, body) else {
            throw StorageError.noSuchArchive(name: StoreCore.archiveName, store: path)
        }
        return value
    }

    /// Waits up to five seconds, because another process may be creating the archive.
    private func openWaiting(creates: Bool) throws(StorageError) -> Archive? {
        let end = ContinuousClock.now + .seconds(5)
        while true {
            do throws(StorageError) {
                return try open(creates: creates)
            } catch {
                guard case .busy = error, ContinuousClock.now < end else { throw error }
            }
            usleep(2_000)
        }
    }

    private func open(creates: Bool) throws(StorageError) -> Archive? {
        var problem: String?
        let archive = try open(creates: creates, &problem)
        // Report lost entries here: no later call notices them.
        if let problem, let journal = lock.withLock({ journal }) {
            journal.error("guarantee that all objects are present", StoredProblem(description: problem))
        }
        return archive
    }

    private func open(creates: Bool, _ problem: inout String?) throws(StorageError) -> Archive? {
        lock.lock()
        defer { lock.unlock() }
        // Objects stored in removed files would be lost, so this is checked each time, with one system call.
        if let archive, !archive.closeIfRemoved() { return archive }
        archive = nil
        if let refusal { throw refusal }
        do throws(StorageError) {
            let store = try Store.reopen(at: path, createIfMissing: creates) { problem = $0 }
            let found =
                creates
                ? try store.archive(
                    named: StoreCore.archiveName,
                    orCreate: ArchiveConfiguration(kind: .collection, typeName: StoreCore.archiveName))
                : try store.archive(named: StoreCore.archiveName)
            try found.require(.collection, ofType: StoreCore.archiveName)
            archive = found
            problem = try found.problem() ?? problem
        } catch {
            switch error {
            case .storeNotFound where !creates, .noSuchArchive where !creates: return nil
            default: throw error
            }
        }
        return archive
    }

    var waitingObservers: Int { lock.withLock { archive?.followers.waiting ?? 0 } }

    // MARK: Other threads

    /// Calls `body` on a thread of a system queue, because it may block on the disk or another process.
    nonisolated(nonsending) func blocking<Value>(
        _ body: @escaping @Sendable (StoreCore) throws -> Value
    ) async throws -> Value {
        let result: Carried<Result<Value, any Error>> = await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .userInitiated).async { [self] in
                continuation.resume(returning: Carried(value: Result { try body(self) }))
            }
        }
        return try result.value.get()
    }
}

/// Passes a value to another thread. Only one thread uses it at a time.
struct Carried<Value>: @unchecked Sendable {
    let value: Value
}

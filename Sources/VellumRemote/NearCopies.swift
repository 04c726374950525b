import Dispatch
import StorageEngine
import Synchronization
import Vellum

/// Drops near copies that the tier reports as changed: from memory at once, from disk on a queue.
final class NearCopies<Object: Archivable>: RemoteListener {
    let tracking = CopyTracking()
    private let near: ArchiveHandle<Object>
    private let isToBeEmptied = Atomic(false)
    private let queue = DispatchQueue(label: "vellum.near-copies")

    init(_ near: ArchiveHandle<Object>) { self.near = near }

    func isTracked() { tracking.start() }

    func isUntracked() {
        tracking.stop()
        leaveMemory()
    }

    func changed(_ key: String) {
        let sequence = tracking.change(key)
        attempt("drop from memory", key) { try near.core.leaveMemory(key) }
        guard let sequence else { return }
        queue.async { [self] in
            attempt("drop", key) { try near.perform { try $0.dropNear(key, ifSequence: sequence) } }
        }
    }

    func changedAll() {
        tracking.changeAll()
        leaveMemory()
        // One deletion serves all reports that arrive before it starts.
        guard !isToBeEmptied.exchange(true, ordering: .relaxed) else { return }
        queue.async { [self] in
            isToBeEmptied.store(false, ordering: .relaxed)
            attempt("empty", nil) { try near.perform { try $0.deleteAll() } }
        }
    }

    /// Releases the objects on the queue, so that reports aren't delayed.
    private func leaveMemory() {
        attempt("empty memory of", nil) { queue.async(execute: try near.core.leaveMemory()) }
    }

    /// Logs errors only: a copy that isn't dropped is not trusted.
    private func attempt(_ operation: String, _ key: String?, _ body: () throws -> Void) {
        do {
            try body()
        } catch StorageError.closed {
            // Reopening empties the memory.
        } catch {
            near.log(operation, key, error)
        }
    }
}

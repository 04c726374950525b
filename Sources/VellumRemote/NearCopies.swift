import Dispatch
import StorageEngine
import Synchronization
import Vellum

/// What is done when the tier tells of changes. Memory is left at once, the disk on a queue.
final class NearCopies<Object: Archivable>: RemoteListener {
    let coverage = Coverage()
    private let near: ArchiveHandle<Object>
    private let isToBeEmptied = Atomic(false)
    private let queue = DispatchQueue(label: "vellum.near-copies")

    init(_ near: ArchiveHandle<Object>) { self.near = near }

    func isCovered() { coverage.cover() }

    func isUncovered() {
        coverage.uncover()
        // Whatever is in memory was trusted.
        leaveMemory()
    }

    func changed(_ key: String) {
        let sequence = coverage.change(key)
        attempt("drop from memory", key) { try near.core.leaveMemory(key) }
        guard let sequence else { return }
        queue.async { [self] in
            attempt("drop", key) { try near.perform { try $0.dropNear(key, ifSequence: sequence) } }
        }
    }

    func changedAll() {
        coverage.changeAll()
        leaveMemory()
        // Once for all that are told before it begins.
        guard !isToBeEmptied.exchange(true, ordering: .relaxed) else { return }
        queue.async { [self] in
            isToBeEmptied.store(false, ordering: .relaxed)
            attempt("empty", nil) { try near.perform { try $0.deleteAll() } }
        }
    }

    /// However many there are, others are told further.
    private func leaveMemory() {
        attempt("empty memory of", nil) { queue.async(execute: try near.core.leaveMemory()) }
    }

    /// A copy that can't be dropped is not trusted, so this costs only a question to the tier.
    private func attempt(_ operation: String, _ key: String?, _ body: () throws -> Void) {
        do {
            try body()
        } catch StorageError.closed {
            // What is in memory goes when it is reopened.
        } catch {
            near.log(operation, key, error)
        }
    }
}

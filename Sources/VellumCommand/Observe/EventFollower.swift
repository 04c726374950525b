/// Follows the events of one archive or of all archives of a store, including new ones. For one thread.
struct EventFollower {
    struct Finding {
        let archive: Archive
        let batch: EventBatch
    }

    private struct Position {
        let archive: Archive
        /// The next sequence number; nil to begin with the oldest event in the ring, without reporting lost ones.
        var next: UInt64?
    }

    private let store: Store
    /// Nil: all archives.
    private let name: String?
    private var positions: [ExactText: Position] = [:]
    private var unreadable: Set<ExactText> = []

    /// `fromStart`: begins with the oldest event in the rings, else with the next one.
    /// - Throws: also `noSuchArchive` for `name`.
    init(_ store: Store, archive name: String?, fromStart: Bool) throws(StorageError) {
        self.store = store
        self.name = name
        if let name {
            let archive = try store.archive(named: name)
            positions[ExactText(name)] = Position(
                archive: archive, next: fromStart ? nil : try archive.nextEvent())
            return
        }
        for name in try store.archiveNames() { open(name, from: fromStart ? .rest : .now) }
    }

    /// New events by archive. An unreadable archive is reported once and skipped until it can be read.
    mutating func nextEvents() throws(StorageError) -> [Finding] {
        let names = if let name { [name] } else { try store.archiveNames() }
        for name in names where positions[ExactText(name)] == nil {
            // Report all events of a new archive.
            open(name, from: .first)
        }
        var findings: [Finding] = []
        for (name, position) in positions.sorted(by: { $0.key.text < $1.key.text }) {
            do throws(StorageError) {
                guard try position.archive.nextEvent() != position.next else { continue }
                // A recreated ring restarts at 0, which the engine detects.
                let batch = try position.archive.namedEvents(from: position.next)
                positions[name]?.next = batch.next
                if !batch.events.isEmpty || batch.lost > 0 {
                    findings.append(Finding(archive: position.archive, batch: batch))
                }
            } catch {
                // The archive was removed; its name may be used again.
                position.archive.close()
                positions[name] = nil
                Console.warn("\(name.text) was removed")
            }
        }
        return findings
    }

    private enum Beginning {
        case first, rest, now
    }

    private mutating func open(_ name: String, from beginning: Beginning) {
        do throws(StorageError) {
            let archive = try store.archive(named: name)
            let next: UInt64? =
                switch beginning {
                case .first: 0
                case .rest: nil
                case .now: try archive.nextEvent()
                }
            positions[ExactText(name)] = Position(archive: archive, next: next)
            unreadable.remove(ExactText(name))
        } catch {
            if case .noSuchArchive = error { return }
            if unreadable.insert(ExactText(name)).inserted { Console.warn("\(name): \(error)") }
        }
    }
}

extension Store {
    /// - Throws: if the store was removed or moved, because its events can no longer be followed.
    func requirePlace() throws {
        guard !isInItsPlace else { return }
        throw CommandFailure(
            "the store at \(path) no longer exists: it was removed or moved, or lost its marker file",
            status: .storeFailure)
    }
}

import StorageEngine

extension PapyrusStore {
    /// A query for one object by its identifier.
    public struct ObjectQuery<Object: Papyrus>: Sendable {
        let core: StoreCore
        let journal: Journal
        let key: String

        init<ID: CustomStringConvertible>(core: StoreCore, journal: Journal, id: ID) {
            self.core = core
            self.journal = journal
            key = StoredType.of(Object.self).key(of: id)
        }

        /// Returns the object, with its related objects as of the same moment. Throws ``PapyrusStore/QueryError`` or
        /// `StorageError`.
        @discardableResult
        public nonisolated(nonsending) func execute() async throws -> Object {
            let object = try await core.blocking { core in
                try core.withArchive(creates: false) { try read(ArchiveView($0)).value }
            }
            guard let object else { throw PapyrusStore.QueryError.notFound }
            return object
        }

        // MARK: Observing

        /// The object as of this call, and again after each change of it or of its related objects by any process.
        /// Changes that are faster than the loop are combined.
        ///
        /// Throws `notFound` if the object doesn't exist or is deleted, `invalidSchema`, and errors of the store. Ends
        /// with its task, or when it is no longer referenced.
        public func stream() -> AsyncThrowingStream<Object, any Error> { observation().stream() }

        /// As ``stream()``, from each subscription on, but errors of the store are logged, and the reading is retried.
        public func publisher() -> AnyPublisher<Object, PapyrusStore.QueryError> {
            observation().publisher { error in
                if let error = error as? PapyrusStore.QueryError { return error }
                journal.error("observe \(key) (retrying)", error)
                return nil
            }
        }

        /// Reads the object when the observation begins, because that costs less than a snapshot.
        private func observation() -> Observation<Object> {
            Observation(core: core) { view in
                let reading = Result {
                    guard let view else { throw PapyrusStore.QueryError.notFound }
                    return try read(view)
                }
                return { try reading.get() }
            }
        }

        // MARK: Reading

        private var interest: KeyInterest {
            var interest = KeyInterest()
            interest.insert(key: key)
            return interest
        }

        private func read(_ view: ArchiveView) throws -> Reading<Object> {
            for _ in 0..<10 {
                let entries = LiveEntries(view.archive)
                let reading = Result { try read(entries) }
                if try entries.isOfOneMoment() { return try reading.get() }
            }
            return try read(view.snapshot())
        }

        private func read(_ entries: any EntrySource) throws -> Reading<Object> {
            let loader = ObjectLoader(entries)
            return try loader.use {
                let entry: StoredEntry?
                do {
                    entry = try entries.find(key)
                } catch {
                    throw ObjectLoader.orDamaged(error)
                }
                guard let entry else { throw PapyrusStore.QueryError.notFound }
                let object = try loader.object(Object.self, of: entry)
                return Reading(
                    value: object, versions: [SeenEntry(key: key, sequence: entry.sequence)] + loader.seen,
                    interest: loader.interest(besides: interest))
            }
        }
    }
}

/// The published library's name of ``PapyrusStore/ObjectQuery``.
public typealias ObjectQuery<Object: Papyrus> = PapyrusStore.ObjectQuery<Object>

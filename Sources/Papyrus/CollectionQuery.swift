import StorageEngine

extension PapyrusStore {
    /// A query for the objects of a type, the oldest first unless sorted. ``filter(_:)`` and ``sort(_:)`` return
    /// another query. The closures are called on other threads.
    public struct CollectionQuery<Object: Papyrus>: Sendable {
        /// Returns whether an object is kept. An error ends the query, which throws it.
        public typealias OnFilter = @Sendable (Object) throws -> Bool
        /// Returns whether the first object precedes the second. An error ends the query, which throws it.
        public typealias OnSort = @Sendable (Object, Object) throws -> Bool

        let core: StoreCore
        let journal: Journal
        private var filters: [OnFilter] = []
        private var order: OnSort?

        init(core: StoreCore, journal: Journal) {
            self.core = core
            self.journal = journal
        }

        /// Returns the query with one more filter. An object must pass all filters.
        public func filter(_ onFilter: @escaping OnFilter) -> Self {
            var query = self
            query.filters.append(onFilter)
            return query
        }

        /// Returns the query with this order, which replaces any other.
        public func sort(_ onSort: @escaping OnSort) -> Self {
            var query = self
            query.order = onSort
            return query
        }

        /// Returns the objects in their state at one moment, whatever is saved at the same time. Undecodable values are left out
        /// and logged. If the store is unreadable, that is logged, and the result empty. ``ThrowingPapyrus/execute(_:)`` throws
        /// instead.
        ///
        /// Visits every entry of the store, at some 100 ns each, and decodes the type's objects.
        @discardableResult
        public nonisolated(nonsending) func execute() async -> [Object] {
            do {
                return try await results(leavingOut: true)
            } catch {
                journal.error("read objects of \(StoredType.of(Object.self).name)", error)
                return []
            }
        }

        nonisolated(nonsending) func results(leavingOut: Bool) async throws -> [Object] {
            try await core.blocking { core in
                try core.withArchive(creates: false) { archive in
                    try read(SnapshotEntries(snapshot: archive.snapshot()), leavingOut: leavingOut).value
                } ?? []
            }
        }

        // MARK: Observing

        /// The objects as of this call, and again after each change by any process: an object, or a related one, was added, deleted
        /// or updated. Changes faster than the loop are combined: after a save and a deletion it may return only the final state.
        ///
        /// The call reads the store's index, some 50 ns an entry; objects are decoded later, on another thread.
        ///
        /// Throws `invalidSchema` if a value can't be decoded, and errors of the store. Ends with its task, or when it
        /// is no longer referenced.
        public func stream() -> AsyncThrowingStream<[Object], any Error> {
            observation(leavingOut: false).stream()
        }

        /// As ``stream()``, from each subscription on, but values that can't be decoded are left out and logged, and failed
        /// readings are retried.
        public func publisher() -> AnyPublisher<[Object], Never> {
            let observation = observation(leavingOut: true)
            return observation.publisher { error in
                journal.error("observe objects of \(StoredType.of(Object.self).name) (retrying)", error)
                return nil
            }
        }

        private func observation(leavingOut: Bool) -> Observation<[Object]> {
            Observation(core: core) { view in
                guard let entries = try view?.snapshot() else {
                    return { Reading(value: [], versions: [], interest: interest) }
                }
                return { try read(entries, leavingOut: leavingOut) }
            }
        }

        // MARK: Reading

        private var interest: KeyInterest {
            var interest = KeyInterest()
            interest.insert(prefix: StoredType.of(Object.self).prefix)
            return interest
        }

        private func read(_ entries: SnapshotEntries, leavingOut: Bool) throws -> Reading<[Object]> {
            let stored = StoredType.of(Object.self)
            let loader = ObjectLoader(entries)
            var objects: [Object] = []
            var versions: [SeenEntry] = []
            let (numbers, unreadable) = entries.snapshot.numbersByCreation(ofPrefix: stored.prefix)
            guard leavingOut || unreadable == 0 else {
                throw PapyrusStore.QueryError.invalidSchema(details: StoredProblem.damagedKey)
            }
            var misread = Misread()
            misread.add(keyless: unreadable)
            try loader.use {
                for number in numbers {
                    var key = stored.name
                    do {
                        let entry = try entries.entry(at: number)
                        key = entry.key
                        let object = try loader.object(Object.self, of: entry)
                        guard try filters.allSatisfy({ try $0(object) }) else { continue }
                        objects.append(object)
                        versions.append(SeenEntry(key: key, sequence: entry.sequence))
                    } catch {
                        let error = ObjectLoader.orDamaged(error)
                        guard leavingOut, error is PapyrusStore.QueryError else { throw error }
                        misread.add(key, error)
                    }
                }
            }
            if let problem = misread.problem("left out") {
                journal.error("read all objects of \(stored.name)", problem)
            }
            if let order { try objects.sort(by: order) }
            return Reading(
                value: objects, versions: versions + loader.seen,
                interest: loader.interest(besides: interest))
        }
    }
}

/// The published library's name of ``PapyrusStore/CollectionQuery``.
public typealias CollectionQuery<Object: Papyrus> = PapyrusStore.CollectionQuery<Object>

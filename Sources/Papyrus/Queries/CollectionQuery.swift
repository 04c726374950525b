import StorageEngine

extension PapyrusStore {
    /// The objects of a type, the oldest first unless it is sorted. A value: what ``filter(_:)`` and ``sort(_:)`` return is another
    /// query. Safe from any thread; the closures are called on others.
    public struct CollectionQuery<Object: Papyrus>: Sendable {
        public typealias OnFilter = @Sendable (Object) throws -> Bool
        public typealias OnSort = @Sendable (Object, Object) throws -> Bool

        let core: StoreCore
        let journal: Journal
        private var filters: [OnFilter] = []
        private var order: OnSort?

        init(core: StoreCore, journal: Journal) {
            self.core = core
            self.journal = journal
        }

        /// The query with one more filter: an object must pass all of them.
        public func filter(_ onFilter: @escaping OnFilter) -> Self {
            var query = self
            query.filters.append(onFilter)
            return query
        }

        /// The query with another order, in place of the one it had.
        public func sort(_ onSort: @escaping OnSort) -> Self {
            var query = self
            query.order = onSort
            return query
        }

        /// The objects as they are at one moment, whatever others save meanwhile. What can't be read as an object of the type is
        /// left out and logged; where nothing can be read that is logged, and there are no objects.
        /// ``ThrowingPapyrus/execute(_:)`` throws instead.
        ///
        /// Costs a look at every entry of the store, some 100 ns each, and the decoding of the type's objects.
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
            try await core.elsewhere { core in
                try core.withArchive(makes: false) { archive in
                    try read(SnapshotEntries(snapshot: archive.snapshot()), leavingOut: leavingOut).value
                } ?? []
            }
        }

        // MARK: Observing

        /// The objects as they are now, with this call, and again after each change, by whatever process: one was added, deleted or
        /// updated, or something that it holds in a relation was. Changes that come quicker than the loop takes them are taken
        /// together: of a save and a deletion at once it may give what is left only.
        ///
        /// The call looks at the store's index, some 50 ns an entry; the objects are decoded later, on another thread.
        ///
        /// Throws `invalidSchema` where something isn't an object of the type, and what the store refuses. Ends with its task, or
        /// when nobody has it any more.
        public func stream() -> AsyncThrowingStream<[Object], any Error> {
            observation(leavingOut: false).stream()
        }

        /// As ``stream()``, from each subscription on; what can't be read is left out and logged, and where nothing can
        /// be read that is tried again.
        public func publisher() -> AnyPublisher<[Object], Never> {
            let observation = observation(leavingOut: true)
            return observation.publisher { error in
                journal.error("observe objects of \(StoredType.of(Object.self).name), tried again", error)
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
            misread.note(keyless: unreadable)
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
                        misread.note(key, error)
                    }
                }
            }
            if let problem = misread.problem("left out") {
                journal.error("read all objects of \(stored.name)", problem)
            }
            if let order { try objects.sort(by: order) }
            return Reading(
                value: objects, versions: versions + loader.related,
                interest: loader.interest(besides: interest))
        }
    }
}

/// The name that the published library has for ``PapyrusStore/CollectionQuery``.
public typealias CollectionQuery<Object: Papyrus> = PapyrusStore.CollectionQuery<Object>

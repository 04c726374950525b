import Foundation
import StorageEngine

/// Computes missing objects. Concurrent callers of a key in this process share one computation, and its error if it fails.
extension ArchiveCore {
    struct Request: Sendable {
        var key: String
        var options: ResolvedOptions
        /// An object with less time left than this is computed again.
        var renewal: Duration?
        /// How long to wait for another process that computes the object; `nil`: don't wait.
        var timeout: Duration?
    }

    func isDue(_ request: Request) throws -> Bool {
        guard let renewal = request.renewal, let expires = try archive.metadata(request.key)?.expires else {
            return false
        }
        return Duration.microseconds(expires.microseconds - Timestamp.now().microseconds) < renewal
    }

    func value(_ request: Request, _ compute: () throws -> Object) throws -> Object {
        let present = try access(request.key)
        if let present, try isDue(request) == false { return present }
        let (flight, ticket, isNew) = flights.join(request.key, owner: request.options.attributes.owner)
        guard isNew else {
            if let present { return present }
            return try object(of: wait(for: flight, ticket, request.key), request.key)
        }
        let outcome = Result { try carryOut(flight, request, isRenewal: present != nil, compute) }
        flights.end(flight, request.key)
        flight.finish(outcome)
        if let present, case .failure(let error) = outcome {
            log("renew", request.key, error)
            return present
        }
        return try object(of: outcome.get(), request.key)
    }

    private func wait(for flight: Flight, _ ticket: Int, _ key: String) throws -> HeldObject {
        do {
            try Computing.begin(shared.computingKey(key))
        } catch {
            flight.giveUp(ticket)
            throw error
        }
        defer { Computing.end(shared.computingKey(key)) }
        return try BlockingExecutor.wait { flight.wait(ticket, $0) }.get()
    }

    private func carryOut(
        _ flight: Flight, _ request: Request, isRenewal: Bool, _ compute: () throws -> Object
    ) throws -> HeldObject {
        let start = Archive.bootTime()
        var claim: KeyClaim?
        var basis = Basis()
        waiting: while true {
            switch try nextStep(request, isRenewal, since: start) {
            case .found(let held): return held
            case .compute(let own, let found):
                (claim, basis) = (own, found)
                break waiting
            case .wait: usleep(UInt32(ComputingStep.pause))
            }
        }
        defer { withExtendedLifetime(claim) {} }
        let key = shared.computingKey(request.key)
        try Computing.begin(key)
        defer { Computing.end(key) }
        let object = try shared.times.measure(.compute) {
            try Computing.$chain.withValue(Computing.chain + [key]) { try compute() }
        }
        return try keep(prepared(object, for: request), request, flight, basis)
    }

    // MARK: For threads and tasks

    /// Whether to compute now. To compute for all processes, claims the key first and looks up the object again.
    fileprivate func nextStep(
        _ request: Request, _ isRenewal: Bool, since start: Int64
    ) throws -> ComputingStep {
        let claim = request.timeout == nil ? nil : try archive.claim(request.key)
        let basis = try basis(of: request.key)
        if let object = try peek(request.key) {
            // While another process renews the object, the existing one is returned.
            let isOthers = request.timeout != nil && claim == nil
            let isGood = try isOthers || isRenewal == false || isDue(request) == false
            if isGood { return .found(try prepare(object).kept) }
        }
        guard let timeout = request.timeout, claim == nil else { return .compute(claim, basis) }
        let waited = Duration.microseconds(Archive.bootTime() - start)
        return waited < timeout ? .wait : .compute(nil, basis)
    }

    private func basis(of name: String) throws -> Basis {
        let event = try archive.nextEvent()
        let sequence = try archive.sequence(of: name)
        return Basis(
            sequence: try sequence ?? withHashed(name) { try memory.peekOnlyHere($0, named: name)?.sequence },
            event: event)
    }

    fileprivate func prepared(_ object: Object, for request: Request) throws -> PreparedObject {
        guard ExactText(object.primaryKey) == ExactText(request.key) else {
            throw ArchiveError.otherKey(wanted: request.key, computed: object.primaryKey)
        }
        return try prepare(object)
    }

    /// Stored unless the key was changed or deleted (not expired or evicted) since `basis`. Callers get it in any case.
    fileprivate func keep(
        _ prepared: PreparedObject, _ request: Request, _ flight: Flight, _ basis: Basis
    ) throws -> HeldObject {
        do {
            prepared.storeProperties()
            recordInOpenTransactions(prepared.name)
            let isStored = try put(prepared, request.options, ifSequence: basis.sequence, of: flight)
            if !isStored, basis.sequence != nil, try isUnchanged(prepared.name, since: basis) {
                _ = try put(prepared, request.options, ifSequence: nil, of: flight)
            }
        } catch {
            log("record", request.key, error)
        }
        return prepared.kept
    }

    /// Whether no process has changed or deleted the entry since. False if events since then were overwritten.
    private func isUnchanged(_ name: String, since basis: Basis) throws -> Bool {
        let batch = try archive.events(from: basis.event)
        return batch.lost == 0 && !batch.events.contains { $0.isChange(of: name) }
    }
}

extension ArchiveEvent {
    /// Whether the event may be a change or deletion of this key's entry; expiry, eviction and idleness don't count.
    fileprivate func isChange(of name: String) -> Bool {
        switch (kind, cause) {
        case (.expiry, .deadline), (.eviction, .limit), (_, .idle): return false
        case (.promotion, _), (.rejection, _), (.deadline, _), (.append, _), (.resize, _): return false
        case (.record, _), (.update, _), (.eviction, _), (.expiry, _), (.delete, _), (.restore, _): break
        }
        return isAbout(name)
    }

    /// Whether the event may concern this key's entry.
    func isAbout(_ name: String) -> Bool {
        guard let key else { return true }
        return keyIsComplete ? key.utf8.elementsEqual(name.utf8) : name.utf8.starts(with: key.utf8)
    }
}

/// The archive's state when a computation began.
private struct Basis: Sendable {
    /// The version of the entry; `nil`: absent.
    var sequence: UInt64?
    var event: UInt64 = 0
}

private enum ComputingStep: Sendable {
    case found(HeldObject)
    /// With the present version.
    case compute(KeyClaim?, Basis)
    case wait

    /// Microseconds to wait.
    static var pause: Int { 5_000 }
}

extension ArchiveShared {
    fileprivate func computingKey(_ key: String) -> Computing.Key {
        Computing.Key(archive: ObjectIdentifier(self), key: ExactText(key))
    }
}

extension ArchiveHandle {
    nonisolated(nonsending) func value(
        _ request: ArchiveCore<Object>.Request,
        _ compute: @escaping @Sendable () async throws -> sending Object
    ) async throws -> Object {
        let key = request.key
        var present = try accessInMemory(key)
        if present == nil { present = try await blocking { try $0.accessOnDisk(key) } }
        if let present, try perform({ try $0.isDue(request) }) == false { return present }
        let flights = shared.flights
        let (flight, ticket, isNew) = flights.join(key, owner: request.options.attributes.owner)
        if isNew { start(flight, request, isRenewal: present != nil, compute) }
        // The existing object is returned while it is renewed.
        if let present { return present }
        do {
            try Computing.begin(shared.computingKey(key))
        } catch {
            flight.giveUp(ticket)
            throw error
        }
        defer { Computing.end(shared.computingKey(key)) }
        let held = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                flight.wait(ticket) { continuation.resume(with: $0) }
            }
        } onCancel: {
            flight.giveUp(ticket)
        }
        return try shared.object(of: held, key)
    }

    /// The computation is a separate task, so that no waiting caller can cancel it for the others.
    private func start(
        _ flight: Flight, _ request: ArchiveCore<Object>.Request, isRenewal: Bool,
        _ compute: @escaping @Sendable () async throws -> sending Object
    ) {
        let chain = Computing.chain + [shared.computingKey(request.key)]
        let task = Task {
            let outcome: Flight.Outcome
            do {
                let held = try await Computing.$chain.withValue(chain) {
                    try await carryOut(flight, request, isRenewal: isRenewal, compute)
                }
                outcome = .success(held)
            } catch {
                if isRenewal { log("renew", request.key, error) }
                outcome = .failure(error)
            }
            shared.flights.end(flight, request.key)
            flight.finish(outcome)
        }
        flight.carriedOut(by: task)
    }

    private nonisolated(nonsending) func carryOut(
        _ flight: Flight, _ request: ArchiveCore<Object>.Request, isRenewal: Bool,
        _ compute: @Sendable () async throws -> sending Object
    ) async throws -> HeldObject {
        let start = Archive.bootTime()
        var claim: KeyClaim?
        var basis = Basis()
        waiting: while true {
            switch try await blocking({ try $0.nextStep(request, isRenewal, since: start) }) {
            case .found(let held): return held
            case .compute(let own, let found):
                (claim, basis) = (own, found)
                break waiting
            case .wait: try await Task.sleep(for: .microseconds(ComputingStep.pause))
            }
        }
        defer { withExtendedLifetime(claim) {} }
        let object: Object
        do {
            let start = shared.times.begin()
            defer { shared.times.end(.compute, start) }
            object = try await compute()
        }
        let prepared = try perform { try $0.prepared(object, for: request) }
        return try await blocking { [basis] in try $0.keep(prepared, request, flight, basis) }
    }
}

import Logging
import StorageEngine
import Synchronization

/// The part of an archive's state in this process that survives reopening it.
package final class ArchiveShared<Object: Archivable>: @unchecked Sendable {
    let factory: OpenArchives
    let coder = ArchiveCoder<Object>.coder()
    private let isSendable = Atomic(false)
    let flights = Flights()
    package let times = CallTimes()
    /// Its lock guards only these counts.
    let failures = Guarded(ArchiveFailures())

    private let lifetimes = Guarded<(standard: Duration?, sliding: SlidingLifetime?)>((nil, nil))
    private let hasLifetimes = Atomic(false)

    /// The lifetime of objects that are recorded without one; `nil`: until they are deleted or evicted.
    var standardLifetime: Duration? {
        guard hasLifetimes.load(ordering: .relaxed) else { return nil }
        return lifetimes.withLock { $0.sliding?.granted ?? $0.standard }
    }

    /// `nil`: lifetimes don't slide.
    var sliding: SlidingLifetime? {
        guard hasLifetimes.load(ordering: .relaxed) else { return nil }
        return lifetimes.withLock { $0.sliding }
    }

    func setLifetimes(_ lifetime: Duration, slides: Bool) {
        lifetimes.withLock { $0 = (lifetime, slides ? SlidingLifetime(least: lifetime) : nil) }
        hasLifetimes.store(true, ordering: .relaxed)
    }

    init(factory: OpenArchives) { self.factory = factory }

    /// Called where the compiler has proven that the type is `Sendable`, which can't be tested at run time.
    func markSendable() { isSendable.store(true, ordering: .relaxed) }

    /// Whether memory may hold objects: the type is `Sendable`, and the coder saw no instance of a class (`isShared`).
    func keepsObjects(_ isShared: Bool) -> Bool { !isShared && isSendable.load(ordering: .relaxed) }

    /// Logs and counts an error that a non-throwing call swallows (S4).
    func log(_ operation: String, archive: String, _ key: String?, _ error: any Error) {
        failures.withLock { $0.logged += 1 }
        factory.logger.warning(
            "vellum: cannot \(operation)",
            metadata: ["archive": "\(archive)", "key": "\(key ?? "")", "reason": "\(error)"])
    }

    func object(of held: HeldObject, _ name: String) throws -> Object {
        guard let bytes = held.bytes else {
            // Safe, because only this archive fills its tier. A checked cast would take longer than the rest of a hit.
            return unsafeDowncast(held, to: HeldValue<Object>.self).value
        }
        return try bytes.withUnsafeBytes { try decode($0, name).object }
    }

    func decode(_ bytes: UnsafeRawBufferPointer, _ name: String) throws -> DecodedObject<Object> {
        do {
            return try coder.decode(bytes, key: name)
        } catch let error as ArchiveError where error.isNewerVersion {
            throw error
        } catch {
            throw ArchiveError.undecodable(
                type: readableName(of: Object.self), key: name, underlying: error)
        }
    }
}

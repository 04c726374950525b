import Logging
import StorageEngine
import Synchronization

/// What of an archive in this process stays when the archive is opened anew. Safe from any thread.
package final class ArchiveShared<Object: Archivable>: @unchecked Sendable {
    let factory: ArchivesFactory.Core
    let coder = ArchiveCoder<Object>.coder()
    private let isSendable = Atomic(false)
    /// What is being computed for whoever asks for it.
    let flights = Flights()
    package let times = CallTimes()
    /// Guards nothing else.
    let failures = Guarded(ArchiveFailures())

    private let lifetimes = Guarded<(standard: Duration?, sliding: SlidingLifetime?)>((nil, nil))
    private let hasLifetimes = Atomic(false)

    /// How long an object lives that is recorded without a lifetime of its own; `nil`: until it is deleted or evicted.
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

    init(factory: ArchivesFactory.Core) { self.factory = factory }

    /// The compiler has proven somewhere that the type is `Sendable`. Nothing else can be asked for that: the protocol
    /// leaves no trace in the program that runs.
    func noteSendable() { isSendable.store(true, ordering: .relaxed) }

    /// Whether memory may have objects themselves: only where a copy of a value shares nothing that can be changed. A coder
    /// that sees a part of a class says so; what it doesn't see is proven by the type being `Sendable`, or not at all.
    func keepsObjects(_ isShared: Bool) -> Bool { !isShared && isSendable.load(ordering: .relaxed) }

    /// What nobody is thrown (S4).
    func log(_ operation: String, archive: String, _ key: String?, _ error: any Error) {
        failures.withLock { $0.logged += 1 }
        factory.logger.warning(
            "vellum: cannot \(operation)",
            metadata: ["archive": "\(archive)", "key": "\(key ?? "")", "reason": "\(error)"])
    }

    func object(of held: HeldObject, _ name: String) throws -> Object {
        guard let bytes = held.bytes else {
            // Only this archive fills its tier. A checked cast would take longer than all the rest of a hit.
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

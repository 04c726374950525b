/// The archive of one type: objects in memory and on disk, limited in bytes, with the least recently used evicted
/// first. Get it from an ``ArchivesFactory``. Safe from any thread, and shared with other processes that open the
/// store.
///
/// Storing encodes the object, replaces the object with its key in both tiers, makes it the most recent in both, and
/// evicts excess objects of each. A look-up tries memory, then disk (and moves the object into memory), and otherwise
/// returns `nil`. Once a process has deleted, replaced or expired an object, no other process returns it from its
/// memory.
///
/// Objects behave as values: changing one doesn't change the archive until it is recorded again, and no other caller
/// sees the change. If the type guarantees this, as a `Sendable` structure or enum, memory holds the object itself.
/// Otherwise it holds the bytes, which each access decodes (<doc:TwoTiers>, "Objects are values").
///
/// Most calls don't throw. Failures are logged (``ArchivesFactory/logger``), counted, and shown by the browser. Each of
/// these calls has a counterpart that throws in ``throwing``. Those of ``asynchronous`` don't block the caller's thread,
/// and ``perform(_:)`` performs any others on another thread.
public final class ArchiveManager<Object: Archivable>: @unchecked Sendable {
    @usableFromInline package let handle: ArchiveHandle<Object>
    package var core: ArchiveCore<Object> { handle.core }

    init(_ handle: ArchiveHandle<Object>) { self.handle = handle }

    @inline(__always)
    func attempt<Value>(
        _ operation: StaticString, _ key: @autoclosure () -> String? = nil, else fallback: Value,
        _ body: (ArchiveCore<Object>) throws -> Value
    ) -> Value {
        do {
            return try handle.perform(body)
        } catch {
            handle.log("\(operation)", key(), error)
            return fallback
        }
    }
}

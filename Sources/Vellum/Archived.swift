import Foundation
import Logging
import Observation

/// A property whose value is stored in the archive of its type whenever it is assigned.
///
/// ```swift
/// @Archived var user: User?
/// @Archived(initialPrimaryKey: "some") var friend: User?
/// ```
///
/// Assigning a value records it; an existing entry with its key keeps its lifetime and owner. Assigning `nil` deletes
/// the former value's entry. A value with another primary key is recorded under that key, and the former value's entry
/// stays: the property refers to one of the archive's objects, and referring to another one deletes nothing.
///
/// With an initial primary key, the first read looks the value up in the archive, unless a value was assigned before.
/// Later reads only take a lock: the property keeps its value and doesn't follow other changes of the entry.
///
/// Assigning to a part of a structure (`user?.age = 30`) records the whole structure. Changes inside an instance of a
/// class go unnoticed; assign the instance again to record it.
///
/// Several threads may use the property if its value's type is `Sendable`. An assignment that reads the former value,
/// such as `user?.age += 1`, is two steps, each of them safe. Swift 6 doesn't allow the wrapper on global and static
/// variables, or in a `Sendable` class without an actor. There, declare a constant `let user = Archived<User>()` and
/// use its `wrappedValue`. Copies of a structure share the value of such a property.
///
/// Reads and assignments are observable, like those of a property of an `@Observable` class. In such a class mark the
/// property as `@ObservationIgnored @Archived var user: User?`, because the macro doesn't accept wrapped properties. It
/// is still observed.
///
/// If the archive can't be opened, this is logged once (``ArchivesFactory/logger``). The property then keeps its value
/// in memory only, and every later use that needs the archive tries again.
@propertyWrapper
public final class Archived<Object: Archivable> {
    private let open: () throws -> any Archivist<Object>
    private let logger: () -> Logger
    private let observers = ObservationRegistrar()
    // Recursive, because recording may read the property. Held while recording, so that both get values in the same order.
    private let lock = NSRecursiveLock()

    // All below are guarded by the lock.
    private var value: Object?
    /// The entry that assigning nil deletes.
    private var key: String?
    private var awaitsLoad: Bool
    private var archives: (any Archivist<Object>)?
    private var hasLogged = false

    package init(
        initialPrimaryKey key: String?, fallback: Object? = nil, logger: @escaping () -> Logger,
        open: @escaping () throws -> any Archivist<Object>
    ) {
        self.key = key
        self.value = fallback
        self.logger = logger
        self.open = open
        awaitsLoad = key != nil
        if key == nil, let fallback { assign(fallback) }
    }

    // Not in an extension: there the compiler doesn't find it for a property without arguments.
    /// A property that is `nil` at first, stored in the shared factory's archive.
    public convenience init() { self.init(key: nil, value: nil, .shared) }

    /// The value. Assigning a value records it; assigning `nil` deletes its entry.
    public var wrappedValue: Object? {
        get {
            observers.access(self, keyPath: \.wrappedValue)
            return lock.withLock {
                if awaitsLoad { load() }
                return value
            }
        }
        set {
            var former: Object?
            observers.withMutation(of: self, keyPath: \.wrappedValue) {
                lock.withLock {
                    former = value
                    assign(newValue)
                }
            }
            // Without the lock: releasing a value may wait for another thread that reads the property.
            withExtendedLifetime(former) {}
        }
    }

    /// The archive of the property's type: `$user?.findWhere { $0.age(.less(than: 30)) }`. `nil`: it can't be opened.
    public var projectedValue: ArchiveManager<Object>? {
        lock.withLock { opened() as? ArchiveManager<Object> }
    }

    private func load() {
        guard let key, let archives = opened() else { return }
        awaitsLoad = false
        if let stored = archives.access(archiveWithKey: key) {
            value = stored
        } else if let value {
            assign(value)
        }
    }

    private func assign(_ newValue: Object?) {
        awaitsLoad = false
        value = newValue
        if let newValue {
            // An object's key may have changed by the time it is deleted.
            key = newValue.primaryKey
            opened()?.update(newValue)
        } else if let former = key {
            key = nil
            opened()?.delete(archiveWithKey: former)
        }
    }

    private func opened() -> (any Archivist<Object>)? {
        if let archives { return archives }
        do {
            archives = try open()
        } catch {
            if !hasLogged {
                hasLogged = true
                logger().warning(
                    "vellum: cannot open the archive of a property",
                    metadata: ["archive": "\(Object.archiveName)", "reason": "\(error)"])
            }
        }
        return archives
    }
}

// The lock guards all mutable state, and the closure that opens the archive.
extension Archived: @unchecked Sendable where Object: Sendable {}

extension Archived: Observable {}

extension Archived {
    /// A property whose value is the archive's object of this key, when it is read for the first time; without a key
    /// it is `nil` at first.
    public convenience init(initialPrimaryKey key: String? = nil, in factory: ArchivesFactory = .shared) {
        self.init(key: key, value: nil, factory)
    }

    /// Like ``init(initialPrimaryKey:in:)``. If the archive lacks the object, records and returns `wrappedValue`;
    /// without a key records it at once.
    public convenience init(
        wrappedValue: Object?, initialPrimaryKey key: String? = nil, in factory: ArchivesFactory = .shared
    ) {
        self.init(key: key, value: wrappedValue, factory)
    }

    private convenience init(key: String?, value: Object?, _ factory: ArchivesFactory) {
        self.init(initialPrimaryKey: key, fallback: value, logger: { factory.logger }) {
            try factory.archives(for: Object.self)
        }
    }
}

/// For `Sendable` types, whose archives keep objects themselves in memory (``ArchivesFactory``).
extension Archived where Object: Sendable {
    /// A property that is `nil` at first, stored in the shared factory's archive.
    public convenience init() { self.init(sendable: nil, value: nil, .shared) }

    /// A property whose value is the archive's object of this key, when it is read for the first time; without a key
    /// it is `nil` at first.
    public convenience init(initialPrimaryKey key: String? = nil, in factory: ArchivesFactory = .shared) {
        self.init(sendable: key, value: nil, factory)
    }

    /// Like ``init(initialPrimaryKey:in:)``. If the archive lacks the object, records and returns `wrappedValue`;
    /// without a key records it at once.
    public convenience init(
        wrappedValue: Object?, initialPrimaryKey key: String? = nil, in factory: ArchivesFactory = .shared
    ) {
        self.init(sendable: key, value: wrappedValue, factory)
    }

    private convenience init(sendable key: String?, value: Object?, _ factory: ArchivesFactory) {
        self.init(initialPrimaryKey: key, fallback: value, logger: { factory.logger }) {
            // Calls the overload for `Sendable` types, which records that the type is one.
            try factory.archives(for: Object.self)
        }
    }
}

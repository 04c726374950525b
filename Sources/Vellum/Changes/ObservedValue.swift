import Observation

/// An observable value that follows an archive, for views and view models; on the main actor.
///
/// ```swift
/// @MainActor final class Profile {
///     let user = users.values(forKey: "ada").observed()
///     var greeting: String { "Hello \(user.value?.userName ?? "stranger")" }
/// }
/// ```
///
/// It follows the values (``FollowedValues``) from its creation on, in a task that ends with the last reference to it.
/// It needs no SwiftUI. To change the value, change the archive:
/// ``ArchiveManager/modify(archiveWithKey:options:_:)`` loses no other change.
@MainActor @Observable
public final class ObservedValue<Value> {
    /// The latest value. Until the first reading, some milliseconds after creation, the initial one.
    public private(set) var value: Value
    /// Whether the value has been read.
    public private(set) var isKnown = false
    @ObservationIgnored private let following = CancelledWithLast()

    init(_ initial: Value, following values: FollowedValues<Value>) {
        value = initial
        following.task = Task { [weak self] in
            for await value in values {
                guard let self else { return }
                self.value = value
                if !isKnown { isKnown = true }
            }
        }
    }

    private final class CancelledWithLast {
        var task: Task<Void, Never>?

        deinit { task?.cancel() }
    }
}

extension FollowedValues {
    /// The values as an observable object for views; `initial` until the first has been read.
    @MainActor public func observed(from initial: Element) -> ObservedValue<Element> {
        ObservedValue(initial, following: self)
    }
}

extension FollowedValues where Element: ExpressibleByNilLiteral {
    /// The object with a key as an observable object for views; `nil` until it has been read.
    @MainActor public func observed() -> ObservedValue<Element> { observed(from: nil) }
}

extension FollowedValues where Element: RangeReplaceableCollection {
    /// The results of a query as an observable object for views; empty until they have been read.
    @MainActor public func observed() -> ObservedValue<Element> { observed(from: Element()) }
}

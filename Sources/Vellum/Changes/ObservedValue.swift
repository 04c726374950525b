import Observation

/// How something stands in an archive, as an observable value for views and what is behind them; on the main actor.
///
/// ```swift
/// @MainActor final class Profile {
///     let user = users.values(forKey: "ada").observed()
///     var greeting: String { "Hello \(user.value?.userName ?? "stranger")" }
/// }
/// ```
///
/// It follows the values from the beginning (``FollowedValues``), in a task that ends with the last reference to it, and needs no
/// SwiftUI. To change what it shows, change the archive: ``ArchiveManager/modify(archiveWithKey:expiresIn:inMemory:owner:_:)``
/// loses nobody's change.
@MainActor @Observable
public final class ObservedValue<Value> {
    /// How it stood last; what it was made with until it has been read, some milliseconds later.
    public private(set) var value: Value
    /// Whether it has been read.
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

    /// An actor's class can't cancel its own task when it goes, which may be on any thread.
    private final class CancelledWithLast {
        var task: Task<Void, Never>?

        deinit { task?.cancel() }
    }
}

extension FollowedValues {
    /// The values as something that views observe; `initial` until the first has been read.
    @MainActor public func observed(from initial: Element) -> ObservedValue<Element> {
        ObservedValue(initial, following: self)
    }
}

extension FollowedValues where Element: ExpressibleByNilLiteral {
    /// The object of a key as something that views observe; `nil` until it has been read.
    @MainActor public func observed() -> ObservedValue<Element> { observed(from: nil) }
}

extension FollowedValues where Element: RangeReplaceableCollection {
    /// The results of a query as something that views observe; none until they have been read.
    @MainActor public func observed() -> ObservedValue<Element> { observed(from: Element()) }
}

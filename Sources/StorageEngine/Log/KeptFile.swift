import Synchronization

/// A segment's file that stays open because it is about to grow again. A process keeps a few of them, however many
/// archives it has open: opening one anew costs some microseconds, and a descriptor is needed only then.
final class KeptFile: Sendable {
    let file: OpenFile

    private static let most = 64
    private static let kept = Atomic<Int>(0)

    /// `nil` when this process keeps enough of them.
    init?(_ file: OpenFile) {
        self.file = file
        guard KeptFile.kept.wrappingAdd(1, ordering: .relaxed).newValue <= KeptFile.most else { return nil }
    }

    // Also of what became nil: then it was counted, too.
    deinit { KeptFile.kept.wrappingSubtract(1, ordering: .relaxed) }
}

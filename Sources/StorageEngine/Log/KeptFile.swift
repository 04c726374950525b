import Synchronization

/// A segment's file that stays open because it will soon grow. A process keeps only a few, and opens others in microseconds.
final class KeptFile: Sendable {
    let file: FileDescriptor

    private static let most = 64
    private static let kept = Atomic<Int>(0)

    /// `nil` if this process already keeps the maximum number open.
    init?(_ file: FileDescriptor) {
        self.file = file
        guard KeptFile.kept.wrappingAdd(1, ordering: .relaxed).newValue <= KeptFile.most else { return nil }
    }

    // Decrements even after a failed `init`, which has counted as well.
    deinit { KeptFile.kept.wrappingSubtract(1, ordering: .relaxed) }
}

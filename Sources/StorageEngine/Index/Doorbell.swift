import CPlatform

/// A word in a small file of a store (OnDiskFormat, "The doorbell"). Writers change it to wake all followers; a follower needs
/// one thread for any number of archives. Followers create the file; a writer opens it at the first waiter.
final class Doorbell: Sendable {
    static let fileName = "vellum-store.doorbell"
    static let fileBytes = 4096

    private struct State {
        var bell: Bell?
        /// When the file was last searched for or checked, on the monotonic clock.
        var checked = Int64.min
    }

    private let folder: FileDescriptor
    private let state = Guarded(State())

    init(store folder: FileDescriptor) { self.folder = folder }

    /// Interval between checks of the file, so that not every event searches for a missing file.
    private static let checkNanoseconds: Int64 = 1_000_000_000

    /// Rings the bell; `false` if the file can't be opened now.
    func ring() -> Bool {
        let bell = state.withLock { state in
            let now = cp_monotonic_time()
            if state.checked == .min || now - state.checked > Doorbell.checkNanoseconds {
                state.checked = now
                if state.bell?.isRemoved ?? true { state.bell = try? open(making: false) }
            }
            return state.bell
        }
        bell?.ring()
        return bell != nil
    }

    func bell() throws(StorageError) -> Bell {
        try state.withLock { (state) throws(StorageError) in
            if let bell = state.bell, !bell.isRemoved { return bell }
            let bell = try open(making: true)
            state.bell = bell
            state.checked = cp_monotonic_time()
            return bell
        }
    }

    private func open(making: Bool) throws(StorageError) -> Bell {
        let file =
            try making
            ? folder.fileMakingIfMissing(named: Doorbell.fileName)
            : folder.file(named: Doorbell.fileName, writable: true)
        var status = try file.status()
        guard status.isRegular else {
            throw .corrupted(path: file.path, offset: 0, reason: "not a regular file; remove it")
        }
        guard status.owner == ProcessIdentity.effectiveUser else {
            throw .ownedByAnotherUser(path: file.path)
        }
        if making, status.bytes < Doorbell.fileBytes {
            try file.extend(from: Doorbell.fileBytes, to: Doorbell.fileBytes)
            status = try file.status()
        }
        // Only mapped bytes that exist in the file may be accessed (F4).
        guard status.bytes >= Doorbell.fileBytes else {
            throw .corrupted(path: file.path, offset: status.bytes, reason: "too short for a doorbell")
        }
        return Bell(file, try MappedRange(file, bytes: Doorbell.fileBytes, writable: true))
    }

    final class Bell: @unchecked Sendable {
        private let file: FileDescriptor?
        private let range: MappedRange?
        private let word: UnsafeMutableRawPointer

        fileprivate init(_ file: FileDescriptor, _ range: MappedRange) {
            self.file = file
            self.range = range
            word = range.base
        }

        init() {
            file = nil
            range = nil
            word = .allocate(byteCount: 8, alignment: 8)
            cp_store64(word, 0)
        }

        deinit { if range == nil { word.deallocate() } }

        var isShared: Bool { range != nil }
        /// Whether the file was removed, so that other processes would open a different one.
        var isRemoved: Bool { file.map { ((try? $0.status())?.links ?? 1) == 0 } ?? false }
        var count: UInt32 { cp_load32(word) }

        func ring() {
            _ = cp_add32(word, 1)
            cp_wake_word(word)
        }

        func wait(since count: UInt32, atMost nanoseconds: Int64) {
            cp_wait_word(word, count, nanoseconds)
        }
    }
}

/// Replaces the descriptor completely or not at all. Files: OnDiskFormat, "Descriptors".
extension ArchiveOpening {
    /// The report about a descriptor that names another archive than its folder, because the folder was renamed or copied.
    static func nameProblem(_ other: String, in folder: FileDescriptor) -> String {
        "\(folder.path)/\(Descriptor.fileName): names the archive \"\(other.unicodeScalars.map { $0.escaped(asASCII: false) }.joined())\", "
            + "but its folder has another name"
    }

    /// The opening; `nil` if the descriptor is missing or damaged. Throws if it can't be read at the moment.
    static func ifDescribed(_ folder: FileDescriptor, _ options: StoreOptions) throws(StorageError)
        -> ArchiveOpening?
    {
        try StorageError.nilIf(\.isCorrupted, ArchiveOpening(folder: folder, options: options))
    }

    static func replaceDescriptor(_ descriptor: Descriptor, in folder: FileDescriptor) throws(StorageError) {
        try NextDescriptor(descriptor, in: folder).adopt { (publish) throws(StorageError) in try publish() }
    }

    /// Changes the archive's configuration for all processes, one process at a time, and not during an opening. While `engine`
    /// holds the archive's lock, renames the new descriptor and updates the index. After a crash in between, the next holder
    /// applies the descriptor, so no change is acknowledged under another limit.
    static func changeConfiguration(
        through engine: ArchiveEngine, _ change: (inout ArchiveConfiguration) throws(StorageError) -> Void
    ) throws(StorageError) {
        let folder = engine.folder
        // Evicts before taking the open lock, because evictions are slow. Evicts again below for entries stored since.
        var wanted = try Descriptor.read(in: folder).configuration
        try change(&wanted)
        try wanted.validate()
        if let limit = wanted.diskLimit { try LimitChange(engine).evictInSlices(downTo: limit) }
        let openLock = try OpenLock.take(in: folder, archive: engine.name)
        defer { openLock.release() }
        var descriptor = try Descriptor.read(in: folder)
        let before = descriptor.configuration.evictionPolicy
        try change(&descriptor.configuration)
        try descriptor.configuration.validate()
        if descriptor.configuration.evictionPolicy != before {
            try requireSupport(of: descriptor.configuration.evictionPolicy, in: engine)
        }
        try NextDescriptor(descriptor, in: folder).adopt { (publish) throws(StorageError) in
            try LimitChange(engine).adopt(descriptor.configuration, publish: publish)
        }
        if descriptor.configuration.durability != .process { try synchronizeNames(of: folder) }
    }

    /// Refuses a policy that an attached process's program doesn't have: it would change the queues as if they were one list.
    /// Processes that open the archive later read the descriptor, and refuse it themselves. Requires the open lock.
    private static func requireSupport(
        of policy: EvictionPolicy, in engine: ArchiveEngine
    ) throws(StorageError) {
        guard policy != .lru else { return }
        let attached = engine.index.processes.attached
        let liveness = engine.liveness
        if let other = attached.first(where: { !$0.knows(policy) && liveness.isAlive($0) }) {
            throw .busy(
                archive: engine.name, process: other.identity.pid,
                reason: "its program has no eviction policy \(policy); update it, or close the archive there")
        }
        guard attached.count < IndexLayout.processSlots else {
            throw .busy(
                archive: engine.name, process: 0,
                reason: "too many processes have it open to change the eviction policy; close some")
        }
    }
}

/// A descriptor that is on the medium and only has to be renamed. Used by one thread, which has the open lock.
private struct NextDescriptor {
    private static let newName = Descriptor.fileName + ".new"

    private let folder: FileDescriptor
    private let bytes: [UInt8]
    private let name: String

    /// Writes the descriptor; on a full disk into the spare file's blocks, so that a limit can be lowered even then.
    init(_ descriptor: Descriptor, in folder: FileDescriptor) throws(StorageError) {
        self.folder = folder
        bytes = descriptor.encoded
        do throws(StorageError) {
            try NextDescriptor.write(bytes, in: folder)
            name = NextDescriptor.newName
        } catch {
            guard error.isNoSpace, try NextDescriptor.useSpare(for: bytes, in: folder) else {
                throw error
            }
            name = Descriptor.spareName
        }
    }

    /// Calls `body`, which calls its argument to rename the descriptor. If it throws, removes the descriptor; an overwritten
    /// spare file stays as space for the next one.
    func adopt(
        _ body: (_ publish: () throws(StorageError) -> Void) throws(StorageError) -> Void
    ) throws(StorageError) {
        let discard = { if name != Descriptor.spareName { try? folder.unlink(name) } }
        try StorageError.rethrowing(after: discard) { () throws(StorageError) in
            try body { () throws(StorageError) in
                try folder.rename(name, to: Descriptor.fileName)
                crashPoint(.descriptorRenamed)
            }
        }
        keepSpare()
    }

    /// Creates the spare file, unless it has the right length. The replaced descriptor's blocks are free now.
    private func keepSpare() {
        let name = Descriptor.spareName
        let present = (try? folder.status(ofEntry: name)) ?? nil
        if present?.isRegular == true, present?.bytes == bytes.count { return }
        guard (try? folder.unlink(name)) != nil, let file = try? folder.newFile(named: name) else { return }
        if (try? file.write(bytes)) == nil { try? folder.unlink(name) }
    }

    private static func write(_ bytes: [UInt8], in folder: FileDescriptor) throws(StorageError) {
        try folder.unlink(newName)
        let file = try folder.newFile(named: newName)
        try StorageError.rethrowing(after: { try? folder.unlink(newName) }) { () throws(StorageError) in
            try file.write(bytes)
            try file.synchronize()
            crashPoint(.descriptorWritten)
        }
    }

    /// Overwrites the spare file, which needs no new blocks; `false` if no spare file has the right size.
    private static func useSpare(for bytes: [UInt8], in folder: FileDescriptor) throws(StorageError) -> Bool {
        guard let file = try folder.fileIfPresent(named: Descriptor.spareName, writable: true),
            try file.status().bytes == bytes.count
        else { return false }
        try file.write(bytes)
        try file.synchronize()
        return true
    }
}

/// Replacing the descriptor, whole or not at all. Files: OnDiskFormat, "Descriptors".
extension ArchiveOpening {
    /// On a full disk the spare file's blocks are used: a limit can be made smaller then too.
    static func replaceDescriptor(_ descriptor: Descriptor, in folder: OpenFile) throws(StorageError) {
        do throws(StorageError) {
            try writeDescriptor(descriptor, in: folder)
        } catch {
            guard case .noSpace = error, try useSpare(for: descriptor, in: folder) else { throw error }
        }
        // The old descriptor's blocks are free again: there is room for the next spare file.
        keepSpare(descriptor, in: folder)
    }

    private static func writeDescriptor(_ descriptor: Descriptor, in folder: OpenFile) throws(StorageError) {
        let temporary = Descriptor.fileName + ".new"
        try folder.unlink(temporary)
        let file = try folder.newFile(named: temporary)
        do throws(StorageError) {
            try file.write(descriptor.encoded)
            try file.synchronize()
            crashPoint(.descriptorWritten)
            try folder.rename(temporary, to: Descriptor.fileName)
            crashPoint(.descriptorRenamed)
        } catch {
            try? folder.unlink(temporary)
            throw error
        }
    }

    /// Writes over the spare file's bytes, which takes no room, and makes it the descriptor; `false` when there is
    /// none of the right size.
    private static func useSpare(for descriptor: Descriptor, in folder: OpenFile) throws(StorageError) -> Bool
    {
        let bytes = descriptor.encoded
        guard let file = try? folder.file(named: Descriptor.spareName, writable: true),
            try file.status().bytes == bytes.count
        else { return false }
        try file.write(bytes)
        try file.synchronize()
        try folder.rename(Descriptor.spareName, to: Descriptor.fileName)
        return true
    }

    /// Makes the spare file if there is none that is as long as the descriptor: an archive's descriptors all have the
    /// same length. Without room there is none.
    private static func keepSpare(_ descriptor: Descriptor, in folder: OpenFile) {
        let bytes = descriptor.encoded
        let present = try? folder.file(named: Descriptor.spareName, writable: false).status().bytes
        guard present != bytes.count else { return }
        do throws(StorageError) {
            try folder.unlink(Descriptor.spareName)
            try folder.newFile(named: Descriptor.spareName).write(bytes)
        } catch {
            try? folder.unlink(Descriptor.spareName)
        }
    }
}

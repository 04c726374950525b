/// The slots of the process table that belong to live processes. Process number and start time are valid only in their
/// namespaces, so each process also locks its slot's byte of the file `attached`, which others test.
struct Liveness: Sendable {
    let folder: FileDescriptor
    /// The writer's own file, whose lock doesn't conflict with itself; `nil` for an observer.
    let attachment: FileDescriptor?
    let ownLine: Int?

    /// If this is unknown (no free descriptor), the process counts as alive: treating a live one as ended would release its slot.
    func isAlive(_ slot: ProcessSlot) -> Bool {
        guard slot.pid != 0 else { return false }
        if slot.line == ownLine { return true }
        let namespace = slot.namespace
        if namespace != 0, namespace == Namespaces.line { return slot.identity.isAlive }
        if let attachment { return attachment.isByteLocked(slot.line) }
        do throws(StorageError) {
            return try folder.file(named: ArchiveFile.attached, writable: false).isByteLocked(slot.line)
        } catch {
            return !error.isMissing
        }
    }
}

/// Whose files this process takes in. Sendable value type. Rule: OnDiskFormat, F9.
///
/// What is mapped can be cut off by whoever may write the file, and then ends this process by a signal; and an index is
/// believed as far as reading it does no harm, which is not as far as its maker might wish.
enum FileTrust: Sendable {
    /// Whatever may be opened: paths above a store, and stores whose owner this process was told to trust.
    case anyone
    /// Files of this user or of root that nobody else may write.
    case ownUser

    /// Why it isn't taken in; `nil` when it is. `isFolder`: what is to be made private.
    func objection(owner: UInt32, mode: UInt32, isFolder: Bool) -> String? {
        guard case .ownUser = self else { return nil }
        let user = ProcessIdentity.effectiveUser
        if owner != user, owner != 0 {
            return
                "belongs to user \(owner), who could change or cut it off while this process has it mapped; open the "
                + "store as that user (a copy of one belongs to you after chown -R), or set trustsOwner of StoreOptions, "
                + "VELLUM_TRUST_OWNER=1 for the command line, to look into it all the same"
        }
        guard mode & 0o022 != 0 else { return nil }
        return
            "may be written by other users (mode \(String(mode & 0o777, radix: 8))), who could change what is in it "
            + "while this process has it mapped; make it private with chmod \(isFolder ? "-R " : "")go-w"
    }
}

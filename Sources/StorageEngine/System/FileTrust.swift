/// The owners whose files this process opens: OnDiskFormat, F9. A user with write access to a mapped file can truncate it, and so
/// end this process by a signal; and the creator of an index may be malicious.
enum FileTrust: Sendable {
    /// Any file that can be opened: paths above a store, and stores whose owner the caller declared trusted.
    case anyone
    /// Files of this user or of root that no other user may write.
    case ownUser

    /// Why a file is refused; `nil` if it isn't. `isFolder` selects the advice.
    func reason(owner: UInt32, mode: UInt32, isFolder: Bool) -> String? {
        guard case .ownUser = self else { return nil }
        let user = ProcessIdentity.effectiveUser
        if owner != user, owner != 0 {
            return
                "belongs to user \(owner), whose processes could change it while it is mapped; open the store as that user, change "
                + "the owner of a copy (chown -R), or trust the owner (StoreOptions.trustsOwner, VELLUM_TRUST_OWNER=1)"
        }
        guard mode & 0o022 != 0 else { return nil }
        return
            "may be written by other users (mode \(String(mode & 0o777, radix: 8))), who could change it while it is mapped; "
            + "make it private with chmod \(isFolder ? "-R " : "")go-w"
    }
}

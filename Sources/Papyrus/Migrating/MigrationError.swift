/// Why a migration can't be registered.
public enum MigrationError: Error, Sendable {
    /// The objects of both types are stored under this one name, so old ones can't be recognized: objects that a user
    /// has saved since would be converted again.
    case oneTypeName(String)
}

extension MigrationError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .oneTypeName(let name):
            "both types are stored as \"\(name)\", so old and new objects can't be distinguished; give the new type another "
                + "papyrusTypeName, and the old type that of the stored objects"
        }
    }
}

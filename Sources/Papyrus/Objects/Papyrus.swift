/// A type that a ``PapyrusStore`` can keep: `Codable`, `Equatable`, and `Identifiable` with an identifier whose text is
/// unique and the same in every process, like that of a `LosslessStringConvertible` or a `UUID`.
///
/// ```swift
/// struct Car: Papyrus {
///     let id: String
///     let model: String
///     let manufacturer: String
/// }
/// ```
///
/// Objects of one type with equal identifiers are the same object. Texts as identifiers are equal if Swift's
/// strings are: "é" as one scalar and as two is one identifier.
public protocol Papyrus: ToOneRelation, Identifiable, SendableMetatype where ID: CustomStringConvertible {
    /// The type's name in a store. By default it includes the module and enclosing types, `Geo.City`. A type that
    /// was renamed or moved returns its former name here, and a type in another program or module that shares the
    /// objects returns the same name. A `/` counts as `:`, and names of more than 255 bytes are shortened.
    static var papyrusTypeName: String { get }
}

extension Papyrus {
    /// The type's name with its module and enclosing types. For a private or local type a suffix follows, which
    /// identifies the declaring file and function, because there may be several types with that name.
    public static var papyrusTypeName: String { StoredType.name(of: Self.self) }
}

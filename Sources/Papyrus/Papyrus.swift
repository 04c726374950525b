/// Anything that a ``PapyrusStore`` can keep: `Codable`, `Equatable`, and `Identifiable` with an identifier whose text tells it from
/// all others and is the same each time, in every process: that of a `LosslessStringConvertible`, or of a `UUID`.
///
/// ```swift
/// struct Car: Papyrus {
///     let id: String
///     let model: String
///     let manufacturer: String
/// }
/// ```
///
/// Objects of one type with equal identifiers are one object. Of a text as identifier that is what Swift calls equal: the two
/// spellings of "é", one scalar or two, are one identifier.
public protocol Papyrus: ToOneRelation, Identifiable, SendableMetatype where ID: CustomStringConvertible {
    /// By what name a store knows the type; by default its name with its module and the types around it, `Geo.City`. A type that
    /// was renamed or moved says its former name here, and so does a type of another program, or of another module, that
    /// shares its objects. A `/` in it is taken for `:`. What is longer than 255 bytes is shortened.
    static var papyrusTypeName: String { get }
}

extension Papyrus {
    /// The type's name with its module and the types around it. A private or local type has a mark behind it, for there may be
    /// several of that name; the mark is of the file and the function in which it is declared.
    public static var papyrusTypeName: String { StoredType.name(of: Self.self) }
}

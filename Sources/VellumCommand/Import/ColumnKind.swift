/// Sendable value type. What the fields of a column are taken for.
enum ColumnKind: Sendable, Hashable {
    /// Each field is what it spells: a number, `true`, `false`, `null`, an array, an object or a text.
    case spelled
    /// Texts, and arrays and objects where a field spells one.
    case mixedText
    /// Texts alone, whatever they look like.
    case text
    /// Numbers and `null`; anything else is a fault of its row.
    case number
    /// Numbers with this decimal separator, and `null`; see ``LocalNumber``.
    case localNumber(decimal: UInt8)
    /// `true`, `false` and `null`; anything else is a fault of its row.
    case boolean
}

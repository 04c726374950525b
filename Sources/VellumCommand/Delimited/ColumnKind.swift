enum ColumnKind: Sendable, Hashable {
    /// By spelling: a number, `true`, `false`, `null`, an array, an object or a text.
    case spelled
    /// Arrays and objects by spelling, else texts.
    case mixedText
    case text
    /// Numbers and `null`; a row with another field is invalid.
    case number
    /// Numbers with this decimal separator, and `null`; see ``LocalNumber``.
    case localNumber(decimal: UInt8)
    /// `true`, `false` and `null`; a row with another field is invalid.
    case boolean
}

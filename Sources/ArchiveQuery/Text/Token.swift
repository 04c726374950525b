struct Token: Equatable {
    enum Kind: Equatable {
        case word(String)
        /// A text in quotes, without the quotes and with resolved escapes.
        case quoted(String)
        /// A number, duration, size or date.
        case literal(QueryLiteral)
        /// The name after an `@`.
        case metadata(String)
        case symbol(Symbol)
        /// Invalid text, with the reason.
        case invalid(String)
        case end
    }

    enum Symbol: String {
        case pipe = "|"
        case openParenthesis = "("
        case closeParenthesis = ")"
        case openBracket = "["
        case closeBracket = "]"
        case comma = ","
        case dot = "."
        case equal = "="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        case plus = "+"
        case minus = "-"
        case times = "*"
        case dividedBy = "/"
    }

    var kind: Kind
    /// Bytes from the start of the text.
    var range: Range<Int>
}

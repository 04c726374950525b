struct Token: Equatable {
    enum Kind: Equatable {
        case word(String)
        /// A text in quotes, with the quotes removed and escapes resolved.
        case quoted(String)
        /// A number, duration, size or date.
        case literal(QueryLiteral)
        /// The name after an `@`.
        case metadata(String)
        case symbol(Symbol)
        /// Text that isn't a token, with what is wrong with it.
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
    /// Its bytes, counted from the start of the text.
    var range: Range<Int>
}

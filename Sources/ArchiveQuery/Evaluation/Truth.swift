/// The result of a condition for one row, in Kleene's three-valued logic. A row is selected only if it is `yes`.
enum Truth: UInt8 {
    case no, yes
    /// The condition has no answer, such as for the order of a date and a text that is no date.
    case unknown

    @inline(__always)
    init(_ flag: Bool) { self = flag ? .yes : .no }

    static prefix func ! (truth: Truth) -> Truth {
        switch truth {
        case .no: .yes
        case .yes: .no
        case .unknown: .unknown
        }
    }

    /// Conjunction or disjunction. `rest` is evaluated only if it can change the result.
    @inline(__always)
    static func joined<Failure: Error>(
        _ first: Truth, isConjunction: Bool, _ rest: () throws(Failure) -> Truth
    ) throws(Failure) -> Truth {
        let decisive: Truth = isConjunction ? .no : .yes
        if first == decisive { return first }
        let second = try rest()
        return first == .unknown && second != decisive ? .unknown : second
    }
}

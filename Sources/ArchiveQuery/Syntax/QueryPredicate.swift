/// A condition on a row.
///
/// A missing or null property is *absent*. Like `nil` in the typed API, it matches ``QueryRelation/equal`` with null,
/// ``QueryRelation/notEqual`` with a value, ``QueryPresence/null`` and ``QueryPresence/nullOrEmpty``, and nothing else. Values
/// of different kinds are not equal. A test without an answer for a value's kind is unknown, and so is its negation (Kleene's
/// logic); only rows for which a condition is true match. For all elements of a list (`items[].price`), one matching element is
/// enough; in an element without the property, it is absent.
public indirect enum QueryPredicate: Sendable, Hashable {
    /// True if all are true, or for an empty list.
    case and([QueryPredicate])
    /// True if at least one is true; false for an empty list.
    case or([QueryPredicate])
    /// True if the condition is false.
    case not(QueryPredicate)
    /// Compares a property with a value. Numbers compare exactly, integer or floating point; texts by canonical equivalence,
    /// like Swift's strings, but keys and owners by bytes; dates with dates, and with texts that are a date in ISO 8601.
    /// Booleans and null can only be equal or unequal.
    case compare(QueryProperty, QueryRelation, QueryLiteral)
    /// Compares two properties of a row in the same way.
    case relate(QueryProperty, QueryRelation, QueryProperty)
    /// Compares the number of elements of an array, entries of a map, characters of a text, or bytes of a byte string.
    case count(QueryProperty, QueryRelation, Int)
    /// The property equals one of the values.
    case isIn(QueryProperty, [QueryLiteral])
    /// The property is neither less than the first value nor greater than the second.
    case between(QueryProperty, QueryLiteral, QueryLiteral)
    /// A text that contains this text. Compares characters; unless `caseSensitive`, after full case folding.
    case contains(QueryProperty, String, caseSensitive: Bool)
    /// A text that begins with this text, compared by characters.
    case startsWith(QueryProperty, String)
    /// A text that ends with this text, compared by characters.
    case endsWith(QueryProperty, String)
    /// A text that the whole pattern matches. `%` matches any characters, `_` one, and `\` before one of these three the
    /// character itself. Unless `caseSensitive`, compares after full case folding.
    case like(QueryProperty, pattern: String, caseSensitive: Bool)
    /// A text that the regular expression (of `NSRegularExpression`) matches somewhere.
    case matches(QueryProperty, pattern: String)
    /// An array that contains at least one of the values.
    case hasAny(QueryProperty, [QueryLiteral])
    /// An array that contains all of the values.
    case hasAll(QueryProperty, [QueryLiteral])
    /// Whether the property is null or empty.
    case presence(QueryProperty, QueryPresence)
}

/// How two values compare.
public enum QueryRelation: String, Sendable, Hashable, CaseIterable {
    /// The values are equal.
    case equal = "="
    /// The values differ, or the property is absent. Unknown for a date and a text that is no date.
    case notEqual = "!="
    /// The property is less than the value.
    case less = "<"
    /// The property is less than the value or equal to it.
    case lessOrEqual = "<="
    /// The property is greater than the value.
    case greater = ">"
    /// The property is greater than the value or equal to it.
    case greaterOrEqual = ">="
}

/// Tests for absence and content.
public enum QueryPresence: String, Sendable, Hashable, CaseIterable {
    /// The property is missing or null.
    case null = "is null"
    /// The property is neither missing nor null.
    case notNull = "is not null"
    /// An array, map, text or byte string without content.
    case empty = "is empty"
    /// An array, map, text or byte string with content.
    case notEmpty = "is not empty"
    /// The property is missing, null or empty.
    case nullOrEmpty = "is null or empty"
}

/// Sendable value type; safe to use from any thread. A condition that a row meets or doesn't.
///
/// A property that a row doesn't have and one that is null are the same, *absent*: as `nil` in the typed API, it meets
/// ``QueryRelation/equal`` with null, ``QueryRelation/notEqual`` with a value, ``QueryPresence/null`` and
/// ``QueryPresence/nullOrEmpty``, and nothing else. Values of different kinds never meet a comparison, not even
/// ``QueryRelation/notEqual``. Of a property with all elements of a list (`items[].price`) one element that meets the
/// condition is enough.
public indirect enum QueryPredicate: Sendable, Hashable {
    /// All of them; of none it is met.
    case and([QueryPredicate])
    /// One of them or more; of none it isn't met.
    case or([QueryPredicate])
    case not(QueryPredicate)
    /// Numbers compare exactly, whether integer or floating point; texts as Swift's strings do, by canonical
    /// equivalence; dates with dates, and with texts that are one in ISO 8601. Booleans and null are equal or not.
    case compare(QueryProperty, QueryRelation, QueryLiteral)
    /// The same for two properties of one row.
    case relate(QueryProperty, QueryRelation, QueryProperty)
    /// How many elements an array has, entries a map, characters a text, bytes a byte string.
    case count(QueryProperty, QueryRelation, Int)
    /// Equal to one of the values.
    case isIn(QueryProperty, [QueryLiteral])
    /// Not less than the first, and not greater than the second.
    case between(QueryProperty, QueryLiteral, QueryLiteral)
    /// A text with that text in it, by characters; without `caseSensitive` by their full case folding.
    case contains(QueryProperty, String, caseSensitive: Bool)
    /// A text that begins with that text, by characters.
    case startsWith(QueryProperty, String)
    /// A text that ends with that text, by characters.
    case endsWith(QueryProperty, String)
    /// A whole text, in whose pattern `%` stands for any characters, `_` for one, and `\` before one of the three for itself;
    /// without `caseSensitive` by their full case folding.
    case like(QueryProperty, pattern: String, caseSensitive: Bool)
    /// A text in which the regular expression (`NSRegularExpression`'s) matches somewhere.
    case matches(QueryProperty, pattern: String)
    /// An array with one of the values in it or more, or a text with one of these characters.
    case hasAny(QueryProperty, [QueryLiteral])
    /// An array with all of the values in it, or a text with all of these characters.
    case hasAll(QueryProperty, [QueryLiteral])
    case presence(QueryProperty, QueryPresence)
}

/// How two values compare.
public enum QueryRelation: String, Sendable, Hashable, CaseIterable {
    case equal = "="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
}

/// Whether there is something.
public enum QueryPresence: String, Sendable, Hashable, CaseIterable {
    case null = "is null"
    case notNull = "is not null"
    /// An array, a map, a text or a byte string without content.
    case empty = "is empty"
    /// One of them with content.
    case notEmpty = "is not empty"
    case nullOrEmpty = "is null or empty"
}

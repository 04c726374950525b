import ArchiveQuery
import Logging

extension PropertyFinder where Wrapped == String {
    /// Matches if the text contains the string, as Swift compares strings: by characters, so that composed and
    /// decomposed accents are the same, and `"e"` is not a part of `"é"`. Every text contains the empty string.
    ///
    /// Without case, letters that Unicode's full case folding makes equal are: `"STRASSE"` is in `"Straße 5"`,
    /// and `"ΟΔΟΣ"` is in `"οδος"`. It does not depend on a language or the user's settings.
    ///
    /// Quick for ASCII; where one of the two is not, it takes several times as long.
    public static func contains(string: String, caseSensitive: Bool = true) -> PropertyFinder {
        let search = TextSearch(string, caseSensitive: caseSensitive)
        return ofValue(.contains(text: string, caseSensitive: caseSensitive)) { search.isFound(in: $0) }
    }

    /// Matches if the text contains the string, like ``contains(string:caseSensitive:)``.
    public static func contains(_ string: String) -> PropertyFinder { contains(string: string) }

    /// Matches if the regular expression matches somewhere in the text; `^` and `$` are the text's ends.
    ///
    /// The pattern is one of `NSRegularExpression`, and is compiled once. One that is no regular expression matches
    /// nothing, and is logged once. A text whose matching takes longer than 100 milliseconds, as `(a+)+$` can, does
    /// not match, and the first such text of the query is logged.
    public static func matches(regex pattern: String) -> PropertyFinder {
        let compiled = TextPattern(pattern, report: PatternLog.report)
        return ofValue(.matches(pattern: pattern)) { compiled.matches($0) }
    }
}

/// Where the program has its other messages, for a query knows no factory.
private enum PatternLog {
    @Sendable static func report(pattern: String, reason: String) {
        Logger(label: "vellum").warning(
            "vellum: cannot match", metadata: ["pattern": "\(pattern)", "reason": "\(reason)"])
    }
}

import ArchiveQuery
import Logging

extension PropertyFinder where Wrapped == String {
    /// Matches if the text contains the string, as Swift compares strings: by characters, so that composed and
    /// decomposed accents are the same, and `"e"` is not a part of `"é"`. Every text contains the empty string.
    ///
    /// If case doesn't matter, texts are compared after Unicode's full case folding: `"STRASSE"` is in `"Straße
    /// 5"`, and `"ΟΔΟΣ"` is in `"οδος"`. The result doesn't depend on a language or the user's settings.
    ///
    /// Fast if both are ASCII; otherwise it takes several times as long.
    public static func contains(string: String, caseSensitive: Bool = true) -> PropertyFinder {
        let search = TextSearch(string, caseSensitive: caseSensitive)
        return ofValue(.contains(text: string, caseSensitive: caseSensitive)) { search.isFound(in: $0) }
    }

    /// Matches if the text contains the string, like ``contains(string:caseSensitive:)``.
    public static func contains(_ string: String) -> PropertyFinder { contains(string: string) }

    /// Matches if the regular expression matches anywhere in the text; `^` and `$` match the text's start and end.
    ///
    /// Pattern and text are compared in composed form (NFC): `"^.$"` matches `"é"` however it is stored, and a pattern for a
    /// combining mark alone finds none that its letter composes with. The empty pattern matches every text, also the empty one.
    ///
    /// The pattern has the syntax of `NSRegularExpression`, and is compiled once. An invalid pattern matches
    /// nothing, and is logged once. A text that takes longer than 100 milliseconds to match, which a pattern such
    /// as `(a+)+$` can cause, counts as no match, and the query's first such text is logged.
    public static func matches(regex pattern: String) -> PropertyFinder {
        let compiled = TextPattern(pattern, report: PatternLog.report)
        return ofValue(.matches(pattern: pattern)) { compiled.matches($0) }
    }
}

private enum PatternLog {
    @Sendable static func report(pattern: String, reason: String) {
        Logger(label: "vellum").warning(
            "vellum: cannot match", metadata: ["pattern": "\(pattern)", "reason": "\(reason)"])
    }
}

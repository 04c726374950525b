import Foundation

/// Compares the code in a page of documentation with the file in which it is compiled. Sendable value type.
package struct ArticleCode: Sendable {
    /// The number of Swift blocks on the page.
    package let blocks: Int
    /// The blocks that the file doesn't contain, line by line; indentation is ignored.
    package let missing: [String]

    /// - Parameters:
    ///   - article: its path in the package.
    ///   - section: the heading below which the code is; `nil` for the whole page.
    ///   - file: a file of a folder in `Tests`.
    package init(_ article: String, section: String? = nil, compiledIn file: String = #filePath) throws {
        let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
        let package = folder.deletingLastPathComponent().deletingLastPathComponent()
        let code = Self.lines(try String(contentsOf: URL(fileURLWithPath: file), encoding: .utf8))
        var text = try String(contentsOf: package.appendingPathComponent(article), encoding: .utf8)[...]
        if let section {
            text = text.range(of: "\n### \(section)\n").map { text[$0.upperBound...] } ?? ""
            text = text[..<(text.range(of: "\n#")?.lowerBound ?? text.endIndex)]
        }
        let found = text.matches(of: /(?s)```swift\n(.*?)```/).map { String($0.output.1) }
        blocks = found.count
        missing = found.filter { !code.contains(Self.lines($0)) }
    }

    private static func lines(_ text: String) -> String {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
    }
}

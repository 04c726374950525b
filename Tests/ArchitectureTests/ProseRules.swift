import Foundation

/// Finds prose that has to be read twice, by the phrases and names in `Prose.txt`.
struct ProseRules {
    private var limits: [(module: String, percent: Int)] = []
    private var phrases: [(pattern: NSRegularExpression, advice: String)] = []
    private var identifiers: [(name: String, advice: String)] = []
    private var exceptions: [(path: String, beginning: String)] = []

    init(_ text: String) throws {
        var part = ""
        for line in text.split(separator: "\n").map(String.init) where !line.hasPrefix("#") {
            if line.hasPrefix("[") {
                part = line
                continue
            }
            let separator = ["[limits]": " ", "[exceptions]": ": "][part] ?? " -> "
            guard let split = line.range(of: separator, options: .backwards) else {
                throw ProseError(line: line)
            }
            let (key, value) = (String(line[..<split.lowerBound]), String(line[split.upperBound...]))
            switch part {
            case "[limits]": limits.append((key, Int(value) ?? 0))
            case "[phrases]": phrases.append((try NSRegularExpression(pattern: key), value))
            case "[identifiers]": identifiers.append((key, value))
            case "[exceptions]": exceptions.append((key, value))
            default: throw ProseError(line: line)
            }
        }
    }

    /// The rules of this package.
    static func ofThisPackage() throws -> ProseRules {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Prose.txt")
        return try ProseRules(String(contentsOf: file, encoding: .utf8))
    }

    /// The texts with a phrase, of the modules and documents in which their share exceeds the limit.
    func violations(in files: [SourceFile]) -> [Violation] {
        Dictionary(grouping: files, by: { $0.path.split(separator: "/").prefix(2) }).values.flatMap(excess)
    }

    private func excess(_ files: [SourceFile]) -> [Violation] {
        guard let path = files.first?.path, let limit = limits.first(where: { path.hasPrefix($0.module) })
        else { return [] }
        let texts = files.flatMap { file in
            file.prose.map { (file: file, line: $0.line, text: $0.text) }
        }
        let found = texts.compactMap { place -> Violation? in
            guard let advice = advice(on: place.text, in: place.file) else { return nil }
            return Violation(
                path: place.file.path, line: place.line, rule: "write \(advice): \(place.text.prefix(80))")
        }
        return found.count * 100 > texts.count * limit.percent ? found : []
    }

    private func advice(on text: String, in file: SourceFile) -> String? {
        guard !exceptions.contains(where: { $0.path == file.path && text.hasPrefix($0.beginning) }) else {
            return nil
        }
        let range = NSRange(text.startIndex..., in: text)
        return phrases.first { $0.pattern.firstMatch(in: text, range: range) != nil }?.advice
    }

    /// Uses of the names.
    func names(in files: [SourceFile]) -> [Violation] {
        files.flatMap { file -> [Violation] in
            let code = file.code
            let used = identifiers.filter { code[...].has($0.name) }
            guard !used.isEmpty else { return [] }
            return code.numberedLines.flatMap { number, line in
                let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
                return used.filter { name, _ in words.contains { $0 == name } }.map {
                    Violation(path: file.path, line: number, rule: "\($0.name): write \($0.advice)")
                }
            }
        }
    }
}

struct ProseError: Error { let line: String }

extension SourceFile {
    /// Comment blocks, strings of at least 12 characters with a space, and paragraphs of documents, with their lines.
    fileprivate var prose: [(line: Int, text: String)] {
        if path.hasSuffix(".md") { return paragraphs }
        let strings = code.isEmpty ? [] : literals
        return blocks + strings
    }

    private var blocks: [(line: Int, text: String)] {
        var found: [(line: Int, text: String)] = []
        var next = 0
        let codeLines = code.split(separator: "\n", omittingEmptySubsequences: false)
        for (number, line) in comments.numberedLines {
            let text = line.drop { $0 == " " || $0 == "/" }
            guard !text.isEmpty else { continue }
            let isAlone = codeLines[number - 1].allSatisfy { $0 == " " }
            if isAlone, number == next, let last = found.indices.last {
                found[last].text += " " + text
            } else {
                found.append((number, String(text)))
            }
            next = isAlone ? number + 1 : 0
        }
        return found
    }

    private var literals: [(line: Int, text: String)] {
        let commented = Set(comments.numberedLines.filter { !$0.line.allSatisfy { $0 == " " } }.map(\.number))
        return text.numberedLines.filter { $0.line.has("\"") && !commented.contains($0.number) }
            .flatMap { number, line in
                line.matches(of: #/"((?:[^"\\]|\\.){12,})"/#).filter { $0.output.1.contains(" ") }
                    .map { (number, String($0.output.1)) }
            }
    }

    private var paragraphs: [(line: Int, text: String)] {
        var (found, isCode, next): ([(line: Int, text: String)], Bool, Int) = ([], false, 0)
        for (number, line) in text.numberedLines {
            if line.hasPrefix("```") { isCode.toggle() }
            guard !isCode, !line.allSatisfy(\.isWhitespace) else { continue }
            if number == next, let last = found.indices.last {
                found[last].text += " " + line
            } else {
                found.append((number, String(line)))
            }
            next = number + 1
        }
        return found
    }
}

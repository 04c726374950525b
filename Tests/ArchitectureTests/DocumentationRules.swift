/// Rules about documentation comments of public declarations.
enum DocumentationRules {
    /// Members whose meaning the standard library defines.
    private static let witnesses = [
        "func ==", "func < ", "func ~=", "func hash(into", "func encode(to", "init(from decoder",
        "var rawValue:", "var description:", "var debugDescription:", "var errorDescription:",
    ]

    /// Public declarations of a library without a documentation comment, including requirements of public protocols and cases
    /// of public enums, without overrides and names that begin with an underscore.
    static func undocumented(in files: [SourceFile], library: String) -> [Violation] {
        files.filter { $0.isUnder("Sources/\(library)") && $0.path.hasSuffix(".swift") }
            .flatMap(undocumented)
    }

    private static func undocumented(in file: SourceFile) -> [Violation] {
        let texts = file.text.numberedLines.map(\.line)
        var scopes = PublicScopes()
        return file.code.numberedLines.compactMap { number, line in
            defer { scopes.pass(line) }
            guard let declaration = Declaration(line), isPublic(declaration, in: scopes),
                !witnesses.contains(where: declaration.text.hasPrefix),
                !hasDocumentation(texts[..<(number - 1)])
            else { return nil }
            return Violation(
                path: file.path, line: number,
                rule: "public without a documentation comment: \(declaration.text)")
        }
    }

    private static func isPublic(_ declaration: Declaration, in scopes: PublicScopes) -> Bool {
        guard !["import", "extension"].contains(declaration.keyword), !declaration.isOverride,
            !declaration.isUnderscored
        else { return false }
        return declaration.isPublic || scopes.contain(declaration)
    }

    /// Attributes and other comments may be between the comment and the declaration. Unavailable declarations need only the
    /// attribute's message, which the compiler shows.
    private static func hasDocumentation(_ above: ArraySlice<Substring>) -> Bool {
        var isInAttribute = false
        for line in above.reversed() {
            let text = line.drop { $0 == " " }
            if text.hasPrefix("///") { return true }
            if text == ")" { isInAttribute = true }
            guard isInAttribute || text.hasPrefix("@") || text.hasPrefix("//") else { return false }
            if text.has("unavailable"), !text.hasPrefix("//") { return true }
            if text.hasPrefix("@") { isInAttribute = false }
        }
        return false
    }
}

/// The declaration that begins in a line of code.
private struct Declaration {
    private static let keywords: Set<Substring> = [
        "func", "var", "let", "init", "subscript", "struct", "enum", "class", "actor", "protocol",
        "typealias", "associatedtype", "macro", "case", "import", "extension",
    ]
    private static let modifiers: Set<Substring> = [
        "public", "open", "package", "internal", "fileprivate", "private", "static", "final", "mutating",
        "nonmutating", "consuming", "borrowing", "nonisolated", "isolated", "override", "required",
        "convenience", "indirect", "lazy", "weak", "unowned", "dynamic", "prefix", "postfix", "infix",
    ]

    let keyword: Substring
    let isPublic: Bool
    let isOverride: Bool
    var isUnderscored: Bool { text.dropFirst(keyword.count + 1).first == "_" }
    /// From the keyword to the end of the line.
    let text: Substring

    /// Nil for a line that begins no declaration.
    init?(_ line: Substring) {
        var rest = Self.withoutAttributes(line)
        var found: Set<Substring> = []
        while true {
            let word = rest.prefix { $0.isLetter }
            let next = rest.drop { $0 != " " }.drop { $0 == " " }
            let isModifier =
                Self.modifiers.contains(word)
                || word == "class" && ["func ", "var ", "subscript"].contains(where: next.hasPrefix)
            guard isModifier else { break }
            found.insert(word)
            rest = next
        }
        keyword = rest.prefix { $0.isLetter }
        guard Self.keywords.contains(keyword) else { return nil }
        isPublic = found.contains("public") || found.contains("open")
        isOverride = found.contains("override")
        text = rest
    }

    private static func withoutAttributes(_ line: Substring) -> Substring {
        var rest = line.drop { $0 == " " }
        while rest.first == "@" {
            rest = rest.dropFirst().drop { $0.isLetter || $0.isNumber || $0 == "_" }
            if rest.first == "(", let end = rest.firstIndex(of: ")") { rest = rest[end...].dropFirst() }
            rest = rest.drop { $0 == " " }
        }
        return rest
    }
}

/// The public protocols and enums around a line of code, whose members are public implicitly.
private struct PublicScopes {
    private var open: [(keyword: Substring, depth: Int)] = []
    private var depth = 0

    func contain(_ declaration: Declaration) -> Bool {
        guard let scope = open.last, depth == scope.depth + 1 else { return false }
        return scope.keyword == "protocol" || declaration.keyword == "case"
    }

    mutating func pass(_ line: Substring) {
        if let declaration = Declaration(line), declaration.isPublic,
            ["protocol", "enum"].contains(declaration.keyword), line.has("{"), !line.has("}")
        {
            open.append((declaration.keyword, depth))
        }
        for byte in line.utf8 {
            if byte == UInt8(ascii: "{") { depth += 1 }
            if byte == UInt8(ascii: "}") { depth -= 1 }
        }
        while let scope = open.last, depth <= scope.depth { open.removeLast() }
    }
}

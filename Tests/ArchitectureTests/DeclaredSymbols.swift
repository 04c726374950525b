/// Declared symbols of sources, as comments refer to them.
struct DeclaredSymbols {
    private static let keywords: Set<String> = [
        "func", "var", "let", "init", "subscript", "struct", "enum", "class", "actor", "protocol",
        "typealias", "associatedtype", "macro", "case",
    ]

    /// `run`, `StorageError`.
    private var names: Set<String> = []
    /// `run(_:options:)`: with the labels of the parameters or associated values.
    private var signatures: Set<String> = []

    init(in files: [SourceFile]) {
        for file in files where file.path.hasSuffix(".swift") { collect(file) }
        names.formUnion(files.compactMap(\.module))
    }

    /// Whether all steps of `Module/Type/method(_:)` are declared somewhere, without the suffix after a hyphen that selects
    /// an overload.
    func contain(_ reference: Substring) -> Bool {
        reference.split(separator: "/").allSatisfy { step in
            let name = String(step.split(separator: "-").first ?? step)
            return name.contains("(") ? signatures.contains(name) : names.contains(name)
        }
    }

    private mutating func collect(_ file: SourceFile) {
        var tokens = CodeTokens(file.code)
        while let token = tokens.next() {
            guard case .word(let keyword) = token, Self.keywords.contains(keyword) else { continue }
            // `class` before `func` is a modifier.
            if case .word("func") = tokens.peek { continue }
            if keyword == "init" || keyword == "subscript" {
                if tokens.peek == .sign("?") { _ = tokens.next() }
                add(keyword, keyword == "init" ? .always : .beforeName, &tokens)
            } else {
                while case .word(let name) = tokens.peek {
                    _ = tokens.next()
                    add(name, keyword == "case" ? .beforeColon : .always, &tokens)
                    guard keyword == "case", tokens.peek == .sign(",") else { break }
                    _ = tokens.next()
                }
            }
        }
    }

    private mutating func add(_ name: String, _ style: LabelStyle, _ tokens: inout CodeTokens) {
        names.insert(name)
        guard let labels = tokens.labels(style) else { return }
        signatures.insert("\(name)(\(labels.map { $0 + ":" }.joined()))")
    }
}

/// Which words are labels.
enum LabelStyle {
    /// Functions: a parameter's first word is its label.
    case always
    /// Cases of enums: an associated value has a label or none.
    case beforeColon
    /// Subscripts: a single word is the parameter's name only.
    case beforeName
}

/// Code as a sequence of words and signs.
struct CodeTokens {
    enum Token: Equatable {
        case word(String)
        case sign(Character)
    }

    private let bytes: [UInt8]
    private var place = 0
    private(set) var peek: Token?

    init(_ code: String) {
        bytes = Array(code.utf8)
        peek = read()
    }

    mutating func next() -> Token? {
        defer { if peek != nil { peek = read() } }
        return peek
    }

    /// Without the backquotes around a name.
    private mutating func read() -> Token? {
        while place < bytes.count, bytes[place] <= 0x20 || bytes[place] == UInt8(ascii: "`") { place += 1 }
        let start = place
        while place < bytes.count, Self.isPartOfWord(bytes[place]) { place += 1 }
        if place > start { return .word(String(decoding: bytes[start..<place], as: UTF8.self)) }
        guard place < bytes.count else { return nil }
        place += 1
        return .sign(Character(UnicodeScalar(bytes[start])))
    }

    private static func isPartOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x5f, 0x61...0x7a, 0x80...: true
        default: false
        }
    }

    /// The labels in the next parentheses, after generic parameters; nil without parentheses.
    mutating func labels(_ style: LabelStyle) -> [String]? {
        if peek == .sign("<") { skipBrackets() }
        guard peek == .sign("(") else { return nil }
        _ = next()
        var labels: [String] = []
        while let token = peek, token != .sign(")") {
            labels.append(label(style))
            while let token = peek, token != .sign(")"), token != .sign(",") { skipBrackets() }
            if peek == .sign(",") { _ = next() }
        }
        _ = next()
        return labels
    }

    private mutating func label(_ style: LabelStyle) -> String {
        guard case .word(let word) = peek else { return "_" }
        _ = next()
        return switch style {
        case .always: word
        case .beforeColon: peek == .sign(":") ? word : "_"
        case .beforeName: peek == .sign(":") ? "_" : word
        }
    }

    /// Skips a token and everything that it encloses. The end of an arrow closes nothing.
    private mutating func skipBrackets() {
        var depth = 0
        var last: Token?
        repeat {
            let token = next()
            if case .sign(let sign) = token {
                if "([{<".contains(sign) { depth += 1 }
                if ")]}>".contains(sign), !(sign == ">" && last == .sign("-")) { depth -= 1 }
            }
            last = token
        } while depth > 0 && peek != nil
    }
}

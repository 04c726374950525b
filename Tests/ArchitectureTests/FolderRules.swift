/// Rules about the folders inside a module: their size, types spread over many files, and references in both directions.
///
/// A folder refers to another by the name of a type, by a call or by a property after a dot that only the other declares. Generic
/// parameters count as types. A call refers to a function of its name and first label; calls without a label, and properties,
/// count only if the name has several words. Members that imported modules or Swift's types have, too, don't count.
enum FolderRules {
    static let mostFiles = 20
    static let mostFilesOfType = 12

    /// The modules that keep these rules.
    static let modules = [
        "ArchiveQuery", "CBOR", "CacheAdvance", "CacheSimulation", "Nest", "NestRemote", "Papyrus",
        "ServerInspection",
        "StorageEngine", "StoreInspection", "SystemC", "TerminalCurses", "TerminalKit", "ValkeyWire",
        "Vellum", "VellumCommand", "VellumLifecycle", "VellumMetrics", "VellumRemote", "VellumTesting",
        "VellumValkey",
    ]

    /// Folders that may refer to each other and count as one, by module. Of such a module only cycles are checked.
    static let joined: [String: Set<String>] = [
        "BrowserCore": ["Browser", "Overlays", "Programs", "Screens"]
    ]

    private static let membersOfSwift: Set = [
        "baseAddress", "endIndex", "firstIndex", "isASCII", "isEmpty", "lowerBound", "rawValue", "removeAll",
        "removeFirst", "removeLast", "startIndex", "upperBound",
    ]

    static func violations(
        in files: [SourceFile], of modules: [String] = modules, table: ModuleTable = .vellum
    ) -> [Violation] {
        let joined = modules == FolderRules.modules ? joined.keys.sorted() : []
        let checked = modules + joined
        let imports = checked.reduce(into: Set(checked)) { $0.formUnion(table.allowed[$1] ?? []) }
        let parsed = Dictionary(
            grouping: files.filter { file in
                file.isUnder("Sources") && file.path.hasSuffix(".swift")
                    && imports.contains(file.module ?? "")
            }.map(FolderFile.init), by: \.module)
        return checked.flatMap { module -> [Violation] in
            let own = parsed[module] ?? []
            let imported = (table.allowed[module] ?? []).flatMap { parsed[$0] ?? [] }
            let sizes = joined.contains(module) ? [] : largeFolders(own) + widespreadTypes(own)
            return sizes + cycle(own, imported)
        }
    }

    private static func largeFolders(_ files: [FolderFile]) -> [Violation] {
        Dictionary(grouping: files, by: \.folder).filter { $1.count > mostFiles }.map { folder, files in
            Violation(
                path: folder, line: nil, rule: "\(files.count) files; a folder has at most \(mostFiles)")
        }
    }

    private static func widespreadTypes(_ files: [FolderFile]) -> [Violation] {
        var spread: [String: [String]] = [:]
        for file in files {
            for type in file.types.union(file.extended) { spread[type, default: []].append(file.path) }
        }
        let declared = files.reduce(into: Set()) { $0.formUnion($1.types) }
        return spread.filter { declared.contains($0) && $1.count > mostFilesOfType }.map { type, paths in
            Violation(
                path: paths[0], line: nil,
                rule: "\(type) is in \(paths.count) files; a type is in at most \(mostFilesOfType)")
        }
    }

    private static func cycle(_ files: [FolderFile], _ imported: [FolderFile]) -> [Violation] {
        let references = references(files, imported)
        var done: Set<String> = []
        func visit(_ folder: String, _ path: [String]) -> [String]? {
            if let start = path.firstIndex(of: folder) { return path[start...] + [folder] }
            guard done.insert(folder).inserted else { return nil }
            for next in (references[folder] ?? [:]).keys.sorted() {
                if let found = visit(next, path + [folder]) { return found }
            }
            return nil
        }
        var found: [String]?
        for folder in references.keys.sorted() where found == nil { found = visit(folder, []) }
        guard let found else { return [] }
        let steps = zip(found, found.dropFirst()).map { "\($1) (\(references[$0]?[$1] ?? ""))" }
        return [
            Violation(
                path: found[0], line: nil,
                rule: "folders refer to each other in a cycle: \(steps.joined(separator: ", "))")
        ]
    }

    /// For each folder the others that it refers to, with the name of one reference.
    private static func references(
        _ files: [FolderFile], _ imported: [FolderFile]
    ) -> [String: [String: String]] {
        var types = UniqueNames<String>()
        var functions = UniqueNames<FunctionName>()
        var names = UniqueNames<String>()
        var properties = UniqueNames<String>()
        for file in files + imported {
            for type in file.types.union(file.parameters) { types.add(type, in: file.folder) }
            for function in file.functions { functions.add(function, in: file.folder) }
            for name in file.names { names.add(name, in: file.folder) }
            for name in file.names.union(file.labels) { properties.add(name, in: file.folder) }
        }
        var references: [String: [String: String]] = [:]
        for file in files {
            for word in file.words {
                guard let folder = types.folder(of: word), folder != file.folder else { continue }
                references[file.folder, default: [:]][folder] = word
            }
            let members =
                file.calls.map { ($0.name, functions.folder(of: $0)) }
                + file.properties.map { ($0, properties.folder(of: $0)) }
            for (name, folder) in members {
                guard let folder, folder != file.folder, names.folder(of: name) == folder,
                    !membersOfSwift.contains(name)
                else { continue }
                references[file.folder, default: [:]][folder] = name
            }
        }
        return references
    }
}

/// A function's name and first label: nil without parameters, `_` for a parameter without a label.
struct FunctionName: Hashable {
    let name: String
    let label: String?

    /// The declared function: its name, and the tokens from the parenthesis on.
    init?(_ name: String, parameters: ArraySlice<CodeTokens.Token>) {
        guard parameters.first == .sign("(") else { return nil }
        self.name = name
        if case .word(let label) = parameters.dropFirst().first { self.label = label } else { label = nil }
    }

    /// The called function, if the tokens begin with a call.
    init?(call: ArraySlice<CodeTokens.Token>) {
        let head = Array(call.prefix(4))
        guard head.count == 4, case .word(let name) = head[0], head[1] == .sign("(") else { return nil }
        self.name = name
        if head[2] == .sign(")") {
            label = nil
        } else if case .word(let label) = head[2], head[3] == .sign(":") {
            self.label = label
        } else {
            label = "_"
        }
    }

    /// Whether Swift's own types are unlikely to have such a function.
    var isDistinctive: Bool { name.contains(where: \.isUppercase) || label != nil && label != "_" }
}

/// Names with the folders that declare them.
private struct UniqueNames<Name: Hashable> {
    private var folders: [Name: Set<String>] = [:]

    mutating func add(_ name: Name, in folder: String) { folders[name, default: []].insert(folder) }

    /// The only folder that declares the name.
    func folder(of name: Name) -> String? {
        guard let found = folders[name], found.count == 1 else { return nil }
        return found.first
    }
}

/// Declarations and references of a file.
struct FolderFile {
    let path: String
    let folder: String
    let module: String
    private(set) var types: Set<String> = []
    /// Names of generic parameters and associated types.
    private(set) var parameters: Set<String> = []
    private(set) var extended: Set<String> = []
    private(set) var functions: Set<FunctionName> = []
    /// Names of functions, variables and cases.
    private(set) var names: Set<String> = []
    /// Names before a colon, which may be variables.
    private(set) var labels: Set<String> = []
    private(set) var words: Set<String> = []
    private(set) var calls: Set<FunctionName> = []
    /// Names of several words after a dot, except calls.
    private(set) var properties: Set<String> = []

    init(_ file: SourceFile) {
        path = file.path
        module = file.module ?? ""
        let parts = file.path.split(separator: "/").dropLast().map(String.init)
        let joined = FolderRules.joined[module] ?? []
        let isJoined = parts.count > 2 && joined.contains(parts[2])
        folder = (isJoined ? parts[..<2] + [joined.sorted().joined(separator: "+")] : parts[...])
            .joined(separator: "/")
        var tokens: [CodeTokens.Token] = []
        var source = CodeTokens(file.code)
        while let token = source.next() { tokens.append(token) }
        for place in tokens.indices { examine(tokens[place...]) }
    }

    private mutating func examine(_ rest: ArraySlice<CodeTokens.Token>) {
        guard case .word(let word) = rest.first else { return addProperty(rest) }
        words.insert(word)
        if let call = FunctionName(call: rest), call.isDistinctive { calls.insert(call) }
        if rest.dropFirst().first == .sign(":") { labels.insert(word) }
        guard case .word(let name) = rest.dropFirst().first else { return }
        let declaration = rest.dropFirst()
        switch word {
        case "struct", "class", "enum", "actor", "protocol", "typealias":
            types.insert(name)
            addParameters(declaration.dropFirst())
        case "associatedtype": parameters.insert(name)
        case "extension": extended.insert(name)
        case "func":
            names.insert(name)
            let list = addParameters(declaration.dropFirst())
            if let function = FunctionName(name, parameters: list) { functions.insert(function) }
        case "case": addCases(declaration)
        case "var", "let": names.insert(name)
        default: break
        }
    }

    private mutating func addProperty(_ rest: ArraySlice<CodeTokens.Token>) {
        let head = Array(rest.prefix(3))
        guard head.count > 1, head[0] == .sign("."), head.last != .sign("("), case .word(let name) = head[1],
            name.first?.isLowercase == true, name.contains(where: \.isUppercase)
        else { return }
        properties.insert(name)
    }

    /// Adds the names of a list of cases, whose associated values are in parentheses.
    private mutating func addCases(_ tokens: ArraySlice<CodeTokens.Token>) {
        var depth = 0
        var isName = true
        for token in tokens {
            switch token {
            case .word(let name):
                if isName { names.insert(name) } else if depth == 0 { return }
                isName = false
            case .sign("("): depth += 1
            case .sign(")"): depth -= 1
            case .sign(","): isName = depth == 0
            // A raw value, whose literal is blanked.
            case .sign("="): break
            default: if depth <= 0 { return }
            }
        }
    }

    /// Adds the generic parameters in angle brackets; returns the tokens after them.
    @discardableResult
    private mutating func addParameters(
        _ tokens: ArraySlice<CodeTokens.Token>
    ) -> ArraySlice<CodeTokens.Token> {
        guard tokens.first == .sign("<") else { return tokens }
        var rest = tokens
        var depth = 0
        var isStart = false
        while let token = rest.popFirst() {
            switch token {
            case .sign("<"): depth += 1
            case .sign(">"): depth -= 1
            case .word(let word) where isStart: parameters.insert(word)
            default: break
            }
            if depth == 0 { break }
            isStart = depth == 1 && (token == .sign("<") || token == .sign(","))
        }
        return rest
    }
}

/// Looks up types by mangled names. The look-up of a malicious name of a hundred bytes could take years, so the work is estimated
/// first. Not thread-safe.
struct TypeNames {
    /// Limit of the estimated work for all names of one item.
    private static let most = 1 << 20

    private var work = 0
    private var types: [String: any Codable.Type] = [:]

    /// The mangled name of the type. Tests that a look-up by it finds the type.
    mutating func code(of type: any Codable.Type) throws(ItemProblem) -> String {
        guard let code = _mangledTypeName(type), let found = try find(code), found == type else {
            throw ItemProblem(
                "\(type) can't be looked up by its name; declare it outside of functions, and not private")
        }
        return code
    }

    /// - Parameter name: the type's name for display.
    mutating func type(
        named code: String, shownAs name: String? = nil
    ) throws(ItemProblem) -> any Codable.Type {
        guard let type = try find(code) else {
            throw ItemProblem("this program has no Codable type \(name ?? code)")
        }
        return type
    }

    /// Whether a value of this type may be a key or a member. As `Any`, sets and dictionaries in it are hashed twice at each level.
    static func canBeHashed(_ code: String) -> Bool { NameScan(code).map { $0.generics <= 4 } ?? false }

    private mutating func find(_ code: String) throws(ItemProblem) -> (any Codable.Type)? {
        if let known = types[code] { return known }
        guard let scan = NameScan(code) else { return nil }
        work += min(scan.work, TypeNames.most + 1)
        guard scan.generics <= 16, work <= TypeNames.most else {
            throw ItemProblem(
                "a type's name is too complex; nest at most 16 generic types")
        }
        guard let type = _typeByName(code) as? any Codable.Type else { return nil }
        // Decoding damaged URLComponents crashes (negative port, invalid scheme).
        let name = _typeName(type)
        guard
            !["Foundation", "FoundationEssentials"].contains(where: { name.contains($0 + ".URLComponents") })
        else { throw ItemProblem("\(type) crashes when it decodes damaged data") }
        types[code] = type
        return type
    }
}

/// Reads a mangled name (Swift's docs/ABI/Mangling.rst) far enough to estimate the runtime's work for it.
private struct NameScan {
    /// Upper bound for the parts that the runtime visits, small enough to be added up.
    private(set) var work = 1
    private(set) var generics = 0
    /// For each part that a substitution may refer to, the work up to its end. Parts that aren't recognized lower the estimate.
    private var marks: [Int] = []
    private var rest: ArraySlice<UInt8>

    /// `nil` for names with operators that no `Codable` type has.
    init?(_ code: String) {
        rest = Array(code.utf8)[...]
        while let sign = rest.first {
            guard readOperator(sign) else { return nil }
        }
    }

    private mutating func readOperator(_ sign: UInt8) -> Bool {
        if isDigit(sign) {
            guard skipIdentifier() else { return false }
            add(1)
            marks.append(work)
            return true
        }
        rest.removeFirst()
        switch Character(Unicode.Scalar(sign)) {
        case "A": return readSubstitutions()
        case "S": return readKnownType()
        case "G": addGeneric()
        case "V", "C", "O", "P":
            add(1)
            marks.append(work)
        // A parameter pack: several types for one parameter.
        case "Q":
            guard rest.popFirst() == UInt8(ascii: "P") else { return false }
            add(1)
        // Swift's own module, extensions, lists, tuples, protocols, metatypes.
        case "s", "E", "y", "_", "t", "p", "m": add(1)
        default: return false
        }
        return true
    }

    private mutating func add(_ more: Int) { work = min(work + more, 1 << 40) }

    private mutating func addGeneric() {
        generics += 1
        add(work)
        marks.append(work)
    }

    /// An identifier, which may reuse words of earlier ones.
    private mutating func skipIdentifier() -> Bool {
        var hasWords = false
        if rest.first == UInt8(ascii: "0") {
            rest.removeFirst()
            hasWords = rest.first != UInt8(ascii: "0")
            // Punycode.
            if !hasWords { rest.removeFirst() }
        }
        repeat {
            while hasWords, let letter = rest.first, isLower(letter) || isUpper(letter) {
                rest.removeFirst()
                hasWords = isLower(letter)
            }
            if rest.first == UInt8(ascii: "0") {
                rest.removeFirst()
                break
            }
            guard let count = number(), count <= rest.count else { return false }
            rest.removeFirst(count)
        } while hasWords
        return true
    }

    /// `A`, then lower-case letters and one in upper case, each after its repeat count, or a number and `_`.
    private mutating func readSubstitutions() -> Bool {
        var count: Int?
        while let sign = rest.first {
            if isDigit(sign) {
                guard count == nil, let found = number() else { return false }
                count = found
                continue
            }
            rest.removeFirst()
            if sign == UInt8(ascii: "_") {
                add(mark(count.map { $0 + 27 } ?? 26))
                return true
            }
            guard isLower(sign) || isUpper(sign) else { return false }
            add(max(1, count ?? 1) * mark(Int(sign | 0x20) - Int(UInt8(ascii: "a"))))
            if isUpper(sign) { return true }
            count = nil
        }
        return false
    }

    private func mark(_ place: Int) -> Int { place < marks.count ? marks[place] : work }

    /// `S` and a letter, or `c` and a letter; `Sg` is an optional.
    private mutating func readKnownType() -> Bool {
        if rest.first == UInt8(ascii: "g") {
            rest.removeFirst()
            addGeneric()
            return true
        }
        var count = 1
        if let sign = rest.first, isDigit(sign) {
            guard let found = number() else { return false }
            count = max(1, found)
        }
        if rest.first == UInt8(ascii: "c") { rest.removeFirst() }
        guard rest.popFirst() != nil else { return false }
        add(count)
        return true
    }

    private mutating func number() -> Int? {
        let digits = rest.prefix { isDigit($0) }
        rest.removeFirst(digits.count)
        return digits.count < 8 ? Int(String(decoding: digits, as: UTF8.self)) : nil
    }

    private func isDigit(_ sign: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(sign) }
    private func isLower(_ sign: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(sign) }
    private func isUpper(_ sign: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(sign) }
}

import TestSupport
import Foundation

extension ClosureProperty {
    static func text(_ name: String, _ value: @escaping (Row) -> String?, samples: [String]) -> Self {
        var property = Self(ordered: name, value, samples: samples, spelled: quoted)
        property.conditions += sized(name) { value($0)?.count } + [nullOrEmpty(name) { value($0)?.isEmpty }]
        property.conditions += [
            { random in
                let part = piece(of: samples, &random)
                return ClosureCondition(text: "\(name) contains \(quoted(part))") {
                    value($0).map { isPart(part, of: $0) } ?? false
                }
            },
            { random in
                let part = piece(of: samples, &random)
                let spelled = Bool.random(using: &random) ? part.uppercased() : part.lowercased()
                return ClosureCondition(text: "\(name) icontains \(quoted(spelled))") {
                    value($0).map { isPart(spelled.lowercased(), of: $0.lowercased()) } ?? false
                }
            },
            { random in
                let pattern = ["^[A-M]", "[aeiou]$", "a.*n", "(an|or)", "^$", "\\\\d", "n{2}"]
                    .randomElement(using: &random)!
                let regex = try? Regex(pattern.replacing("\\\\", with: "\\"))
                    .matchingSemantics(.unicodeScalar)
                return ClosureCondition(text: "\(name) matches \"\(pattern)\"") { row in
                    guard let text = value(row), let regex else { return false }
                    return text.firstMatch(of: regex) != nil
                }
            },
            { _ in ClosureCondition(text: "\(name) has \"a\"") { value($0) == nil ? false : nil } },
            { _ in ClosureCondition(text: "\(name) has any [\"q\", 1]") { value($0) == nil ? false : nil } },
            { random in
                let part = Array(piece(of: samples, &random).prefix(3))
                let isEnd = Bool.random(using: &random)
                return ClosureCondition(
                    text: "\(name) \(isEnd ? "ends" : "starts") with \(quoted(String(part)))"
                ) {
                    value($0).map { text in
                        isEnd ? text.reversed().starts(with: part.reversed()) : text.starts(with: part)
                    } ?? false
                }
            },
            { random in
                let part = piece(of: samples, &random).filter { !"%_\\".contains($0) }
                let isWhole = Bool.random(using: &random)
                let pattern = isWhole ? "_" + part : "%" + part + "%"
                return ClosureCondition(text: "\(name) like \(quoted(pattern))") {
                    value($0).map { text in
                        isWhole
                            ? Array(text.dropFirst()) == Array(part) && !text.isEmpty : isPart(part, of: text)
                    } ?? false
                }
            },
            { _ in ClosureCondition(text: "\(name) > 5") { value($0) == nil ? false : nil } },
            { _ in ClosureCondition(text: "\(name) != 5") { _ in true } },
        ]
        return property
    }

    /// Elements are texts or numbers.
    static func list<Element: Hashable & Encodable & SendableMetatype>(
        _ name: String, _ value: @escaping (Row) -> [Element]?, samples: [Element],
        spelled: @escaping (Element) -> String
    ) -> Self {
        var property = Self(encoded: name, value)
        property.conditions += sized(name) { value($0)?.count } + [nullOrEmpty(name) { value($0)?.isEmpty }]
        func some(_ random: inout SeededGenerator) -> [Element] {
            (0..<Int.random(in: 0...3, using: &random)).map { _ in samples.randomElement(using: &random)! }
        }
        func text(_ elements: [Element]) -> String {
            "[" + elements.map(spelled).joined(separator: ", ") + "]"
        }
        property.conditions += [
            { random in
                let one = samples.randomElement(using: &random)!
                return ClosureCondition(text: "\(name) has \(spelled(one))") {
                    value($0)?.contains(one) ?? false
                }
            },
            { random in
                let some = some(&random)
                return ClosureCondition(text: "\(name) has any \(text(some))") {
                    value($0).map { $0.contains { some.contains($0) } } ?? false
                }
            },
            { random in
                let some = some(&random)
                return ClosureCondition(text: "\(name) has all \(text(some))") { row in
                    value(row).map { list in some.allSatisfy { list.contains($0) } } ?? false
                }
            },
            { _ in ClosureCondition(text: "\(name) = 1") { _ in false } },
            { _ in ClosureCondition(text: "\(name) != \"a\"") { _ in true } },
            { _ in ClosureCondition(text: "\(name) contains \"a\"") { value($0) == nil ? false : nil } },
        ]
        return property
    }

    /// A value whose only property is its size: a dictionary, bytes, objects in a list.
    static func container<Value: Collection & Hashable & Encodable & SendableMetatype>(
        _ name: String, _ value: @escaping (Row) -> Value?, isList: Bool = false
    ) -> Self {
        var property = Self(encoded: name, value)
        property.conditions += sized(name) { value($0)?.count } + [nullOrEmpty(name) { value($0)?.isEmpty }]
        property.conditions += [
            { _ in ClosureCondition(text: "\(name) = \"a\"") { _ in false } },
            { _ in
                ClosureCondition(text: "\(name) has any [1, \"a\"]") {
                    isList || value($0) == nil ? false : nil
                }
            },
            { _ in
                ClosureCondition(text: "\(name) has all []") {
                    value($0) == nil ? false : isList ? true : nil
                }
            },
            { _ in ClosureCondition(text: "\(name) >= 0") { value($0) == nil ? false : nil } },
        ]
        return property
    }

    /// Conditions on sizes. `isScalar`: the value has no number of elements, so that conditions on it are unknown.
    static func sized(
        _ name: String, _ count: @escaping (Row) -> Int?, isScalar: @escaping (Row) -> Bool = { _ in false }
    ) -> [MakeCondition] {
        let relations: [(sign: String, holds: (Int, Int) -> Bool)] = [
            ("=", ==), ("!=", !=), ("<", <), ("<=", <=), (">", >), (">=", >=),
        ]
        return [
            { random in
                let (sign, holds) = relations.randomElement(using: &random)!
                let number = Int.random(in: 0...8, using: &random)
                return ClosureCondition(text: "count(\(name)) \(sign) \(number)") {
                    count($0).map { holds($0, number) } ?? (isScalar($0) ? nil : sign == "!=")
                }
            },
            { _ in ClosureCondition(text: "\(name) is empty") { isScalar($0) ? nil : count($0) == 0 } },
            { _ in
                ClosureCondition(text: "\(name) is not empty") { isScalar($0) ? nil : (count($0) ?? 0) > 0 }
            },
        ]
    }

    private static func nullOrEmpty(
        _ name: String, _ isEmpty: @escaping (Row) -> Bool?
    ) -> MakeCondition {
        { _ in ClosureCondition(text: "\(name) is null or empty") { isEmpty($0) ?? true } }
    }

    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for character in text {
            if character == "\"" || character == "\\" { quoted += "\\" }
            quoted.append(character)
        }
        return quoted + "\""
    }

    private static func piece(of samples: [String], _ random: inout SeededGenerator) -> String {
        let text = Array(samples.randomElement(using: &random)!)
        let start = Int.random(in: 0...text.count, using: &random)
        return String(text[start..<min(text.count, start + Int.random(in: 0...3, using: &random))])
    }

    /// By characters.
    private static func isPart(_ part: String, of text: String) -> Bool {
        let (part, text) = (Array(part), Array(text))
        guard part.count <= text.count else { return false }
        return (0...text.count - part.count).contains { text[$0...].starts(with: part) }
    }
}

import ArgumentParser

/// Sendable value type. What the fields of a column are taken for.
enum ColumnKind: Sendable, Hashable {
    /// Each field is what it spells: a number, `true`, `false`, `null`, an array, an object or a text.
    case spelled
    /// Texts, and arrays and objects where a field spells one.
    case mixedText
    /// Texts alone, whatever they look like.
    case text
    /// Numbers and `null`; anything else is a fault of its row.
    case number
    /// `true`, `false` and `null`; anything else is a fault of its row.
    case boolean
}

/// Sendable value type. What `--types` says: the kinds of columns by their names.
struct ColumnTypes: Sendable, ExpressibleByArgument {
    private static let names: [String: ColumnKind] = ["text": .text, "number": .number, "boolean": .boolean]

    let kinds: [(name: String, kind: ColumnKind)]

    /// `price=number,version=text`. A piece without a kind belongs to a name with a comma in it.
    init?(argument: String) {
        var kinds: [(String, ColumnKind)] = []
        var pending = ""
        for piece in argument.split(separator: ",", omittingEmptySubsequences: false) {
            guard let equals = piece.lastIndex(of: "=") else {
                pending += piece + ","
                continue
            }
            guard let kind = Self.names[String(piece[piece.index(after: equals)...])] else { return nil }
            kinds.append((pending + piece[..<equals], kind))
            pending = ""
        }
        guard pending.isEmpty, !kinds.isEmpty else { return nil }
        self.kinds = kinds
    }
}

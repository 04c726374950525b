/// The value of `--types`: column kinds by name.
struct ColumnTypes: Sendable, ExpressibleByArgument {
    private static let names: [String: ColumnKind] = ["text": .text, "number": .number, "boolean": .boolean]

    let kinds: [(name: String, kind: ColumnKind)]

    /// `price=number,version=text`. A piece without a kind is the beginning of a name that contains a comma.
    init?(argument: String) {
        var kinds: [(String, ColumnKind)] = []
        var pending = ""
        for piece in argument.split(separator: ",", omittingEmptySubsequences: false) {
            guard let equals = piece.lastIndex(of: "=") else {
                pending += piece + ","
                continue
            }
            guard let kind = Self.names[String(piece[piece.index(after: equals)...])] else { return nil }
            let name = pending + piece[..<equals]
            guard !kinds.contains(where: { $0.0.utf8.elementsEqual(name.utf8) }) else { return nil }
            kinds.append((name, kind))
            pending = ""
        }
        guard pending.isEmpty, !kinds.isEmpty else { return nil }
        self.kinds = kinds
    }
}

/// An invalid line of a user's key assignments.
package struct RemapError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Number of the line, from 1.
    package let line: Int
    package let reason: String

    package var description: String { "line \(line): \(reason)" }
}

extension KeyMap {
    /// Applies lines `action = key, key`; no keys remove the assignment. Skips empty lines and `#` comments. Removes assigned
    /// keys from other actions of the same screens. An invalid line changes nothing.
    /// - Returns: the errors in the order of their lines.
    package mutating func remap(_ text: String) -> [RemapError] {
        var errors: [RemapError] = []
        var assigned: [(position: Int, key: Key)] = []
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .enumerated()
        {
            let line = line.trimmingSpaces()
            if line.isEmpty || line.hasPrefix("#") { continue }
            do throws(RemapProblem) {
                let (position, keys) = try parseAssignment(line)
                let contexts = actions[position].contexts
                for key in keys {
                    if let other = assigned.first(where: {
                        $0.key == key && $0.position != position
                            && !actions[$0.position].contexts.isDisjoint(with: contexts)
                    }) {
                        let name = actions[other.position].id.rawValue
                        throw RemapProblem(reason: "\(key) is already assigned to \(name) above")
                    }
                }
                assigned.removeAll { $0.position == position }
                assigned += keys.map { (position, $0) }
                assign(keys, to: position)
            } catch {
                errors.append(RemapError(line: number + 1, reason: error.reason))
            }
        }
        return errors
    }

    private func parseAssignment(_ line: Substring) throws(RemapProblem) -> (position: Int, keys: [Key]) {
        guard let equals = line.firstIndex(of: "=") else {
            throw RemapProblem(reason: "expected action = key, key")
        }
        let name = line[..<equals].trimmingSpaces()
        guard let position = actions.firstIndex(where: { $0.id.rawValue == name }) else {
            let close = actions.map(\.id.rawValue).first { FuzzyMatch(String(name), in: $0) != nil }
            let suggestion = close.map { "; did you mean \($0)?" } ?? ""
            throw RemapProblem(reason: "unknown action \"\(name)\"\(suggestion)")
        }
        let right = line[line.index(after: equals)...].trimmingSpaces()
        if right.isEmpty { return (position, []) }
        var keys: [Key] = []
        for spelling in right.split(separator: ",", omittingEmptySubsequences: false) {
            do {
                keys.append(try Key(parsing: String(spelling.trimmingSpaces())))
            } catch {
                throw RemapProblem(reason: error.reason)
            }
        }
        return (position, keys)
    }
}

private struct RemapProblem: Error {
    let reason: String
}

import BrowserCore
import TerminalKit

struct KeyAssignments: Sendable {
    private(set) var keyMap = ActionTable.keyMap()
    private(set) var lines: [String: Int] = [:]
    /// Unusable assignments, one line each.
    private(set) var problems: [String] = []

    init(_ configuration: Configuration) {
        var text = ""
        var used: [Configuration.Assignment] = []
        func object(_ assignment: Configuration.Assignment, _ reason: String) {
            problems.append(
                "\(configuration.path ?? ""):\(assignment.line): \(Configuration.keysTable).\(assignment.name): \(reason)"
            )
        }
        for assignment in configuration.assignments {
            guard ActionID(rawValue: assignment.name) != nil else {
                let near = Suggestion.nearest(to: assignment.name, among: ActionID.allCases.map(\.rawValue))
                object(
                    assignment,
                    "unknown action; \(near.map { "did you mean \($0)?" } ?? "vellum config lists them")")
                continue
            }
            do throws(KeySpellingError) {
                var keys: [String] = []
                var reason: String?
                for spelling in assignment.texts {
                    let key = try Key(parsing: spelling)
                    reason = reason ?? Self.reason(against: key, for: assignment.name)
                    keys.append(key.description)
                }
                if let reason {
                    object(assignment, reason)
                    continue
                }
                // Ctrl+C must always quit.
                if assignment.name == ActionID.quit.rawValue, !keys.contains("ctrl+c") {
                    keys.append("ctrl+c")
                }
                text += "\(assignment.name) = \(keys.joined(separator: ", "))\n"
                used.append(assignment)
            } catch {
                object(assignment, error.reason)
            }
        }
        let mistakes = keyMap.remap(text)
        for (number, assignment) in used.enumerated() {
            guard let mistake = mistakes.first(where: { $0.line == number + 1 }) else {
                lines[assignment.name] = assignment.line
                continue
            }
            object(assignment, mistake.reason)
        }
    }

    /// Why the key can't be assigned; nil if it can.
    private static func reason(against key: Key, for action: String) -> String? {
        guard key.modifiers.contains(.control), case .character(let character) = key.code else { return nil }
        switch character {
        case "c": return action == ActionID.quit.rawValue ? nil : "ctrl+c always quits"
        case "z": return "ctrl+z always suspends the browser"
        case "i": return "terminals send tab for ctrl+i; write tab"
        case "m", "j": return "terminals send enter for ctrl+\(character); write enter"
        case "h": return "terminals send backspace for ctrl+h; write backspace"
        case "[": return "terminals send esc for ctrl+[; write esc"
        default: return nil
        }
    }
}

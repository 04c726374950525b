import BrowserCore
import TerminalKit

/// Sendable value type. The keys of the browser's actions, with those that the person assigned.
struct KeyAssignments: Sendable {
    private(set) var keyMap = ActionTable.keyMap()
    /// The lines of the file that assign keys, by action.
    private(set) var lines: [String: Int] = [:]
    /// Assignments that can't be used; a line each.
    private(set) var problems: [String] = []

    init(_ configuration: Configuration) {
        var text = ""
        var used: [Configuration.Assignment] = []
        func object(_ assignment: Configuration.Assignment, _ reason: String) {
            problems.append(
                "\(configuration.path ?? ""):\(assignment.line): \(Configuration.keysTable).\(assignment.action): \(reason)"
            )
        }
        for assignment in configuration.assignments {
            guard ActionID(rawValue: assignment.action) != nil else {
                let near = Suggestion.nearest(to: assignment.action, among: ActionID.allCases.map(\.rawValue))
                object(
                    assignment,
                    "there is no such action; \(near.map { "did you mean \($0)?" } ?? "vellum config lists them")"
                )
                continue
            }
            do throws(KeySpellingError) {
                var keys: [String] = []
                for key in assignment.keys { keys.append(try Key(parsing: key).description) }
                text += "\(assignment.action) = \(keys.joined(separator: ", "))\n"
                used.append(assignment)
            } catch {
                object(assignment, error.reason)
            }
        }
        let mistakes = keyMap.remap(text)
        for (number, assignment) in used.enumerated() {
            guard let mistake = mistakes.first(where: { $0.line == number + 1 }) else {
                lines[assignment.action] = assignment.line
                continue
            }
            object(assignment, mistake.reason)
        }
    }
}

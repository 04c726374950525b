import Foundation

struct PastLine: Sendable, Codable {
    let line: String
}

/// Lines of this session and earlier ones, in a file that only this user can read. For one thread.
final class ShellHistory {
    private static let most = 1_000
    static var standard: ShellHistory? {
        StateFile.folder(
            "XDG_STATE_HOME", or: ".local/state", environment: ProcessInfo.processInfo.environment
        )
        .map { ShellHistory(StateRecords(path: $0 + "/shell", most: most)) }
    }

    private let file: StateRecords<PastLine>
    /// Oldest first.
    private(set) var lines: [String]
    private var hasWarned = false

    private init(_ file: StateRecords<PastLine>) {
        self.file = file
        do { lines = try file.read().map(\.line) } catch {
            Console.warn("the history of earlier sessions can't be read: \(error)")
            lines = []
        }
    }

    /// Appends a line, unless it begins with a space. Removes an earlier equal line.
    func remember(_ line: String) {
        guard let first = line.first, !first.isWhitespace else { return }
        keep(line, in: &lines)
        do {
            try file.change { records in
                var lines = records.map(\.line)
                keep(line, in: &lines)
                records = lines.map(PastLine.init)
            }
        } catch {
            if !hasWarned { Console.warn("lines are remembered for this session only: \(error)") }
            hasWarned = true
        }
    }

    private func keep(_ line: String, in lines: inout [String]) {
        lines.removeAll { $0.utf8.elementsEqual(line.utf8) }
        lines.append(line)
    }
}

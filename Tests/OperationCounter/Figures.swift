import Foundation

/// Counts of all operations, for one call each.
struct Figures {
    struct Row: Codable {
        var operation: String
        var pageFaults: Double
        var systemCalls = 0.0
        /// System calls by their numbers on this machine.
        var byNumber: [String: Double] = [:]
        var instructions = 0.0
        var allocations = 0.0
    }

    private(set) var rows: [Row]

    static func counted() throws -> Figures {
        let (process, output) = try spawned(.pageFaults)
        let counted = try JSONDecoder().decode([Int].self, from: output.readDataToEndOfFile())
        var status: CInt = 0
        waitpid(process, &status, 0)
        return Figures(
            rows: zip(Operation.all, counted).dropFirst().map { operation, faults in
                Row(operation: operation.name, pageFaults: operation.share(faults - counted[0], .pageFaults))
            })
    }

    mutating func addSystemCalls() throws {
        for (place, counts) in try Figures.traced(.systemCalls).enumerated() {
            let operation = Operation.all[place + 1]
            rows[place].systemCalls = operation.share(counts.values.reduce(0, +), .systemCalls)
            for (what, count) in counts {
                guard case .systemCall(let number) = what else { continue }
                rows[place].byNumber["\(number)"] = operation.share(count, .systemCalls)
            }
        }
    }

    mutating func addAllocations() throws {
        for (place, counts) in try Figures.traced(.allocations).enumerated() {
            rows[place].allocations = Operation.all[place + 1].share(
                counts[.allocation] ?? 0, .allocations)
        }
    }

    mutating func addInstructions() throws {
        for (place, counts) in try Figures.traced(.instructions).enumerated() {
            rows[place].instructions = Operation.all[place + 1].share(
                counts[.instruction] ?? 0, .instructions)
        }
    }

    /// Counts of all operations, without those that mark the phases.
    private static func traced(_ pass: Pass) throws -> [Tracer.Counts] {
        let (process, output) = try spawned(pass)
        let phases = try Tracer.phases(of: process, telling: output, pass)
        guard let marks = phases.first, phases.count == Operation.all.count else {
            throw Operation.Failure.notTraced("\(phases.count) phases")
        }
        return phases.dropFirst().map { phase in
            phase.merging(marks) { $0 - $1 }.filter { $0.value > 0 }
        }
    }

    /// Starts a process of this program. `Process` would also wait for its end.
    private static func spawned(_ pass: Pass) throws -> (pid_t, FileHandle) {
        let output = Pipe()
        var pid = pid_t()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(
            &actions, output.fileHandleForWriting.fileDescriptor, STDOUT_FILENO)
        let words = ["OperationCounter", Pass.argument, pass.rawValue]
        let arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        let code = posix_spawn(&pid, "/proc/self/exe", &actions, nil, arguments, environ)
        guard code == 0 else { throw Operation.Failure.notTraced(String(cString: strerror(code))) }
        try output.fileHandleForWriting.close()
        return (pid, output.fileHandleForReading)
    }

    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return String(decoding: try encoder.encode(rows), as: UTF8.self)
    }

    var table: String {
        func cell(_ figure: Double) -> String {
            let text = String(format: figure < 100 ? "%.2f" : "%.0f", figure)
            return String(repeating: " ", count: max(1, 15 - text.count)) + text
        }
        let lines = rows.map { row in
            row.operation.padding(toLength: 28, withPad: " ", startingAt: 0)
                + [row.allocations, row.systemCalls, row.pageFaults, row.instructions].map(cell).joined()
        }
        let header =
            "one of".padding(toLength: 28, withPad: " ", startingAt: 0)
            + "    allocations   system calls    page faults   instructions"
        return ([header] + lines).joined(separator: "\n")
    }
}

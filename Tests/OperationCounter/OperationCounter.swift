import Foundation

/// Counts allocations, system calls, page faults and instructions of the main operations of the engine and of typed archives.
/// The counts are the same on every run of a build.
///
///     OperationCounter [--json] [--without-instructions]
@main
struct OperationCounter {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        do {
            if arguments.first == Pass.argument, let pass = arguments.last.flatMap(Pass.init) {
                return try Worker.run(pass)
            }
            var figures = try Figures.counted()
            try figures.addSystemCalls()
            try figures.addAllocations()
            if !arguments.contains("--without-instructions") { try figures.addInstructions() }
            print(arguments.contains("--json") ? try figures.json() : figures.table)
        } catch {
            FileHandle.standardError.write(Data("OperationCounter: \(error)\n".utf8))
            exit(1)
        }
    }
}

/// The counts that a working process takes itself, or its parent takes by tracing it.
enum Pass: String {
    static let argument = "--work"

    /// Counted by the process.
    case pageFaults = "faults"
    /// Stops at each system call.
    case systemCalls = "calls"
    /// Stops at each call of `malloc` and similar functions.
    case allocations
    /// Stops at each instruction, with fewer operations.
    case instructions

    /// How many operations are counted.
    var times: Int { self == .instructions ? 10 : 1_000 }
    var timesOfCostly: Int { self == .instructions ? 1 : 10 }
}

import Foundation

/// Counts what the main operations of the engine and of typed archives take, instead of timing it: blocks of memory, system calls,
/// page faults and instructions, each for one operation. The same on every run of a build, whatever else the machine does.
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

/// What a process that works counts, or has counted by the one that started it.
enum Pass: String {
    static let argument = "--work"

    /// Its own page faults.
    case pageFaults = "faults"
    /// System calls; it stops at each.
    case systemCalls = "calls"
    /// Calls of malloc and its like; it stops at each.
    case allocations
    /// Instructions, of fewer operations; it stops at each.
    case instructions

    /// How many operations are counted.
    var times: Int { self == .instructions ? 10 : 1_000 }
    var timesOfCostly: Int { self == .instructions ? 1 : 10 }
}

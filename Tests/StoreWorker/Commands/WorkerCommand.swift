import Foundation
import TestSupport
import StorageEngine

/// Commands for tests with several processes, besides writing and churning.
enum WorkerCommand: String {
    /// Lists, peeks and checks until a file appears.
    case observe
    /// Overwrites few keys with large values, so that segments are reclaimed constantly.
    case overwrite
    /// Appends numbered messages to a log until it is killed.
    case append
    /// Stores values so large that the process is nearly always in the critical section.
    case hammer
    /// Puts and accesses until a file appears, and says how long the calls took.
    case pace
    /// Samples sizes against their limits until a file appears.
    case sample
    /// Random operations of several threads, each with its times, for a checker of linearizability.
    case history
    /// Puts and accesses of a cache, in turns with other processes.
    case turns
    /// Forks with an open store.
    case fork, forkWithUpkeep
    /// Opens a store as another user, or on a read-only file system.
    case opening
    /// Overwrites keys, and dies at a named point of the last put.
    case reorder
    /// Creates or opens an archive, stores in it, and is stopped at a named point.
    case stop
    /// Looks up a key, and is stopped at a named point.
    case peek
    /// Undoes the latest action, and is stopped at a named point.
    case undo
    /// Stores and reads entries, and is stopped at a named point while the accesses are applied.
    case apply
    /// Stores a value that evicts others, and is stopped at a named point.
    case evict
    /// Changes a limit, and dies at a named point.
    case resize
    /// Stores until the disk is full, and dies at a named point.
    case discard
    /// Runs on a small file system that it mounts privately.
    case smallDisk
    /// Applies numbered batches, and is stopped at a point of one of them.
    case batches
    /// Looks for partial batches until a file appears.
    case watchBatches
    /// All operations on separate keys.
    case mix
    /// Backs up the store, and checks the backup.
    case backUp
    /// Uses archives under a limit on addresses, descriptors or file sizes.
    case limited
    /// Opens and closes an archive, and says whether the background thread runs.
    case rest
    /// Closes an archive whose entries expire, and truncates its index, repeatedly.
    case cut
    /// Reads a ring file repeatedly until it is killed.
    case readRing

    func run(_ arguments: WorkerArguments) {
        do {
            switch self {
            case .observe: try observe(arguments)
            case .overwrite: try overwrite(arguments)
            case .append: try append(arguments)
            case .hammer: try hammer(arguments)
            case .pace: try pace(arguments)
            case .sample: try sample(arguments)
            case .history: try recordHistory(arguments)
            case .turns: try takeTurns(arguments)
            case .fork: try forkWithOpenStore(arguments)
            case .forkWithUpkeep: try forkWithUpkeep(arguments)
            case .opening: tryOpening(arguments)
            case .reorder: try reorder(arguments)
            case .stop: try stop(arguments)
            case .peek: try peek(arguments)
            case .undo: try undo(arguments)
            case .apply: try apply(arguments)
            case .evict: try evict(arguments)
            case .resize: try resize(arguments)
            case .discard: try discard(arguments)
            case .smallDisk: try runOnSmallDisk(arguments)
            case .batches: try applyBatches(arguments)
            case .watchBatches: try watchBatches(arguments)
            case .mix: try mix(arguments)
            case .backUp: try backUp(arguments)
            case .limited: try runLimited(arguments)
            case .rest: try rest(arguments)
            case .cut: try cut(arguments)
            case .readRing: try readRing(arguments)
            }
        } catch {
            say("! \(error)")
            exit(1)
        }
    }
}

/// `COMMAND STORE ARCHIVE SEED …`; further arguments are documented with each command.
struct WorkerArguments {
    let words: [String]

    init(_ words: [String]) { self.words = words }

    func word(_ place: Int) -> String { place < words.count ? words[place] : "" }
    func number(_ place: Int) -> Int { Int(word(place)) ?? 0 }

    var storePath: String { word(1) }
    var archiveName: String { word(2) }
    var seed: UInt64 { UInt64(word(3)) ?? 0 }

    func open(_ mode: AccessMode = .readWrite) throws(StorageError) -> Archive {
        let options = StoreOptions(processName: "\(word(0)) \(seed)")
        return try Store.open(at: storePath, mode: mode, options: options).archive(named: archiveName)
    }
}

// `write` alone would be this program's function in the main file.
private let systemWrite: @Sendable (Int32, UnsafeRawPointer?, Int) -> Int = { write($0, $1, $2) }

/// A single write per call, so that a killed process leaves whole lines.
func say(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    let written = bytes.withUnsafeBytes { systemWrite(1, $0.baseAddress, $0.count) }
    guard written == bytes.count else { exit(3) }
}

func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

extension SeededGenerator {
    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}

/// Whether `write` or `overwrite` stored this value: eight bytes of version, then repetitions of the lowest.
func isWholeVersion(_ value: UnsafeRawBufferPointer) -> Bool {
    value.count >= 8 && value[8...].allSatisfy { $0 == value[0] }
}

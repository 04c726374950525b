import Foundation
import TestSupport
import StorageEngine

/// Commands for tests with several processes. Their functions state arguments and output.
enum WorkerCommand: String {
    case observe, overwrite, append, hammer, pace, sample, history, turns, fork, forkWithUpkeep, opening,
        reorder
    case stop, peek, undo, repair, apply, evict, resize, discard, smallDisk, batches, watchBatches, mix
    case backUp, limited, rest, cut, readRing, queues

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
            case .repair: try repair(arguments)
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
            case .queues: try queues(arguments)
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

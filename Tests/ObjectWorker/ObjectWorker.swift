import Foundation
import Vellum

/// A program that stores objects, for tests with two such programs on one store. It uses only the library's product.
@main
struct ObjectWorker {
    /// `ObjectWorker migrate STORE`, `ObjectWorker fork STORE`, `ObjectWorker crowd STORE SEED OPERATIONS RESULT`, or
    /// `ObjectWorker first|second STORE SEED ROUNDS SECONDS IN OUT RESULT`, with pipes from and to the other program.
    static func main() async {
        endWithParent()
        let words = CommandLine.arguments
        if words.count == 3, words[1] == "migrate" { return migrate(words[2]) }
        if words.count == 3, words[1] == "fork" { return forked(words[2]) }
        if words.count == 6, words[1] == "crowd", let seed = UInt64(words[3]), let count = Int(words[4]) {
            return await crowd(words[2], seed, count, words[5])
        }
        guard words.count == 9, let seed = UInt64(words[3]), let rounds = Int(words[4]),
            let seconds = Double(words[5])
        else { exit(2) }
        let isFirst = words[1] == "first"
        do {
            let peer = Peer(isFirst: isFirst, input: words[6], output: words[7])
            let factory = ArchivesFactory(storePath: words[2])
            let turns = try Turns(factory: factory, peer: peer, seed: seed, isFirst: isFirst)
            let end = Date().addingTimeInterval(seconds)
            while turns.play(isOver: turns.round >= rounds && Date() >= end) {}
            try turns.result().write(toFile: words[8], atomically: true, encoding: .utf8)
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }

    private static func migrate(_ store: String) {
        do {
            try ArchivesFactory(storePath: store).archives(for: Thing.self).migrateAll()
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }

    private static func forked(_ store: String) {
        do {
            try fork(store)
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }

    private static func crowd(_ store: String, _ seed: UInt64, _ operations: Int, _ result: String) async {
        do {
            let crowd = try Crowd(ArchivesFactory(storePath: store))
            try await crowd.run(operations, seed: seed).write(
                toFile: result, atomically: true, encoding: .utf8)
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }

    /// Ensures that an aborted test run leaves no workers behind.
    private static func endWithParent() {
        let parent = getppid()
        Thread.detachNewThread {
            while getppid() == parent { usleep(200_000) }
            _exit(9)
        }
    }
}

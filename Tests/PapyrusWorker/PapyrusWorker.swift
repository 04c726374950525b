import Foundation
import Papyrus
import PapyrusGoods

/// Stores objects, for tests with several programs on one store, some of which are killed.
@main
struct PapyrusWorker {
    /// `merge STORE COUNT FIRST`: merges one set after the other, until it is killed.
    /// `look STORE COUNT SECONDS`: reads the sets, and prints the number of reads or the violation.
    /// `save STORE COUNT PAUSE`: saves moments at intervals of PAUSE milliseconds.
    /// `migrate STORE`: migrates drafts to letters.
    /// `fill STORE BYTES`: saves until that fails, and prints the error.
    /// `log STORE`: saves to an unusable store, at several log levels.
    static func main() async {
        endWithParent()
        let words = CommandLine.arguments
        guard words.count >= 3 else { exit(2) }
        let store = PapyrusStore(url: URL(fileURLWithPath: words[2]))
        let numbers = words[3...].compactMap { Int($0) }
        do {
            switch (words[1], numbers.count) {
            case ("merge", 2): try await merge(store, count: numbers[0], first: numbers[1])
            case ("look", 2): try await look(store, count: numbers[0], seconds: numbers[1])
            case ("save", 2): try await save(store, count: numbers[0], pause: numbers[1])
            case ("migrate", 0): try await store.throwing.register(migration: lettersOfDrafts)
            case ("fill", 1): try await fill(store, bytes: numbers[0])
            case ("log", 0): await log(store)
            default: exit(2)
            }
        } catch {
            print("\(error)")
            exit(1)
        }
    }

    private static func merge(_ store: PapyrusStore, count: Int, first: Int) async throws {
        var set = first
        while true {
            try await store.throwing.merge(with: Piece.all(ofSet: set, count: count))
            set += 1
        }
    }

    private static func look(_ store: PapyrusStore, count: Int, seconds: Int) async throws {
        let end = Date().addingTimeInterval(Double(seconds))
        var looks = 0
        var sets: Set<Int> = []
        repeat {
            let pieces = try await store.throwing.execute(store.objects(type: Piece.self))
            if let complaint = Piece.complaint(about: pieces, count: count) {
                print(complaint)
                exit(3)
            }
            if let set = pieces.first?.set { sets.insert(set) }
            looks += 1
        } while Date() < end
        print("\(looks) looks, \(sets.count) sets")
    }

    private static func save(_ store: PapyrusStore, count: Int, pause: Int) async throws {
        for number in 0..<count {
            try await store.throwing.save(Moment.now(number))
            try await Task.sleep(for: .milliseconds(pause))
        }
    }

    private static func fill(_ store: PapyrusStore, bytes: Int) async throws {
        // The system's signal for an exceeded file size limit would end the program; ignored, the call fails.
        signal(SIGXFSZ, SIG_IGN)
        let text = String(repeating: "x", count: bytes)
        for number in 0..<100_000 {
            do {
                try await store.throwing.save(Draft(id: number, text: text))
            } catch {
                let all = await store.objects(type: Draft.self).execute()
                guard all.map(\.id) == Array(0..<number) else {
                    print("saved \(number), found \(all.count)")
                    exit(3)
                }
                print("\(number) saved, then: \(error)")
                return
            }
        }
    }

    private static func log(_ store: PapyrusStore) async {
        for level in [store.logLevel, .off, .fault, .info] {
            store.logLevel = level
            await store.save(Draft(id: level.rawValue, text: ""))
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

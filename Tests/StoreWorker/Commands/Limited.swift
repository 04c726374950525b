import Foundation
import StorageEngine
import TestSupport

extension WorkerCommand {
    /// `limited STORE ARCHIVE VALUE-BYTES LIMIT AMOUNT COUNT`: limits itself (`addresses` above the present ones,
    /// `descriptors`, `fileBytes`, `none`), opens the archives `ARCHIVE0` to `ARCHIVE(COUNT-1)`, stores a value in each
    /// and reads all. Says `stored`, the number opened, and each error once.
    func runLimited(_ arguments: WorkerArguments) throws {
        let count = arguments.number(6)
        let store = try Store.open(at: arguments.storePath)
        // Reserves heap, since the runtime ends a process that can't allocate.
        let heap = (0..<8000).map { _ in malloc(1000) }
        for block in heap.dropLast() { free(block) }
        limit(arguments.word(4), arguments.number(5))
        var open: [Archive] = []
        var errors: Set<String> = []
        for number in 0..<count {
            let name = arguments.archiveName + String(number)
            do throws(StorageError) {
                let archive = try store.archive(named: name)
                open.append(archive)
                let value = [UInt8](repeating: 9, count: arguments.number(3))
                try archive.put(value, forKey: "limited \(arguments.number(5))")
                say("stored \(name)")
                let list = try archive.entries()
                var read = 0
                for place in list.indices where try list.withValue(at: place, { $0.count }) != nil {
                    read += 1
                }
                say("read \(read) of \(list.count)")
            } catch {
                errors.insert(error.description)
            }
        }
        say("opened \(open.count)")
        for error in errors.sorted().prefix(20) { say("error \(error)") }
        // Closing needs nothing that the limit forbids.
        store.close()
        say("end")
    }

    private func limit(_ resource: String, _ amount: Int) {
        switch resource {
        case "addresses": setLimit(RLIMIT_AS, addressesInUse() + amount)
        case "descriptors": setLimit(RLIMIT_NOFILE, amount)
        case "fileBytes": setLimit(RLIMIT_FSIZE, amount)
        default: break
        }
    }

    #if canImport(Glibc)
    private func setLimit(_ resource: __rlimit_resource, _ amount: Int) {
        var limits = rlimit(rlim_cur: rlim_t(amount), rlim_max: rlim_t(amount))
        if setrlimit(Int32(resource.rawValue), &limits) != 0 { say("unsupported") }
    }
    #else
    private func setLimit(_ resource: Int32, _ amount: Int) {
        var limits = rlimit(rlim_cur: rlim_t(amount), rlim_max: rlim_t(amount))
        if setrlimit(resource, &limits) != 0 { say("unsupported") }
    }
    #endif

    private func addressesInUse() -> Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 1 << 40 }
        defer { fclose(file) }
        var text = [CChar](repeating: 0, count: 64)
        guard fgets(&text, 64, file) != nil else { return 1 << 40 }
        return (Int(strtol(text, nil, 10))) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}

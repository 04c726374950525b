import Foundation

/// The working process. Signals its parent when counting starts and ends; without a tracer the signals do nothing.
enum Worker {
    static let begin = SIGUSR1
    static let end = SIGUSR2

    static func run(_ pass: Pass) throws {
        // The parent may have blocked signals.
        var none = sigset_t()
        sigemptyset(&none)
        sigprocmask(SIG_SETMASK, &none, nil)
        signal(begin, SIG_IGN)
        signal(end, SIG_IGN)
        let folder = FileManager.default.temporaryDirectory.path + "/operations-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let subjects = try Subjects(in: folder)
        if pass != .pageFaults { try Tracer.waitForTracer() }
        let process = getpid()
        var counted: [Int] = []
        for operation in Operation.all {
            let times = operation.times(in: pass)
            let warm = max(1, times / 10)
            for number in 0..<warm { try operation.body(subjects, number) }
            let before = faults()
            kill(process, begin)
            for number in warm..<warm + times { try operation.body(subjects, number) }
            kill(process, end)
            counted.append(faults() - before)
        }
        print(String(decoding: try JSONEncoder().encode(counted), as: UTF8.self))
    }

    #if canImport(Glibc)
    private static let itself = __rusage_who_t(RUSAGE_SELF.rawValue)
    #else
    private static let itself = RUSAGE_SELF
    #endif

    private static func faults() -> Int {
        var usage = rusage()
        getrusage(itself, &usage)
        return usage.ru_minflt + usage.ru_majflt
    }
}

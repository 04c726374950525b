import TerminalCurses

enum ProcessMemory {
    /// Ends the program with a message and a status when an allocation fails.
    static func endOnExhaustedMemory() {
        ExhaustedMemory.endsProcess(status: ExitStatus.storeFailure.rawValue) { WholeFile.removeUnfinished() }
    }

    /// Makes glibc return freed blocks of a megabyte and more at once and share one arena among all threads. By default its
    /// threshold grows up to 32 MiB, and each thread keeps what it freed.
    static func limitAllocatorCaches() {
        #if os(Linux)
        typealias Option = @convention(c) (CInt, CInt) -> CInt
        // `M_MMAP_THRESHOLD` and `M_ARENA_MAX` of malloc.h, which no module of Swift's has.
        let (threshold, arenas): (CInt, CInt) = (-3, -8)
        guard let symbol = dlsym(nil, "mallopt") else { return }
        let set = unsafeBitCast(symbol, to: Option.self)
        _ = set(threshold, 1 << 20)
        _ = set(arenas, 1)
        #endif
    }
}

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Stateless; safe from any thread. What the C library keeps of memory that was freed.
enum ProcessMemory {
    /// Has blocks of a megabyte and more given back as soon as they are freed. Otherwise glibc's threshold grows with each that is,
    /// up to 32 MiB, and below it pages stay. Other C libraries give them back anyway.
    static func returnsLargeBlocks() {
        #if os(Linux)
        typealias Option = @convention(c) (CInt, CInt) -> CInt
        // `M_MMAP_THRESHOLD` of malloc.h, which no module of Swift's has.
        let threshold: CInt = -3
        guard let symbol = dlsym(nil, "mallopt") else { return }
        _ = unsafeBitCast(symbol, to: Option.self)(threshold, 1 << 20)
        #endif
    }
}

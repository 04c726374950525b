import Foundation

/// Gives memory that was freed back to the system, where the C library keeps it for itself. Stateless.
enum MemoryReturn {
    #if os(Linux)
    private typealias Trim = @convention(c) (Int) -> CInt

    /// Of glibc; others give back what is free by themselves.
    private static let trim = dlsym(nil, "malloc_trim").map { unsafeBitCast($0, to: Trim.self) }

    static func giveBack() { _ = trim?(0) }
    #else
    static func giveBack() {}
    #endif
}

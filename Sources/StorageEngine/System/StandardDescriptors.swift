import CPlatform

/// Descriptors 0, 1 and 2, which the parent process may have closed.
package enum StandardDescriptors {
    /// Occupies unused ones, so no opened file gets them and the program's output. Reads and writes fail. Must be called first.
    package static func occupy() { cp_occupy_standard_descriptors() }
}

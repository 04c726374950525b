import CPlatform

/// Descriptors 0, 1 and 2, which the parent process may have closed.
package enum StandardDescriptors {
    /// Occupies closed ones, so that no output is written to a file opened later. Reads and writes fail. Call it first.
    package static func occupy() { cp_occupy_standard_descriptors() }
}

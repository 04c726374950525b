import CPlatform

/// Descriptors 0, 1 and 2, which the parent process may have closed.
package enum StandardDescriptors {
    /// Occupies those that are free. Otherwise the next opened file would get such a number, and the program's output. Reading
    /// and writing fail on them. A program calls this first, to protect all files that it opens.
    package static func occupy() { cp_occupy_standard_descriptors() }
}

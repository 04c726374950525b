import CPlatform

/// Descriptors 0, 1 and 2, which a starter may have closed.
package enum StandardDescriptors {
    /// Takes those that are free: the next file that is opened would get such a number, and what this program says would be
    /// written into it. Reading and writing fail on them as if they were closed. A store's own files never get such a number;
    /// a program calls this first for the sake of all others that it opens.
    package static func occupy() { cp_occupy_standard_descriptors() }
}

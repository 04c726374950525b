import CPlatform

/// CRC32C (RFC 3720, appendix B.4).
package enum Checksum {
    /// The checksum of `bytes`, starting from `seed`, so that the same bytes at another location don't pass.
    @inline(__always)
    package static func crc32c(_ bytes: UnsafeRawBufferPointer, seed: UInt32 = 0) -> UInt32 {
        ~cp_crc32c(~seed, bytes.baseAddress, bytes.count)
    }

    /// The register advanced over `bytes`: the checksum without its first and last step.
    @inline(__always) static func register(_ register: UInt32, over bytes: UnsafeRawBufferPointer) -> UInt32 {
        cp_crc32c(register, bytes.baseAddress, bytes.count)
    }

    package static func crc32c(_ bytes: [UInt8]) -> UInt32 {
        bytes.withUnsafeBytes { crc32c($0) }
    }
}

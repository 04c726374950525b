// The system's C library, under one name on all platforms.
#if canImport(Glibc)
@_exported import Glibc
package let streamSocket = Int32(SOCK_STREAM.rawValue)
#elseif canImport(Musl)
@_exported import Musl
package let streamSocket = SOCK_STREAM
#else
@_exported import Darwin
package let streamSocket = SOCK_STREAM
#endif

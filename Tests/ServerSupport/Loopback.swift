import Foundation

/// Sockets of the loopback interface.
package enum Loopback {
    package static func address(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }

    private static func checked(_ result: Int32) throws -> Int32 {
        if result < 0 { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        return result
    }

    private static func with<Result>(
        _ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = address(port)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private static func socket() throws -> Int32 {
        #if canImport(Glibc)
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        return try checked(Foundation.socket(AF_INET, kind, 0))
    }

    /// Listens at the port (0: any free port). Returns the socket and the port.
    package static func listen(_ port: Int = 0) throws -> (socket: Int32, port: Int) {
        let listener = try socket()
        var yes: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        // Accepted sockets inherit it; replies forwarded one by one would wait for delayed acknowledgements.
        setsockopt(listener, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        _ = try checked(with(port) { bind(listener, $0, $1) })
        _ = try checked(Foundation.listen(listener, 64))
        var bound = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = try checked(
            withUnsafeMutablePointer(to: &bound) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &size) }
            })
        return (listener, Int(UInt16(bigEndian: bound.sin_port)))
    }

    /// A free port outside the ephemeral range. Servers of a cluster also use this port plus 10,000.
    package static func freePort() throws -> Int {
        for _ in 0..<1000 {
            let port = Int.random(in: 20_000..<22_700)
            guard let (listener, _) = try? listen(port) else { continue }
            close(listener)
            return port
        }
        throw POSIXError(.EADDRINUSE)
    }

    package static func connect(_ port: Int) throws -> Int32 {
        let connection = try socket()
        guard with(port, { Foundation.connect(connection, $0, $1) }) == 0 else {
            let code = errno
            close(connection)
            throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
        }
        var yes: Int32 = 1
        // Limits the wait for a peer that doesn't answer.
        var timeout = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        return connection
    }
}

import SystemC
import ValkeyWire

/// A blocking socket with timeouts.
final class ServerSocket: RESPTransport {
    private let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)

    /// - Parameter seconds: timeout of the connection attempt and of each later call.
    init(to host: String, port: Int, seconds: Int) throws(RESPError) {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = streamSocket
        var found: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, "\(port)", &hints, &found)
        guard status == 0, let first = found else {
            let reason = gai_strerror(status).map { String(cString: $0) } ?? "error \(status)"
            throw RESPError("the name \(host) can't be resolved: \(reason)")
        }
        defer { freeaddrinfo(first) }
        var reason = "no address"
        for address in sequence(first: first, next: { $0.pointee.ai_next }) {
            if let descriptor = ServerSocket.opened(address.pointee, seconds, &reason) {
                self.descriptor = descriptor
                return
            }
        }
        throw RESPError(reason)
    }

    deinit { close(descriptor) }

    private static func opened(_ address: addrinfo, _ seconds: Int, _ reason: inout String) -> Int32? {
        let descriptor = socket(address.ai_family, address.ai_socktype, address.ai_protocol)
        guard descriptor >= 0 else {
            reason = text(of: errno)
            return nil
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        // On Linux the timeout of sending also limits connect.
        var time = timeval(tv_sec: seconds, tv_usec: 0)
        for option in [SO_SNDTIMEO, SO_RCVTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
        }
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        #if canImport(Darwin)
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
        while connect(descriptor, address.ai_addr, address.ai_addrlen) != 0 {
            let code = errno
            if code == EINTR { continue }
            close(descriptor)
            let isLate = code == EINPROGRESS || code == EAGAIN
            reason = isLate ? "no connection within \(seconds) s" : text(of: code)
            return nil
        }
        return descriptor
    }

    var localName: String? {
        var address = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var (host, port) = ([CChar](repeating: 0, count: 64), [CChar](repeating: 0, count: 8))
        let status = withUnsafeMutablePointer(to: &address) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> Int32 in
                guard getsockname(descriptor, address, &size) == 0 else { return -1 }
                return getnameinfo(
                    address, size, &host, socklen_t(host.count), &port, socklen_t(port.count),
                    NI_NUMERICHOST | NI_NUMERICSERV)
            }
        }
        guard status == 0 else { return nil }
        func text(_ name: [CChar]) -> String {
            String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        let name = text(host)
        return (name.contains(":") ? "[\(name)]" : name) + ":" + text(port)
    }

    func send(_ bytes: [UInt8]) throws(RESPError) {
        #if canImport(Darwin)
        let flags: Int32 = 0
        #else
        let flags = Int32(MSG_NOSIGNAL)
        #endif
        var sent = 0
        while sent < bytes.count {
            let written = bytes.withUnsafeBytes {
                SystemC.send(descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent, flags)
            }
            if written > 0 {
                sent += written
            } else if errno != EINTR {
                let code = errno
                throw RESPError(
                    ServerSocket.isLate(code) ? "timeout while sending" : ServerSocket.text(of: code))
            }
        }
    }

    func receive() throws(RESPError) -> [UInt8] {
        guard let bytes = try bytes(flags: 0) else { throw RESPError("timeout while waiting for bytes") }
        return bytes
    }

    func available() throws(RESPError) -> [UInt8] { try bytes(flags: Int32(MSG_DONTWAIT)) ?? [] }

    /// The bytes that `recv` returns with these flags; nil: none in time.
    private func bytes(flags: Int32) throws(RESPError) -> [UInt8]? {
        while true {
            let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, flags) }
            if count > 0 { return Array(buffer[..<count]) }
            if count == 0 { throw RESPError("the server closed the connection") }
            if ServerSocket.isLate(errno) { return nil }
            if errno != EINTR { throw RESPError(ServerSocket.text(of: errno)) }
        }
    }

    private static func isLate(_ code: Int32) -> Bool { code == EAGAIN || code == EWOULDBLOCK }

    private static func text(of code: Int32) -> String {
        strerror(code).map { String(cString: $0) } ?? "error \(code)"
    }
}

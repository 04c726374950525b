import StoreInspection
import SystemC

/// A blocking socket with timeouts. For one thread.
final class ServerSocket {
    private let descriptor: Int32
    /// Returns why a TLS connection ended.
    private let trouble: @Sendable () -> String?
    /// Total seconds in ``receive()``.
    private(set) var waited = 0.0
    private let clock = ContinuousClock()
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)

    /// - Parameter seconds: timeout of the connection attempt and of each later call.
    init(_ address: ServerAddress, seconds: Int) throws(SourceError) {
        if address.isSecure {
            (descriptor, trouble) = try SecureConnections.opened(address, seconds: seconds)
            ServerSocket.bound(descriptor, seconds)
            localName = nil
        } else {
            trouble = { nil }
            descriptor = try ServerSocket.connected(to: address.host, address.port, seconds)
            localName = ServerSocket.localName(of: descriptor)
        }
    }

    private static func connected(
        to host: String, _ port: Int, _ seconds: Int
    ) throws(SourceError) -> Int32 {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = streamSocket
        var found: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, "\(port)", &hints, &found)
        guard status == 0, let first = found else {
            let reason = gai_strerror(status).map { String(cString: $0) } ?? "error \(status)"
            throw SourceError("the name \(host) can't be resolved: \(reason)")
        }
        defer { freeaddrinfo(first) }
        var reason = "no address"
        var next: UnsafeMutablePointer<addrinfo>? = first
        while let address = next {
            switch ServerSocket.opened(address.pointee, seconds: seconds) {
            case .success(let descriptor): return descriptor
            case .failure(let problem): reason = problem.reason
            }
            next = address.pointee.ai_next
        }
        throw SourceError(reason)
    }

    deinit { close(descriptor) }

    /// The local endpoint as in a server's list of clients, `127.0.0.1:50000`; nil: unknown, as with TLS.
    let localName: String?

    private static func localName(of descriptor: Int32) -> String? {
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
        let name = String(decoding: host.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        let number = String(decoding: port.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return (name.contains(":") ? "[\(name)]" : name) + ":" + number
    }

    private struct Problem: Error {
        let reason: String

        init(_ code: Int32) { reason = strerror(code).map { String(cString: $0) } ?? "error \(code)" }
        init(after seconds: Int) { reason = "no connection within \(seconds) s" }
    }

    private static func opened(_ address: addrinfo, seconds: Int) -> Result<Int32, Problem> {
        let descriptor = socket(address.ai_family, address.ai_socktype, address.ai_protocol)
        guard descriptor >= 0 else { return .failure(Problem(errno)) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        // On Linux this also limits connect.
        bound(descriptor, seconds)
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        #if canImport(Darwin)
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
        while connect(descriptor, address.ai_addr, address.ai_addrlen) != 0 {
            let code = errno
            if code == EINTR { continue }
            close(descriptor)
            return .failure(code == EINPROGRESS || code == EAGAIN ? Problem(after: seconds) : Problem(code))
        }
        return .success(descriptor)
    }

    private static func bound(_ descriptor: Int32, _ seconds: Int) {
        var time = timeval(tv_sec: seconds, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, size)
    }

    func send(_ bytes: [UInt8]) throws(SourceError) {
        var sent = 0
        while sent < bytes.count {
            let written = bytes.withUnsafeBytes { all -> Int in
                let rest = UnsafeRawBufferPointer(rebasing: all[sent...])
                #if canImport(Darwin)
                return SystemC.send(descriptor, rest.baseAddress, rest.count, 0)
                #else
                return SystemC.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
                #endif
            }
            if written > 0 {
                sent += written
            } else if errno != EINTR {
                throw failure(errno, "took")
            }
        }
    }

    /// Waits for data and returns at least one byte of it.
    func receive() throws(SourceError) -> ArraySlice<UInt8> {
        let start = clock.now
        defer { waited += (clock.now - start) / .seconds(1) }
        while true {
            let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
            if count > 0 { return buffer[..<count] }
            if count == 0 { throw SourceError(trouble() ?? "the server closed the connection") }
            if errno != EINTR { throw failure(errno, "sent") }
        }
    }

    private func failure(_ code: Int32, _ verb: String) -> SourceError {
        SourceError(
            trouble()
                ?? (code == EAGAIN || code == EWOULDBLOCK
                    ? "it \(verb) nothing for too long" : Problem(code).reason))
    }
}

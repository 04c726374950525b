import StorageEngine
import ValkeyWire

/// The name of ``ServerURL`` for modules that don't import `ValkeyWire`.
package typealias ServerAddress = ServerURL

extension ServerURL {
    /// - Parameter password: used if the URL has none.
    /// - Throws: also for TLS in a program that is built without it.
    package init(_ text: String, password: String?) throws(ServerURLError) {
        try self.init(text)
        guard !isSecure || SecureConnections.areKnown else {
            throw ServerURLError(
                "this vellum is built without TLS; build it with --traits ValkeyTLS (make build TLS=1), or use a TLS "
                    + "tunnel and its local end, valkey://localhost:PORT")
        }
        self.password = self.password ?? password
    }
}

/// Opens TLS connections, with a function that the program registers if it is built with TLS. Safe from any thread.
package enum SecureConnections {
    package typealias Opener = @Sendable (ServerURL, _ seconds: Int) throws(RESPError) -> any RESPTransport

    private static let opener = Guarded<Opener?>(nil)

    fileprivate static var areKnown: Bool { opener.withLock { $0 != nil } }

    package static func open(by opener: @escaping Opener) { self.opener.withLock { $0 = opener } }

    static func opened(_ url: ServerURL, seconds: Int) throws(RESPError) -> any RESPTransport {
        guard let open = opener.withLock({ $0 }) else { throw RESPError("this program is built without TLS") }
        return try open(url, seconds)
    }
}

import StorageEngine
import ValkeyWire

package struct ServerAddress: Sendable, Hashable {
    package let url: ServerURL
    let password: String?

    /// Whether a text is a server's address and not a folder.
    package static func isAddress(_ text: String) -> Bool { ServerURL.isURL(text) }

    /// - Parameters:
    ///   - text: see ``ServerURL``.
    ///   - password: used if the address has none.
    package init(_ text: String, password: String? = nil) throws(ServerURLError) {
        url = try ServerURL(text)
        guard !url.isSecure || SecureConnections.areKnown else {
            throw ServerURLError(
                "this vellum is built without TLS; build it with --traits ValkeyTLS (make build TLS=1), or let a tunnel "
                    + "do it and give the tunnel's end as valkey://localhost:PORT")
        }
        self.password = url.password ?? password
    }

    package var host: String { url.host }
    package var port: Int { url.port }
    /// The only database to show; nil: all.
    package var database: Int? { url.database }

    /// Whether the host's name is one of this machine. A tunnel may be behind it.
    package var isLocal: Bool {
        host == "localhost" || host == "::1"
            || host.hasPrefix("127.") && host.allSatisfy { "0123456789.".contains($0) }
    }
}

extension ServerAddress: CustomStringConvertible {
    /// Without user and password, and without the database.
    package var description: String { text(user: "") }

    /// With the user, but without the password.
    package var forCommands: String { text(user: url.userPart) }

    private func text(user: String) -> String {
        "valkey\(url.isSecure ? "s" : "")://" + user
            + (port == 6379 ? String(url.place.dropLast(5)) : url.place) + url.encryption.words
    }
}

/// Opens TLS connections with the opener of a program that is built with TLS. Safe from any thread.
package enum SecureConnections {
    package typealias Opener = @Sendable (ServerURL, _ seconds: Int) throws(RESPError) -> any RESPTransport

    private static let opener = Guarded<Opener?>(nil)

    static var areKnown: Bool { opener.withLock { $0 != nil } }

    package static func open(by opener: @escaping Opener) { self.opener.withLock { $0 = opener } }

    static func opened(_ url: ServerURL, seconds: Int) throws(RESPError) -> any RESPTransport {
        guard let open = opener.withLock({ $0 }) else {
            throw RESPError("this program is built without TLS")
        }
        return try open(url, seconds)
    }
}

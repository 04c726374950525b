import StorageEngine
import StoreInspection
import ValkeyWire

/// Where a server is that a person looks at, and how to log in there. A value; safe to share between threads.
package struct ServerAddress: Sendable, Hashable {
    private let url: ServerURL
    let password: String?

    /// Whether somebody means a server and no folder.
    package static func isAddress(_ text: String) -> Bool { ServerURL.isURL(text) }

    /// - Parameters:
    ///   - text: as for ``ServerURL``.
    ///   - password: of an address without one.
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
    var user: String? { url.user }
    var isSecure: Bool { url.isSecure }
    package var encryption: ServerEncryption { url.encryption }
    /// The database that was named; nil: all are meant.
    package var database: Int? { url.database }

    /// Whether it is this machine, by the address's name alone: what is changed there is a person's own.
    package var isLocal: Bool {
        host == "localhost" || host == "::1"
            || host.hasPrefix("127.") && host.allSatisfy { "0123456789.".contains($0) }
    }
}

extension ServerAddress: CustomStringConvertible {
    /// Without user and password, and without the database.
    package var description: String { text(user: "") }

    /// With the user, but without the password: for a command that somebody is to type.
    package var forCommands: String { text(user: url.userPart) }

    private func text(user: String) -> String {
        "valkey\(isSecure ? "s" : "")://" + user + (port == 6379 ? String(url.place.dropLast(5)) : url.place)
            + encryption.words
    }
}

/// Opens connections with TLS, as a program that has it says before the first. Safe from any thread.
package enum SecureConnections {
    /// A descriptor to which and from which what passes is plain, and what says why it has ended.
    package typealias Link = (descriptor: Int32, trouble: @Sendable () -> String?)
    /// Waits for at most so many seconds.
    package typealias Opener = @Sendable (ServerAddress, _ seconds: Int) throws(SourceError) -> Link

    private static let opener = Guarded<Opener?>(nil)

    static var areKnown: Bool { opener.withLock { $0 != nil } }

    package static func open(by opener: @escaping Opener) { self.opener.withLock { $0 = opener } }

    static func opened(_ address: ServerAddress, seconds: Int) throws(SourceError) -> Link {
        guard let open = opener.withLock({ $0 }) else {
            throw SourceError("this program is built without TLS")
        }
        return try open(address, seconds)
    }
}

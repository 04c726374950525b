import ValkeyWire

/// A server's address and credentials.
public struct ValkeyAddress: Sendable, Hashable {
    /// A name, or a numeric address without brackets.
    public var host: String
    /// 1 to 65535.
    public var port: Int
    /// `nil`: the default user.
    public var user: String?
    /// `nil`: no authentication.
    public var password: String?
    /// The database's number; servers have 0 to 15 by default.
    public var database: Int
    /// Whether the connection is encrypted.
    public var usesTLS: Bool

    /// - Parameter url: `valkey://[user:password@]host[:port][/database]`, with `valkeys://` for TLS; `redis` means the same.
    public init(_ url: String) throws {
        do throws(ServerURLError) {
            let parts = try ServerURL(url)
            guard parts.user == nil || parts.password != nil else {
                throw ServerURLError("a user needs a password, after a colon")
            }
            guard parts.encryption == ServerEncryption() else {
                throw ServerURLError("set TLS parameters in options.tls, not after ?")
            }
            self.init(parts)
        } catch {
            throw ValkeyAddressError(reason: error.reason)
        }
    }

    init(_ url: ServerURL) {
        (host, port, user, password) = (url.host, url.port, url.user, url.password)
        (database, usesTLS) = (url.database ?? 0, url.isSecure)
    }
}

extension ValkeyAddress: CustomStringConvertible {
    /// Without the password.
    public var description: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return "valkey\(usesTLS ? "s" : "")://\(user.map { "\($0)@" } ?? "")\(name):\(port)/\(database)"
    }
}

/// An invalid server address.
public struct ValkeyAddressError: Error, Hashable, CustomStringConvertible {
    /// The reason. Contains no part of the address, because any part may be a password.
    public var reason: String
    /// The error in one line.
    public var description: String { ServerURLError(reason).description }
}

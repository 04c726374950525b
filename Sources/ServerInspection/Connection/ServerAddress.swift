/// Where a Valkey or Redis server is, and how to log in there. A value; safe to share between threads.
package struct ServerAddress: Sendable, Hashable {
    package private(set) var host: String
    package private(set) var port = 6379
    private(set) var user: String?
    private(set) var password: String?
    /// The database that was named; nil: all are meant.
    package private(set) var database: Int?

    /// Whether somebody means a server and no folder.
    package static func isAddress(_ text: String) -> Bool {
        schemes.contains { text.hasPrefix($0) } || secureSchemes.contains { text.hasPrefix($0) }
    }

    private static let schemes = ["valkey://", "redis://"]
    private static let secureSchemes = ["valkeys://", "rediss://"]

    /// - Parameters:
    ///   - url: `valkey://[user:password@]host[:port][/database]`; `redis://` means the same.
    ///   - password: of an address without one.
    package init(_ url: String, password: String? = nil) throws(ServerAddressError) {
        if ServerAddress.secureSchemes.contains(where: { url.hasPrefix($0) }) {
            throw ServerAddressError(
                "TLS isn't spoken here; let a tunnel do it, and give the tunnel's end as valkey://localhost:PORT"
            )
        }
        guard let scheme = ServerAddress.schemes.first(where: { url.hasPrefix($0) }) else {
            throw ServerAddressError("it doesn't begin with valkey:// or redis://")
        }
        var rest = url.dropFirst(scheme.count)
        self.password = password
        if let at = rest.lastIndex(of: "@") {
            let parts = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let names = ServerAddress.decoded(parts) else {
                throw ServerAddressError(
                    "before @ stands user:password, with %XX for special characters")
            }
            user = names[0].isEmpty ? nil : names[0]
            if names.count == 2 { self.password = names[1] }
            rest = rest[rest.index(after: at)...]
        }
        if let slash = rest.firstIndex(of: "/") {
            let number = rest[rest.index(after: slash)...]
            if !number.isEmpty {
                guard let found = Int(number), (0...1_000_000).contains(found) else {
                    throw ServerAddressError("what stands behind / is no number of a database")
                }
                database = found
            }
            rest = rest[..<slash]
        }
        if rest.hasPrefix("["), let end = rest.firstIndex(of: "]") {
            host = String(rest[rest.index(after: rest.startIndex)..<end])
            rest = rest[rest.index(after: end)...]
        } else {
            let end = rest.firstIndex(of: ":") ?? rest.endIndex
            host = String(rest[..<end])
            rest = rest[end...]
        }
        if rest.hasPrefix(":") {
            guard let number = Int(rest.dropFirst()), (1...65_535).contains(number) else {
                throw ServerAddressError("what stands behind : is no port; use 1 to 65535")
            }
            port = number
        } else if !rest.isEmpty {
            throw ServerAddressError("what stands behind the host is neither a port nor a database")
        }
        guard !host.isEmpty else { throw ServerAddressError("it names no host") }
    }

    private static func decoded(_ parts: [Substring]) -> [String]? {
        let names = parts.compactMap { part -> String? in
            var bytes: [UInt8] = []
            var rest = part.utf8[...]
            while let byte = rest.popFirst() {
                guard byte == UInt8(ascii: "%") else {
                    bytes.append(byte)
                    continue
                }
                guard let digits = String(rest.prefix(2)), digits.utf8.count == 2,
                    let value = UInt8(digits, radix: 16)
                else { return nil }
                bytes.append(value)
                rest = rest.dropFirst(2)
            }
            return String(validating: bytes, as: UTF8.self)
        }
        return names.count == parts.count ? names : nil
    }

    /// Whether it is this machine, by the address's name alone: what is changed there is a person's own.
    package var isLocal: Bool {
        host == "localhost" || host == "::1"
            || host.hasPrefix("127.") && host.allSatisfy { "0123456789.".contains($0) }
    }
}

extension ServerAddress: CustomStringConvertible {
    /// Without user and password, and without the database.
    package var description: String {
        "valkey://\(host.contains(":") ? "[\(host)]" : host)" + (port == 6379 ? "" : ":\(port)")
    }
}

/// A server's address that can't be understood. A value; safe to share between threads.
package struct ServerAddressError: Error, Hashable, CustomStringConvertible {
    /// None of the address's parts is repeated, because any may be a password.
    let reason: String

    init(_ reason: String) { self.reason = reason }

    package var description: String {
        "not an address of a server: \(reason); write valkey://host:6379/0 or valkey://user:password@host"
    }
}

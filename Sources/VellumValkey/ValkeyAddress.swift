/// Where a server is, and how to log in there.
public struct ValkeyAddress: Sendable, Hashable {
    /// A name, or a numeric address without brackets.
    public var host: String
    /// 1 to 65535.
    public var port: Int
    /// `nil`: the default user.
    public var user: String?
    /// `nil`: none is sent.
    public var password: String?
    /// 0 or more; servers have 16 of them unless they are set up otherwise.
    public var database: Int
    /// Whether the connection is encrypted.
    public var usesTLS: Bool

    /// - Parameter url: `valkey://[user:password@]host[:port][/database]`, with `valkeys://` for TLS; `redis` means the same.
    public init(_ url: String) throws {
        func problem(_ reason: String) -> ValkeyAddressError { ValkeyAddressError(reason: reason) }
        let schemes = ["valkey://", "redis://", "valkeys://", "rediss://"]
        guard let scheme = schemes.first(where: { url.hasPrefix($0) }) else {
            throw problem("it doesn't begin with \(schemes.joined(separator: ", "))")
        }
        usesTLS = ["valkeys://", "rediss://"].contains(scheme)
        var rest = url.dropFirst(scheme.count)
        user = nil
        password = nil
        database = 0
        port = 6379
        if let at = rest.lastIndex(of: "@") {
            let parts = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let name = ValkeyAddress.decoded(parts[0]),
                let word = ValkeyAddress.decoded(parts[1])
            else { throw problem("before @ stands user:password, with %XX for special characters") }
            user = name.isEmpty ? nil : name
            password = word
            rest = rest[rest.index(after: at)...]
        }
        if let slash = rest.firstIndex(of: "/") {
            let number = rest[rest.index(after: slash)...]
            if !number.isEmpty {
                guard let found = Int(number), found >= 0 else {
                    throw problem("what stands behind / is no number of a database")
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
                throw problem("what stands behind : is no port; use 1 to 65535")
            }
            port = number
        } else if !rest.isEmpty {
            throw problem("what stands behind the host is neither a port nor a database")
        }
        guard !host.isEmpty else { throw problem("it names no host") }
    }

    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
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
}

extension ValkeyAddress: CustomStringConvertible {
    /// Without the password.
    public var description: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return "valkey\(usesTLS ? "s" : "")://\(user.map { "\($0)@" } ?? "")\(name):\(port)/\(database)"
    }
}

/// A server's address that can't be understood.
public struct ValkeyAddressError: Error, Hashable, CustomStringConvertible {
    /// What is wrong with it. None of its parts is repeated, because any may be a password.
    public var reason: String
    /// The error in one line, for a person.
    public var description: String {
        "not an address of a server: \(reason); write valkey://host:6379/0 or valkey://user:password@host"
    }
}

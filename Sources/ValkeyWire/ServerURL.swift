/// The URL of a Valkey or Redis server.
package struct ServerURL: Sendable, Hashable {
    /// A name, or a numeric address without brackets.
    package private(set) var host: String
    /// 1 to 65535.
    package private(set) var port = 6379
    package private(set) var user: String?
    package var password: String?
    /// 0 to 1,000,000; nil: the URL names no database.
    package private(set) var database: Int?
    /// Whether the connection is encrypted.
    package let isSecure: Bool
    package private(set) var encryption = ServerEncryption()
    /// Whether series of requests are sent without pauses for the server's other clients (`?pace=full`).
    package private(set) var isUnpaced = false

    private static let schemes = ["valkey://", "redis://", "valkeys://", "rediss://"]

    /// Whether the text is a URL rather than a path. Any scheme counts, because the rest may contain a password.
    package static func isURL(_ text: String) -> Bool { text.prefixMatch(of: /[A-Za-z]+:\/\//) != nil }

    /// - Parameter url: `valkey://[user[:password]@]host[:port][/database]`, or with `valkeys://` for TLS also
    ///   `?roots=FILE&certificate=FILE&key=FILE&serverName=NAME`, and with each `?pace=full` or `polite`. `redis` is a synonym of
    ///   `valkey`; %XX denotes a byte.
    package init(_ url: String) throws(ServerURLError) {
        guard let scheme = ServerURL.schemes.first(where: { url.lowercased().hasPrefix($0) }) else {
            throw ServerURLError("it doesn't begin with \(ServerURL.schemes.joined(separator: ", "))")
        }
        isSecure = ["valkeys://", "rediss://"].contains(scheme)
        var rest = url.dropFirst(scheme.count)
        if let at = rest.lastIndex(of: "@") {
            let parts = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let names = ServerURL.decoded(parts) else {
                throw ServerURLError("@ must be preceded by user:password, with %XX for special characters")
            }
            user = names[0].isEmpty ? nil : names[0]
            if names.count == 2 { password = names[1] }
            rest = rest[rest.index(after: at)...]
        }
        if let mark = rest.firstIndex(of: "?") {
            let pairs = rest[rest.index(after: mark)...].split(separator: "&")
            let others = pairs.filter { $0 != "pace=full" && $0 != "pace=polite" }
            guard isSecure || others.isEmpty && !pairs.isEmpty else {
                throw ServerURLError(
                    "only valkeys:// can have parameters after ?, except ?pace=full and ?pace=polite")
            }
            isUnpaced = pairs.contains("pace=full")
            encryption = try ServerURL.encryption(others)
            rest = rest[..<mark]
        }
        if let slash = rest.firstIndex(of: "/") {
            let number = rest[rest.index(after: slash)...]
            if !number.isEmpty {
                guard let found = ServerURL.number(number), (0...1_000_000).contains(found) else {
                    throw ServerURLError("/ must be followed by the number of a database")
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
            guard let number = ServerURL.number(rest.dropFirst()), (1...65_535).contains(number) else {
                throw ServerURLError(": must be followed by a port, 1 to 65535")
            }
            port = number
        } else if !rest.isEmpty {
            throw ServerURLError("the host must be followed by :PORT or /DATABASE")
        }
        guard !host.isEmpty else { throw ServerURLError("the host is missing") }
    }

    private static func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(text) : nil
    }

    private static func encryption(_ pairs: [Substring]) throws(ServerURLError) -> ServerEncryption {
        var found = ServerEncryption()
        for pair in pairs {
            let words = decoded(pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false))
            guard let words, words.count == 2, let part = ServerEncryption.parts[words[0]] else {
                throw ServerURLError(
                    "? must be followed by "
                        + ServerEncryption.parts.keys.sorted().map { $0 + "=…" }.joined(separator: "&")
                        + ", with %XX for special characters")
            }
            found[keyPath: part] = words[1]
        }
        return found
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
                    digits.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
                    let value = UInt8(digits, radix: 16)
                else { return nil }
                bytes.append(value)
                rest = rest.dropFirst(2)
            }
            return String(validating: bytes, as: UTF8.self)
        }
        return names.count == parts.count ? names : nil
    }

    /// Whether the host is a name of this machine, such as localhost. A tunnel may listen there.
    package var isLocal: Bool {
        host == "localhost" || host == "::1"
            || host.hasPrefix("127.") && host.allSatisfy { "0123456789.".contains($0) }
    }
}

extension ServerURL: CustomStringConvertible {
    /// The URL without user, password and database.
    package var description: String { text(user: "") }

    /// The URL with the user, but without the password.
    package var forCommands: String {
        text(user: user.map { ServerEncryption.encoded($0, but: "%?#@:/") + "@" } ?? "")
    }

    private func text(user: String) -> String {
        let name = host.contains(":") ? "[\(host)]" : host
        return "valkey\(isSecure ? "s" : "")://" + user + name + (port == 6379 ? "" : ":\(port)")
            + encryption.words
    }
}

/// TLS settings of a connection.
package struct ServerEncryption: Sendable, Hashable {
    /// Path of a PEM file with trusted certificates; nil: the system's.
    package var roots: String?
    /// Path of a PEM file with the client certificate; nil: none.
    package var certificate: String?
    /// Path of a PEM file with the certificate's private key; nil: the certificate file contains it.
    package var key: String?
    /// The name in the server's certificate; nil: the host's.
    package var serverName: String?

    package init() {}

    /// The settings by parameter name.
    fileprivate static var parts: [String: WritableKeyPath<ServerEncryption, String?>] {
        ["roots": \.roots, "certificate": \.certificate, "key": \.key, "serverName": \.serverName]
    }

    /// The parameters with their `?`; empty without any.
    package var words: String {
        let pairs = ServerEncryption.parts.sorted { $0.key < $1.key }.compactMap { name, part in
            self[keyPath: part].map { "\(name)=" + ServerEncryption.encoded($0, but: "%&=?#@") }
        }
        return pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&")
    }

    fileprivate static func encoded(_ text: String, but special: String) -> String {
        text.utf8.map { byte in
            let character = Character(UnicodeScalar(byte))
            let isPlain = byte > 32 && byte < 127 && !special.contains(character)
            return isPlain ? String(character) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }
}

/// An invalid server URL.
package struct ServerURLError: Error, Hashable, CustomStringConvertible {
    /// The reason contains no part of the address, because any may be a password.
    package let reason: String

    package init(_ reason: String) { self.reason = reason }

    package var description: String {
        "not a server address: \(reason); write valkey://host:6379/0 or valkey://user:password@host"
    }
}

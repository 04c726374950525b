#if Valkey
extension ValkeyTier {
    /// TLS settings for addresses that begin with `valkeys://` or `rediss://`. Requires the package's trait `ValkeyTLS`.
    ///
    /// The files are read for each connection, so the next connection uses a renewed certificate.
    public struct TLS: Sendable, Hashable {
        /// Path of a PEM file with trusted certificates; `nil`: the system's.
        public var roots: String?
        /// Path of a PEM file with the client certificate and its intermediate certificates; `nil`: no client certificate.
        public var certificate: String?
        /// Path of a PEM file with the unencrypted key of ``certificate``; `nil`: the key is in the certificate's file.
        public var key: String?
        /// The name in the server's certificate, of all servers of a cluster; `nil`: each server's host, which may be an IP address.
        public var serverName: String?
        /// Whether the certificate must have this name. If not, any server with a trusted certificate is accepted.
        public var verifiesName = true

        /// The system's roots, no client certificate, and the host's name.
        public init() {}
    }
}

/// Invalid TLS settings, or a failed handshake.
public struct ValkeyTLSError: Error, Hashable, CustomStringConvertible {
    /// The reason and a remedy.
    public var reason: String
    /// The error in one line.
    public var description: String { "TLS can't be used: \(reason)" }
}
#endif

#if ValkeyTLS
import NIOCore
import NIOSSL
import NIOTLS
import StorageEngine
import SystemC
import ValkeyWire

extension ValkeyTier.TLS {
    init(_ encryption: ServerEncryption) {
        (roots, certificate, key) = (encryption.roots, encryption.certificate, encryption.key)
        serverName = encryption.serverName
    }

    /// Checks the settings without a connection.
    func validate() throws(ValkeyTLSError) {
        _ = try context()
        if let serverName, ValkeyTier.TLS.isNumeric(serverName) {
            throw ValkeyTLSError(
                reason:
                    "serverName \"\(serverName)\" is an IP address; omit it and connect to that address")
        }
    }

    /// Adds TLS to a new connection. Call on the connection's event loop.
    func secure(_ channel: any Channel, to host: String) throws {
        let name = serverName ?? (ValkeyTier.TLS.isNumeric(host) ? nil : host)
        let handler: NIOSSLClientHandler
        do {
            // Without a name, the certificate must have the IP address.
            handler = try NIOSSLClientHandler(context: context(), serverHostname: name)
        } catch let error as ValkeyTLSError {
            throw error
        } catch {
            throw ValkeyTLSError(reason: "\"\(name ?? host)\" is not a valid server name (\(error))")
        }
        try channel.pipeline.syncOperations.addHandler(handler)
        if verifiesName, let name {
            try channel.pipeline.syncOperations.addHandler(NameCheck(name, of: handler))
        }
    }

    private static func isNumeric(_ host: String) -> Bool {
        (try? SocketAddress(ipAddress: host, port: 0)) != nil
    }

    private func context() throws(ValkeyTLSError) -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = verifiesName ? .fullVerification : .noHostnameVerification
        if let roots { configuration.trustRoots = .certificates(try certificates(in: roots, "roots")) }
        if let certificate {
            let chain = try certificates(in: certificate, "certificate")
            configuration.certificateChain = chain.map { .certificate($0) }
            let file = key ?? certificate
            do {
                configuration.privateKey = .privateKey(try NIOSSLPrivateKey(file: file, format: .pem))
            } catch {
                throw ValkeyTLSError(
                    reason:
                        "there is no key in \"\(file)\"; name a PEM file with an unencrypted key")
            }
        } else if key != nil {
            throw ValkeyTLSError(reason: "there is a key, but no certificate; name the certificate's file")
        }
        do {
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw ValkeyTLSError(reason: "certificate and key don't match (\(error))")
        }
    }

    private func certificates(in file: String, _ what: String) throws(ValkeyTLSError) -> [NIOSSLCertificate] {
        // Reading a pipe could block.
        var status = stat()
        guard stat(file, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
            throw ValkeyTLSError(reason: "\"\(file)\" (\(what)) is not a file; name a PEM file")
        }
        if let found = try? NIOSSLCertificate.fromPEMFile(file), !found.isEmpty { return found }
        throw ValkeyTLSError(
            reason: "no certificates can be read from \"\(file)\" (\(what)); name a PEM file")
    }

    func reason(of error: any Error, _ context: ChannelHandlerContext, _ address: ValkeyAddress) -> String? {
        let server = "\(address.host):\(address.port)"
        if let error = error as? NIOSSLError, error == .uncleanShutdown { return "the connection was closed" }
        if error is OtherName || (error as? NIOSSLExtraError) == .failedToValidateHostname {
            return "the certificate of \(server) is for another name than \"\(serverName ?? address.host)\"; "
                + "connect to a name in it, or set serverName to that name"
        }
        guard error is NIOSSLError || error is BoringSSLError else { return nil }
        let words = "\(error)".matches(of: /OPENSSL_internal:(\w+)/).map { String($0.output.1) }
        let text = words.isEmpty ? "\(error)" : words.joined(separator: ", ")
        if text.contains("CERTIFICATE_VERIFY_FAILED") {
            let handler = try? context.pipeline.syncOperations.handler(type: NIOSSLClientHandler.self)
            return distrust(of: server, handler?.peerCertificate)
        }
        if text.contains("WRONG_VERSION_NUMBER") {
            return "\(server) answered without TLS; write valkey:// if it has none at this port"
        }
        if text.contains("_ALERT_") { return "\(refusal(by: address)) (\(text))" }
        return "no handshake with \(server); if it has no TLS at this port, write valkey:// (\(text))"
    }

    /// Describes a server that closed the connection after the handshake.
    func refusal(by address: ValkeyAddress) -> String {
        let advice =
            certificate.map { "may have refused the client certificate in \"\($0)\"" }
            ?? "may require a client certificate: set certificate"
        return "\(address.host):\(address.port) ended the handshake; it \(advice)"
    }

    private func distrust(of server: String, _ certificate: NIOSSLCertificate?) -> String {
        let now = Timestamp.now().microseconds / 1_000_000
        if let certificate, certificate.notValidAfter < now {
            return
                "the certificate of \(server) expired \((now - Int64(certificate.notValidAfter)) / 3600) hours ago; renew it"
        }
        if let certificate, certificate.notValidBefore > now {
            let hours = (Int64(certificate.notValidBefore) - now) / 3600
            return
                "the certificate of \(server) is not valid for another \(hours) hours; check this machine's clock"
        }
        return "the certificate of \(server) is not trusted by \(roots.map { "\"\($0)\"" } ?? "the system"); "
            + "set roots to a file with the certificate that signed it"
    }
}

private struct OtherName: Error {}

/// Delays writes until the certificate's name is verified; a certificate for the IP address isn't enough. For one event loop.
private final class NameCheck: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private let name: [UInt8]
    private let handler: NIOSSLClientHandler
    private var isRight = false
    private var held: [(data: NIOAny, promise: EventLoopPromise<Void>?)] = []

    init(_ name: String, of handler: NIOSSLClientHandler) {
        self.name = NameCheck.plain(name.utf8)
        self.handler = handler
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .handshakeCompleted? = event as? TLSUserEvent else {
            return context.fireUserInboundEventTriggered(event)
        }
        guard let certificate = handler.peerCertificate, hasName(certificate) else {
            context.fireErrorCaught(OtherName())
            return context.close(promise: nil)
        }
        isRight = true
        for (data, promise) in held { context.write(data, promise: promise) }
        held = []
        context.flush()
        context.fireUserInboundEventTriggered(event)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if isRight { context.write(data, promise: promise) } else { held.append((data, promise)) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        for (_, promise) in held { promise?.fail(ChannelError.ioOnClosedChannel) }
        held = []
        context.fireChannelInactive()
    }

    /// By RFC 6125: a wildcard is the whole first label. NIOSSL has compared the common name of a certificate without names.
    private func hasName(_ certificate: NIOSSLCertificate) -> Bool {
        let names = certificate._subjectAlternativeNames()
        let dot = UInt8(ascii: ".")
        return names.isEmpty
            || names.contains { other in
                guard other.nameType == .dnsName else { return false }
                let other = NameCheck.plain(other.contents)
                if other == name { return true }
                guard other.starts(with: Array("*.".utf8)), let rest = name.firstIndex(of: dot), rest > 0
                else { return false }
                return name[rest...].elementsEqual(other.dropFirst())
            }
    }

    private static func plain(_ name: some Sequence<UInt8>) -> [UInt8] {
        var bytes = name.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
        return bytes
    }
}
#elseif Valkey
import NIOCore

extension ValkeyTier.TLS {
    func validate() throws(ValkeyTLSError) {
        throw ValkeyTLSError(
            reason: "this program was built without it; "
                + "add traits: [\"ValkeyTLS\"] to the package Vellum in Package.swift")
    }

    func secure(_ channel: any Channel, to host: String) throws { try validate() }

    func reason(of error: any Error, _ context: ChannelHandlerContext, _ address: ValkeyAddress) -> String? {
        nil
    }
}
#endif

#if ValkeyTLS
import ServerInspection
import StoreInspection
import VellumValkey

/// Servers at `valkeys://`, in a build with TLS.
enum SecureServers {
    static func enable() {
        SecureConnections.open { (address, seconds) throws(SourceError) in
            var tls = ValkeyTier.TLS()
            let asked = address.encryption
            (tls.roots, tls.certificate, tls.key) = (asked.roots, asked.certificate, asked.key)
            tls.serverName = asked.serverName
            do throws(ValkeyTLSError) {
                let place = ValkeyAddress(host: address.host, port: address.port)
                let relay = try SecureRelay(to: place, tls, within: seconds)
                return (relay.descriptor, { relay.trouble })
            } catch {
                throw SourceError(error.reason)
            }
        }
    }
}
#endif

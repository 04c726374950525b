import Foundation
import TestSupport

/// Signs certificates for a test, in a folder of its own.
package struct TestAuthority {
    /// `nil` where it isn't installed: the tests that need it are left out then, and say so.
    package static let program: String? = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].map {
        "\($0)/openssl"
    }
    .first { FileManager.default.isExecutableFile(atPath: $0) }

    package let folder = NSTemporaryDirectory() + "vellum-authority-" + UUID().uuidString
    /// The certificate with which it signs.
    package var root: String { folder + "/root.pem" }

    package init() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try run(
            ["req", "-x509", "-days", "30", "-subj", "/CN=A test's root", "-out", root] + newKey("root"))
    }

    private func newKey(_ name: String) -> [String] {
        [
            "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
            "\(folder)/\(name).key",
        ]
    }

    private func run(_ arguments: [String]) throws {
        let outcome = try ChildProcess.run(TestAuthority.program ?? "openssl", arguments)
        guard outcome.status == 0 else { throw AuthorityError(description: outcome.errors) }
    }

    /// A certificate for these names, such as `DNS:localhost` or `IP:127.0.0.1`; of a negative number of days, one that has expired.
    package func identity(for names: String = "IP:127.0.0.1,DNS:localhost", days: Int = 30) throws
        -> TestIdentity
    {
        let name = UUID().uuidString
        let (request, certificate) = ("\(folder)/\(name).csr", "\(folder)/\(name).pem")
        try run(
            ["req", "-subj", "/CN=of a test", "-addext", "subjectAltName=\(names)", "-out", request]
                + newKey(name))
        try run([
            "x509", "-req", "-in", request, "-CA", root, "-CAkey", "\(folder)/root.key", "-CAcreateserial",
            "-days",
            "\(days)", "-copy_extensions", "copy", "-out", certificate,
        ])
        return TestIdentity(certificate: certificate, key: "\(folder)/\(name).key", root: root)
    }
}

package struct AuthorityError: Error { var description: String }

/// A certificate with its key, and the one that signed it.
package struct TestIdentity {
    package let certificate: String
    package let key: String
    package let root: String
    /// Whether a server with it asks its clients for one.
    package var asksClients = false

    /// Of a server.
    package var options: [String] {
        [
            "--tls-cert-file", certificate, "--tls-key-file", key, "--tls-ca-cert-file", root,
            "--tls-auth-clients", asksClients ? "yes" : "no",
        ]
    }
}

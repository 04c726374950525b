import Foundation
import TestSupport

/// Signs certificates for a test, in a temporary folder.
package struct TestAuthority {
    /// `nil` if not installed: tests that need it are skipped.
    package static let program: String? = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].map {
        "\($0)/openssl"
    }
    .first { FileManager.default.isExecutableFile(atPath: $0) }

    package let folder = NSTemporaryDirectory() + "vellum-authority-" + UUID().uuidString
    /// The root certificate.
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

    /// A certificate for names such as `DNS:localhost` or `IP:127.0.0.1`. Negative `days`: already expired.
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
            "-days", "\(days)", "-copy_extensions", "copy", "-out", certificate,
        ])
        return TestIdentity(certificate: certificate, key: "\(folder)/\(name).key", root: root)
    }
}

package struct AuthorityError: Error { var description: String }

/// A certificate, its key, and its root.
package struct TestIdentity {
    package let certificate: String
    package let key: String
    package let root: String
    /// Whether servers with this certificate require client certificates.
    package var asksClients = false

    /// The server's command-line options.
    package var options: [String] {
        [
            "--tls-cert-file", certificate, "--tls-key-file", key, "--tls-ca-cert-file", root,
            "--tls-auth-clients", asksClients ? "yes" : "no",
        ]
    }
}

#if ValkeyTLS
import Foundation
import ServerSupport
import TestSupport
import Testing
import Vellum
import VellumRemote
import VellumValkey

@Suite struct ValkeyTLSTests {
    @Test(.disabled("built without the trait ValkeyTLS: `make test-tls` runs them"))
    func connections() {}

    @Test func withoutTheTraitItIsRefused() throws {
        let error = #expect(throws: ValkeyTLSError.self) { try ValkeyTier("valkeys://cache.example") }
        #expect("\(try #require(error))".contains("traits: [\"ValkeyTLS\"]"))
    }
}
#endif

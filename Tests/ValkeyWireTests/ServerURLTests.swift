import Testing
import ValkeyWire

@Suite struct ServerURLTests {
    @Test("TLS parameters of a URL are decoded, and encoded again") func tlsOptions() throws {
        let url = try ServerURL(
            "rediss://ada:a%3Fb@h:7/2?roots=/etc/a%20b.pem&serverName=cache.example&key=k%26")
        #expect(
            url.isSecure && url.host == "h" && url.port == 7 && url.database == 2 && url.password == "a?b")
        #expect(url.encryption.roots == "/etc/a b.pem" && url.encryption.serverName == "cache.example")
        #expect(url.encryption.certificate == nil && url.encryption.key == "k&")
        let words = url.encryption.words
        #expect(words == "?key=k%26&roots=/etc/a%20b.pem&serverName=cache.example")
        #expect(try ServerURL("valkeys://h" + words).encryption == url.encryption)
        #expect(try ServerURL("valkeys://h").encryption.words == "")
    }

    @Test("the description of a server omits the pace") func pace() throws {
        let full = try ServerURL("valkey://h:7000/2?pace=full")
        #expect(full.isUnpaced && full.port == 7000 && full.database == 2)
        #expect(full.description == "valkey://h:7000")
        #expect(try !ServerURL("valkey://h?pace=polite").isUnpaced)
        let secure = try ServerURL("valkeys://h?roots=a&pace=full")
        #expect(secure.isUnpaced && secure.encryption.roots == "a")
    }

    @Test("numbers with a sign are refused") func signs() {
        for text in ["valkey://:a%+1b@h", "valkey://h:+6379", "valkey://h/+0", "valkey://h/-0"] {
            #expect(throws: ServerURLError.self) { try ServerURL(text) }
        }
        // A URL with a mistyped scheme isn't treated as a folder, because messages would print it with the password.
        #expect(ServerURL.isURL("Valkey://:secret@h") && ServerURL.isURL("valky://:secret@h"))
        #expect(!ServerURL.isURL("/folder") && !ServerURL.isURL("folder"))
    }

    @Test(arguments: [
        "valkey://h?roots=a", "valkeys://h?roots", "valkeys://h?color=red", "valkeys://h?roots=%zz",
        "valkey://h?", "valkey://h?pace=fast", "valkeys://h?pace=fast",
    ])
    func invalidOptions(text: String) {
        let error = #expect(throws: ServerURLError.self) { try ServerURL(text) }
        #expect(error?.description.contains("?") == true)
    }
}

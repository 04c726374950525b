import Testing
import ValkeyWire

struct LogInTests {
    /// Neither from the server's own text nor from a gap in it.
    @Test(arguments: [
        ("ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' 'me' 'hunter2' ", "hunter2"),
        ("ERR unknown command `HELLO`, with args beginning with: `3`, `AUTH`, `me`, `hun", "hunter2"),
        ("ERR no such thing: HELLO 3 AUTH me hunter2", "hunter2"), ("hunter2", "hunter2"),
        ("WRONGPASS hunter2", "hunter2"),
    ])
    func passwordIsHidden(message: String, password: String) {
        let reason = LogIn.reason(message, without: password)
        #expect(!reason.contains("hun") && !reason.isEmpty)
    }

    @Test("a short password isn't recognisable from removed parts") func shortPasswords() {
        let message = "WRONGPASS invalid username-password pair or user is disabled."
        let reasons = ["pass", "user", "S", "a", "never"].map { LogIn.reason(message, without: $0) }
        #expect(Set(reasons).count == 1 && reasons[0].hasPrefix("WRONGPASS"))
    }

    @Test("other reasons are shown") func reasons() {
        let message = "ERR max number of clients reached"
        #expect(LogIn.reason(message, without: "hunter2") == message)
        #expect(LogIn.reason("NOAUTH it's \"closed\"", without: nil) == "NOAUTH it's \"closed\"")
        #expect(LogIn.reason("ERR it's closed", without: "hunter2") == "ERR it…")
    }
}

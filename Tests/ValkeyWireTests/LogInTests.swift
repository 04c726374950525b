import Testing
import ValkeyWire

struct LogInTests {
    private func reason(_ message: String, _ password: String?) -> String {
        LogIn(user: nil, password: password, name: "test").reason(message)
    }

    /// Neither the server's text nor a gap in it reveals the password.
    @Test(arguments: [
        ("ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' 'me' 'hunter2' ", "hunter2"),
        ("ERR unknown command `HELLO`, with args beginning with: `3`, `AUTH`, `me`, `hun", "hunter2"),
        ("ERR no such thing: HELLO 3 AUTH me hunter2", "hunter2"), ("hunter2", "hunter2"),
        ("WRONGPASS hunter2", "hunter2"),
    ])
    func passwordIsHidden(message: String, password: String) {
        let reason = reason(message, password)
        #expect(!reason.contains("hun") && !reason.isEmpty)
    }

    @Test("a refusal doesn't reveal a short password") func shortPasswords() {
        let message = "WRONGPASS invalid username-password pair or user is disabled."
        let reasons = ["pass", "user", "S", "a", "never"].map { reason(message, $0) }
        #expect(Set(reasons).count == 1 && reasons[0].hasPrefix("WRONGPASS"))
    }

    @Test("a refusal without the password is shown") func reasons() {
        let message = "ERR max number of clients reached"
        #expect(reason(message, "hunter2") == message)
        #expect(reason("NOAUTH it's \"closed\"", nil) == "NOAUTH it's \"closed\"")
        #expect(reason("ERR it's closed", "hunter2") == "ERR it…")
    }
}

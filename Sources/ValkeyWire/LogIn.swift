/// The first command of a connection.
package struct LogIn: Sendable {
    private let user: String?
    private let password: String?
    private let name: String

    /// - Parameter name: the connection's name in the server's list of clients.
    package init(user: String?, password: String?, name: String) {
        (self.user, self.password, self.name) = (user, password, name)
    }

    package var hasCredentials: Bool { user != nil || password != nil }

    package var hello: RESPCommand {
        var hello = RESPCommand("HELLO", "3")
        // A user without a password accepts any password.
        if hasCredentials { hello = hello + "AUTH" + (user ?? "default") + (password ?? "") }
        return hello + "SETNAME" + name
    }

    /// The command of servers before version 6, which have no `HELLO`.
    package var auth: RESPCommand {
        user.map { RESPCommand("AUTH", $0, password ?? "") } ?? RESPCommand("AUTH", password ?? "")
    }

    /// The command that names the connection on servers without `HELLO`.
    package var setName: RESPCommand { RESPCommand("CLIENT", "SETNAME", name) }

    package static func isUnknown(_ message: String) -> Bool { message.contains("unknown command") }

    /// A server's refusal up to its first quotation mark, safe for logs. A refusal that contains the password is replaced entirely,
    /// because a gap would reveal the length of the password.
    package func reason(_ message: String) -> String {
        if message.hasPrefix("WRONGPASS") {
            return "WRONGPASS: wrong user or password, or the user is disabled"
        }
        guard let password, !password.isEmpty else { return message }
        // Servers quote the request, and with it the password or a part of it.
        let shown = message.prefix { !"'`\"".contains($0) }
        guard !shown.contains(password) else { return "reason hidden: it contains the password" }
        return shown.endIndex == message.endIndex ? message : shown + "…"
    }
}

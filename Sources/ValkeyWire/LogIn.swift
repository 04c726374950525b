/// Messages about a login, safe for logs.
package enum LogIn {
    /// A server's refusal up to its first quotation mark. One that contains the password isn't shown: a gap would reveal its length.
    package static func reason(_ message: String, without password: String?) -> String {
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

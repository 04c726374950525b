/// What people and logs are told of a log-in.
package enum LogIn {
    /// A server's refusal, without the password, which it may repeat or cut; in known words a gap would tell its length.
    package static func reason(_ message: String, without password: String?) -> String {
        if message.hasPrefix("WRONGPASS") {
            return "WRONGPASS: wrong user or password, or the user is disabled"
        }
        guard let password, !password.isEmpty else { return message }
        // What was sent stands between quotation marks.
        let shown = message.prefix { !"'`\"".contains($0) }
        guard !shown.contains(password) else { return "its reason isn't shown, for the password is in it" }
        return shown.endIndex == message.endIndex ? message : shown + "…"
    }
}

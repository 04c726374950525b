extension Archive {
    /// - Throws: the commands for logs, if this is a log.
    func requireEntries() throws {
        guard try configuration().kind == .log else { return }
        throw CommandFailure(
            "archive \"\(name)\" is a log, which has messages and no entries; vellum tail \(name) shows them, "
                + "vellum append \(name) adds to them", status: .usage)
    }

    /// - Throws: the command for entries, unless this is a log.
    func requireMessages() throws {
        let kind = try configuration().kind
        guard kind != .log else { return }
        throw CommandFailure(
            "archive \"\(name)\" is a \(kind), and only a log has messages; vellum keys \(name) shows its entries",
            status: .usage)
    }
}

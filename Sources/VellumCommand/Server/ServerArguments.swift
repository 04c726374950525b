import ServerInspection

extension StoreArguments {
    func server() throws(CommandFailure) -> ServerAddress? { try Self.server(named) }

    static func server(_ name: String?) throws(CommandFailure) -> ServerAddress? {
        guard let name, ServerAddress.isURL(name) else { return nil }
        let password = SystemText.environment("VALKEYCLI_AUTH") ?? SystemText.environment("REDISCLI_AUTH")
        do {
            return try ServerAddress(name, password: password)
        } catch {
            throw CommandFailure("\(error)", status: .usage)
        }
    }
}

extension ServerAddress {
    /// ``StateFolder/undoFolder``; nil without a home folder.
    static var undoFolder: String? {
        StateFolder.standard(environment: ProcessInfo.processInfo.environment)?.undoFolder
    }

    /// Refuses to change a remote server without --write.
    func requireWritable(_ isMeant: Bool, by connection: ServerConnection? = nil) throws {
        if isMeant { return }
        if try (connection ?? ServerConnection(self)).isOnThisMachine() { return }
        let reason =
            isLocal
            ? "may not run on this machine (tunnel, proxy, TLS or container)" : "isn't on this machine"
        throw CommandFailure(
            "\(self) \(reason), so it is read-only; pass --write to change it", status: .usage)
    }
}

import ServerInspection
import StoreInspection

/// A server where a store could stand: its address, and what may be done there.
extension StoreArguments {
    /// The server that was named; nil: a store was, or nothing.
    func server() throws(CommandFailure) -> ServerAddress? { try Self.server(named) }

    static func server(_ name: String?) throws(CommandFailure) -> ServerAddress? {
        guard let name, ServerAddress.isAddress(name) else { return nil }
        let password =
            SystemText.environment("VALKEYCLI_AUTH") ?? SystemText.environment("REDISCLI_AUTH")
        do {
            return try ServerAddress(name, password: password)
        } catch {
            throw CommandFailure("\(error)", status: .usage)
        }
    }
}

extension ServerAddress {
    /// Of the store that keeps what was deleted on servers; nil where there is no home.
    static var undoFolder: String? {
        StateFile.folder(
            "XDG_STATE_HOME", or: ".local/state", environment: ProcessInfo.processInfo.environment
        )
        .map { $0 + "/undo" }
    }

    /// Refuses to change a server of others unless somebody says that it is meant.
    func requireWritable(_ isMeant: Bool) throws {
        if isMeant { return }
        if try ServerConnection(self).isOnThisMachine() { return }
        let reason =
            isLocal
            ? "can't be proved to run on this machine (a tunnel, a proxy, TLS or a container is between)"
            : "isn't on this machine"
        throw CommandFailure(
            "\(self) \(reason), so it is only looked at; --write lets it be changed", status: .usage)
    }
}

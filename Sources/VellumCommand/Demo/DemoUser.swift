import CBOR

/// Sessions of the users: each is its user's only one, and expires when idle.
enum DemoUser {
    static let sessions = 400
    static let lifetime = Duration.seconds(45)

    private static let names = [
        "ada", "alan", "barbara", "dennis", "donald", "edsger", "frances", "grace", "hedy", "jean", "john",
        "katherine", "ken", "leslie", "margaret", "niklaus", "radia", "tony",
    ]
    private static let devices = ["phone", "laptop", "tablet"]

    static func name(_ session: Int) -> String { names[session % names.count] }

    static func key(_ session: Int) -> String {
        let token = String(UInt32(truncatingIfNeeded: (session + 1) &* 0x9e37_79b9), radix: 16)
        return "session:\(name(session)):" + String(repeating: "0", count: 8 - token.count) + token
    }

    static func attributes(_ session: Int) -> EntryAttributes {
        EntryAttributes(lifetime: lifetime, owner: name(session))
    }

    /// `seen`: keys of visited entries.
    static func value(_ session: Int, seen: [String]) -> [UInt8] {
        CBORValue.map(
            CBORMap([
                .init(key: "user", value: .text(name(session))),
                .init(key: "device", value: .text(devices[session % devices.count])),
                .init(key: "signedIn", value: .boolean(session % 3 != 0)),
                .init(key: "seen", value: .array(seen.map { .text($0) })),
            ])
        ).encoded
    }
}

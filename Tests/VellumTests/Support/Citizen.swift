import Vellum

/// An object with a property of every kind that finders support.
struct Citizen: ArchiveCodable, Sendable, Equatable {
    struct Address: Codable, Sendable, Equatable {
        var city = ""
        var zip: Int?
    }

    var primaryKey: String { name }
    var name: String
    var age = 0
    var nick: String?
    var children: Int?
    var height: Double?
    var tags: [String] = []
    var former: [String]?
    var languages: Set<String> = []
    var home = Address()
    var work: Address?
}

import Vellum

struct City: ArchiveCodable {
    var primaryKey: String { name }
    var name: String
    var country: String
    var population: Int
    var rivers: [String]

    /// One of a made-up world.
    init(number: Int) {
        name = "City \(number)"
        country = ["ID", "DE", "BR", "NG"][number % 4]
        population = number * 7_919 % 1_000_000
        rivers = number % 10 == 0 ? ["River \(number / 10)"] : []
    }
}

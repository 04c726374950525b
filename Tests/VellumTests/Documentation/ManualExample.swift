// The example of Assets/manual/Library.md, identical below this line; a test compares the two.
import Vellum

func findAdults() throws -> [User] {
    let users = try ArchivesFactory.shared.archives(for: User.self)
    return users.findWhere { user in
        user.age(.greaterOrEqual(with: 18)).fullName(.contains("Love"))
    }
    .sorted { by in by.age(.descending).userName(.ascending) }
    .limitResults(by: 10)
    .getResults()
}

final class Screen {
    @Archived(initialPrimaryKey: "ada") var user: User?  // assigning stores it

    func rename() { user?.fullName = "Ada King" }
}

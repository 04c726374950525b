import Foundation
import Testing

/// The compiler's diagnostics for queries and properties in a user's module.
@Suite(.enabled(if: Compiler.shared != nil, "needs the compiler and the built module"))
struct DiagnosticTests {
    private static let types = """
        import Vellum

        struct Place: Codable, Sendable {
            var city = ""
        }

        struct User: Codable, Archivable, Sendable {
            var primaryKey: String { userName }
            var userName: String
            var age: Int
            var nick: String?
            var place: Place
            var work: Place?
            var conditions = 0
            var path = ""
        }

        final class Item: Archivable, Codable {
            var primaryKey: String { name }
            var name = ""
        }

        """

    @Test("valid uses compile without warnings") func validUses() throws {
        let output = try #require(Compiler.shared).check(
            Self.types + """
                func use(_ users: some Archivist<User>) {
                    let found = users.findWhere { user in
                        user.userName(.contains("premium")).age(.isNotEqual(nil)).nick(.isNil).nick(.isNil())
                            .place.city(.isEqual("Jakarta")).work.city(.isNotNil())
                            // Names that the library uses, too.
                            .conditions(.isEqual(with: 0)).path(.isEmpty)
                    }
                    _ = found.sorted { by in by.age(.ascending).nick(.descending).work.city(.ascending).path(.ascending) }
                        .limitResults(by: 10).getResults()
                }

                class Screen {
                    @Archived var user: User?
                    @Archived(initialPrimaryKey: "some") var friend: User?
                    @Archived var guest: User? = nil
                    @Archived(initialPrimaryKey: "some") var item: Item? = Item()
                    @Archived(in: .shared) var other: Item?
                }

                struct Model {
                    @Archived var user: User?
                    @Archived(initialPrimaryKey: "some", in: .shared) var friend: User?
                }

                actor Account {
                    @Archived var user: User?
                    func grow() { user?.age += 1 }
                }

                @MainActor final class MainScreen {
                    @Archived var user: User?
                    func grow() { user?.age += 1 }
                }

                final class Holder: Sendable {
                    let user = Archived<User>()
                    func clear() { user.wrappedValue = nil }
                }

                let everybodys = Archived<User>(initialPrimaryKey: "some")

                func local() -> User? {
                    @Archived var user: User?
                    user?.age = $user?.findWhere { $0.age(.less(than: 30)) }.firstResult()?.age ?? 0
                    return user
                }
                """)
        #expect(output == "")
    }

    @Test("invalid uses have one helpful error") func invalidUses() throws {
        let wrong: [(code: String, error: String)] = [
            (
                "users.findWhere { $0.place(.greater(than: Place())) }",
                "'greater(than:)' on 'PropertyFinder' requires that 'Place' conform to 'Comparable'"
            ),
            (
                "users.findWhere { $0.work(.less(than: Place())) }",
                "'less(than:)' on 'PropertyFinder' requires that 'Place' conform to 'Comparable'"
            ),
            (
                "users.findWhere { $0.place(.isEqual(with: Place())) }",
                "'isEqual(with:)' on 'PropertyFinder' requires that 'Place' conform to 'Equatable'"
            ),
            (
                "users.findWhere { $0.age(.contains(string: \"x\")) }",
                "on 'PropertyFinder' requires the types 'Int' and 'String' be equivalent"
            ),
            (
                "users.findWhere { $0.age(.contains(with: 1)) }",
                "'contains(with:)' on 'PropertyFinder' requires that 'Int' conform to 'Collection'"
            ),
            (
                "users.findWhere { $0.age(.countEqual(with: 1)) }",
                "'countEqual(with:)' on 'PropertyFinder' requires that 'Int' conform to 'Collection'"
            ),
            ("users.findWhere { $0.age(.isEmpty) }", "requires that 'Int' conform to 'Collection'"),
            ("users.findWhere { $0.age(.isNil) }", "this property is not optional, so it is never nil"),
            ("users.findWhere { $0.age(.isNotNil()) }", "this property is not optional, so it is never nil"),
            ("users.findWhere { $0.path(.isNilOrEmpty()) }", "so it is never nil; use isEmpty"),
            ("users.findWhere { $0.path(.isEqual(3)) }", "cannot convert value of type 'Int'"),
            ("users.findWhere { $0.agee(.isEqual(3)) }", "has no dynamic member 'agee'"),
            ("users.sorted { $0.place(.ascending) }", "requires that 'Place' conform to 'Comparable'"),
        ]
        let functions = wrong.enumerated().map { number, wrong in
            "func wrong\(number)(_ users: some Archivist<User>) { _ = \(wrong.code) }\n"
        }
        let output = try #require(Compiler.shared).check(Self.types + functions.joined())
        let first = Self.types.split(separator: "\n", omittingEmptySubsequences: false).count
        for (number, wrong) in wrong.enumerated() {
            let errors = output.split(separator: "\n").filter {
                $0.contains("Snippet.swift:\(first + number):") && $0.contains(" error: ")
            }
            #expect(errors.count == 1, "\(wrong.code)\n\(output)")
            #expect(errors.first?.contains(wrong.error) == true, "\(wrong.code): \(errors)")
        }
    }

    /// Swift refuses the uses that the documentation of `Archived` lists.
    @Test("unsupported uses of archived properties don't compile") func unsupportedProperties() throws {
        let refused: [(code: String, error: String)] = [
            ("@Archived var user: User?", "not yet supported in top-level code"),
            ("enum Session { @Archived static var user: User? }", "not concurrency-safe"),
            ("enum MainSession { @MainActor @Archived static var user: User? }", "not concurrency-safe"),
            ("final class Screen: Sendable { @Archived var user: User? }", "is mutable"),
        ]
        let output = try #require(Compiler.shared).check(
            Self.types + refused.map(\.code).joined(separator: "\n"))
        let first = Self.types.split(separator: "\n", omittingEmptySubsequences: false).count
        for (number, refused) in refused.enumerated() {
            let lines = output.split(separator: "\n").filter {
                $0.contains("Snippet.swift:\(first + number):") && $0.contains(" error: ")
            }
            #expect(lines.contains { $0.contains(refused.error) }, "\(refused.code)\n\(output)")
        }
    }
}

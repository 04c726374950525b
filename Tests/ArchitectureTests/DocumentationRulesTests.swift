import Testing

/// Each rule about documentation comments reports violations with file and line, and nothing else.
@Suite struct DocumentationRulesTests {
    private func undocumented(_ text: String) -> [Int?] {
        let file = SourceFile(path: "Sources/CBOR/a.swift", text: text)
        #expect(DocumentationRules.undocumented(in: [file], library: "Nest") == [])
        return DocumentationRules.undocumented(in: [file], library: "CBOR").map(\.line)
    }

    @Test(arguments: [
        "public func a() {}", "@inlinable public static func a() {}", "public internal(set) var a = 1",
        "open class A {}", "    public init?(_ a: Int) {}", "@available(*, deprecated) public let a = 1",
        "@a\npublic class func b() {}", "// a\npublic var a: Int { 1 }", "public typealias A = Int",
    ])
    func findsUndocumented(text: String) {
        #expect(undocumented(text) == [text.contains("\n") ? 2 : 1])
    }

    @Test(arguments: [
        "/// a\npublic func a() {}", "/// a\n@inlinable\n@b(c)\npublic func a() {}", "package func a() {}",
        "/// a\n@available(\n    macOS 15, *\n)\n// c\npublic struct A {}",
        "public static func _a() {}", "@available(*, unavailable, message: \"b\")\npublic var a: Int { 1 }",
        "func a() {}", "public import A", "// public func a() {}", "let a = \"public func a() {}\"",
        "open override func a() {}", "public static func == (a: A, b: A) -> Bool { true }",
        "public func hash(into a: inout Hasher) {}", "public var description: String { \"\" }",
        "enum A { case b }", "/// a\npublic enum A {\n    /// b\n    case b\n}\nenum B {\n    case a\n}",
        "/// a\npublic enum A {\n    func b() {\n        switch self {\n        case .b: 1\n        }\n    }\n}",
    ])
    func acceptsOtherLines(text: String) {
        #expect(undocumented(text) == [])
    }

    @Test("finds undocumented members that are public implicitly") func implicitlyPublicMembers() {
        let text = """
            /// a
            public enum A {
                case a
                /// b
                case b, c
                /// d
                public enum D {
                    case d
                }
                indirect case e(Int)
            }
            /// p
            public protocol P {
                var a: Int { get }
                /// b
                associatedtype B
                mutating func c()
            }
            """
        #expect(undocumented(text) == [3, 8, 10, 14, 17])
    }

    private func unknown(_ comment: String) -> [String] {
        let code = """
            struct Row<Key> {
                var width: Int
                init?(_ keys: [Key: Int], at place: Int = f(1, 2)) {}
                func draw<Value>(_ value: (Int, Int) -> Value, in: [String: Set<Int>]) {}
                static func `default`() {}
                open class func make(_ width: Int) {}
                subscript(key: Int) -> Int { 1 }
            }
            enum Fault { case damaged(Int, at: String), gone }
            """
        let files = [
            SourceFile(path: "Sources/CBOR/Row+Text.swift", text: code),
            SourceFile(path: "Sources/CBOR/b.swift", text: "\n" + comment + "\nlet a = \"``b``\""),
        ]
        let found = ReferenceRules.violations(
            in: files, manifest: SourceFile(path: "Package.swift", text: ""))
        #expect(found.allSatisfy { $0.path == "Sources/CBOR/b.swift" && $0.line == 2 })
        return found.map(\.rule)
    }

    @Test("finds names that nothing declares") func undeclaredNames() {
        #expect(
            unknown("/// ``Col`` and ``Row/draw(_:)``") == [
                "nothing declares ``Col``", "nothing declares ``Row/draw(_:)``",
            ])
        #expect(unknown("// see `Row.swift` and `b.swift`") == ["there is no file Row.swift"])
        #expect(
            unknown(
                """
                /// ``Row`` ``CBOR/Row/width`` ``Row/init(_:at:)`` ``draw(_:in:)`` ``default()`` ``Row/make(_:)`` ``Row/subscript(_:)`` \
                ``Fault/damaged(_:at:)`` ``gone`` ``Row/width-swift.property`` `Row+Text.swift` `Package.swift` `Col`
                """) == [])
    }
}

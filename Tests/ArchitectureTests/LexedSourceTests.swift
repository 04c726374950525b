import Testing

@Suite struct LexedSourceTests {
    /// The source, and the remaining code without blanks at the ends.
    @Test(arguments: [
        ("a // b", "a"),
        ("a /* b /* c */ d */ e", "a                   e"),
        (#"a "b // c" d"#, "a          d"),
        (#"a "\"b" c"#, "a       c"),
        (##"a #"b " c"# d"##, "a           d"),
        (#"a "b \(c("d")) e" f"#, "a     (c(   ))    f"),
        ("a \"b\n c", "a   \n c"),
        ("a \"\"\"\n b \"c\" \n \"\"\" d", "a    \n       \n     d"),
        ("a /* b\n c", "a     \n"),
    ])
    func leavesCode(source: String, expected: String) {
        let result = LexedSource(source).text(keeping: [.code])
        #expect(result.count == source.count)
        #expect(result.trimmingSuffix(while: { $0 == " " }) == expected)
    }

    @Test func separatesCommentsFromStrings() {
        let source = LexedSource("a \"b\" // c")
        #expect(source.text(keeping: [.comment]) == "      // c")
        #expect(source.text(keeping: [.code, .string]) == "a \"b\"     ")
    }
}

extension String {
    fileprivate func trimmingSuffix(while condition: (Character) -> Bool) -> String {
        String(reversed().drop(while: condition).reversed())
    }
}

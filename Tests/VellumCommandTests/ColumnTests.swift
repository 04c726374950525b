import Foundation
import Testing

/// A column has one type: fields typed one by one made 19.99 a number and 20.00 a text, and a sum lost rows.
@Suite("columns of CSV and TSV")
struct ColumnTests {
    let store = TestStore()

    private func values(_ result: Vellum.Result) throws -> [String] {
        #expect(result.status == 0, "\(result.errors)")
        return try store.done("export", "A").lines
    }

    @Test func readsNumbersInAnySpelling() throws {
        let result = try store.importing("a.csv", "id,price\n1,19.99\n2,20.00\n3,5.50\n4,\n")
        #expect(
            try values(result) == [
                "{\"id\":1,\"price\":19.99}", "{\"id\":2,\"price\":20.0}", "{\"id\":3,\"price\":5.5}",
                "{\"id\":4}",
            ])
        #expect(
            result.errors.contains(
                "column \"price\" has numbers: the spelling of \"20.00\" (line 3) is not kept"))
        #expect(result.errors.contains("--types price=text"))
    }

    @Test("reports only numbers whose spelling changes") func reportsChangedSpelling() throws {
        let content =
            "id,a,b,c,d\n1,1e+22,1e-05,1.0e+400,0.00012\n"
            + "2,-1.5e+300,5e-324,-1.2e-400,123456789012345678901.5\n"
        let kept = try store.importing("a.csv", content)
        #expect(kept.status == 0 && !kept.errors.contains("column "), "\(kept.errors)")
        #expect(try store.done("export", "A", "--format", "csv").text == content)
        for (number, written) in [
            ("1e22", "1e+22"), ("0.00001", "1e-05"), ("1e5", "100000.0"), ("-0", "-0.0"),
        ] {
            let result = try store.importing("a.csv", "id,a\n1,\(number)\n")
            #expect(result.errors.contains("the spelling of \"\(number)\" (line 2) is not kept"), "\(number)")
            #expect(try store.done("get", "A", "1", "--json").text == "{\"id\":1,\"a\":\(written)}\n")
        }
    }

    @Test func mixedColumnsStayText() throws {
        let result = try store.importing("a.csv", "id,n,f,z\n1,5,true,01\n2,n/a,maybe,2\n3,x,null,null\n")
        #expect(
            try values(result) == [
                "{\"id\":1,\"n\":\"5\",\"f\":\"true\",\"z\":\"01\"}",
                "{\"id\":2,\"n\":\"n/a\",\"f\":\"maybe\",\"z\":\"2\"}",
                "{\"id\":3,\"n\":\"x\",\"f\":\"null\",\"z\":\"null\"}",
            ])
        let said = result.errors.split(separator: "\n").filter { $0.hasPrefix("column ") }
        #expect(said.count == 3)
        #expect(said[0].hasPrefix("column \"n\" has mixed types and is read as text: \"n/a\" (line 3)"))
        #expect(said[1].hasPrefix("column \"f\" has mixed types and is read as text: \"maybe\" (line 3)"))
        #expect(said[2].hasPrefix("column \"z\" has mixed types and is read as text: \"01\" (line 2)"))
    }

    @Test func uniformColumnsAreNotReported() throws {
        let result = try store.importing(
            "a.csv", "id,n,f,t,q\n1,5,true,a,\"1\"\n2,-1.5,false,b,\"x\"\n3,null,null,c,\n")
        #expect(
            try values(result) == [
                "{\"id\":1,\"n\":5,\"f\":true,\"t\":\"a\",\"q\":\"1\"}",
                "{\"id\":2,\"n\":-1.5,\"f\":false,\"t\":\"b\",\"q\":\"x\"}",
                "{\"id\":3,\"n\":null,\"f\":null,\"t\":\"c\"}",
            ])
        #expect(!result.errors.contains("column "))
    }

    @Test func keysMayLookLikeOtherTypes() throws {
        let result = try store.importing("a.csv", "id,v\nnull,1\nfalse,2\n1.50,3\n7,4\n").expect(0)
        #expect(try store.keys("A") == ["7", "1.50", "false", "null"])
        #expect(result.errors.contains("column \"id\", the key column, is text"))
    }

    @Test func typesOptionDecides() throws {
        let content = "id,price,version,\"a,b\"\n1,1.50,1.10,3\n2,n/a,1.9,4\n3,null,2,5\n"
        let result = try store.importing(
            "a.csv", content, "--types", "price=number,version=text", "--types", "a,b=text")
        #expect(result.errors.contains("a.csv:3: column \"price\" is not a number"))
        #expect(
            try values(result) == [
                "{\"id\":1,\"price\":1.5,\"version\":\"1.10\",\"a,b\":\"3\"}",
                "{\"id\":3,\"price\":null,\"version\":\"2\",\"a,b\":\"5\"}",
            ])
        let unknown = try store.importing("a.csv", content, "--types", "prize=number")
        #expect(unknown.status == 2 && unknown.errors.contains("its columns are id, price, version, a,b"))
        for wrong in ["price", "price=float", "=", "", "price=text,price=number"] {
            #expect(try store.importing("a.csv", content, "--types", wrong).status == 2, "\(wrong)")
        }
        #expect(try store.importing("a.csv", content, "--types", "price=text", "--text").status == 2)
        #expect(try store.importing("a.ndjson", "{\"id\":1}", "--types", "id=text").status == 2)
    }

    /// Only true, false and null are Booleans; a column that has no others isn't reported.
    @Test func readsBooleans() throws {
        let content = "id,flag,all\n1,true,true\n2,yes,false\n3,null,\n4,false,true\n"
        let result = try store.importing(
            "a.csv", content + "5,1,true\n", "--types", "flag=boolean,all=boolean")
        #expect(
            try values(result) == [
                "{\"id\":1,\"flag\":true,\"all\":true}", "{\"id\":3,\"flag\":null}",
                "{\"id\":4,\"flag\":false,\"all\":true}",
            ])
        for line in [3, 6] {
            #expect(result.errors.contains("a.csv:\(line): column \"flag\" is not true or false\n"))
        }
        #expect(result.errors.contains("2 records skipped"), "\(result.errors)")
        try store.done("drop", "A", "--yes")
        let mixed = try store.importing("a.csv", content)
        #expect(
            mixed.errors.contains("column \"flag\" has mixed types and is read as text: \"yes\" (line 3)"))
        #expect(mixed.errors.contains("--types flag=boolean") && !mixed.errors.contains("column \"all\""))
        #expect(try values(mixed)[1] == "{\"id\":2,\"flag\":\"yes\",\"all\":false}")
        #expect(try store.importing("a.csv", content, "--types", "flag=bool").status == 2)
    }

    @Test func decidesColumnsOfTSV() throws {
        let rows = [
            "id\tprice\tn\tflag", "1\t19.99\t5\ttrue", "2\t20.00\tn/a\tfalse", "3\t5.50\tnull\tnull",
            "4\t\t7\t",
        ]
        let result = try store.importing("a.tsv", rows.joined(separator: "\n"))
        #expect(
            try values(result) == [
                "{\"id\":1,\"price\":19.99,\"n\":\"5\",\"flag\":true}",
                "{\"id\":2,\"price\":20.0,\"n\":\"n/a\",\"flag\":false}",
                "{\"id\":3,\"price\":5.5,\"n\":\"null\",\"flag\":null}", "{\"id\":4,\"n\":\"7\"}",
            ])
        let said = result.errors.split(separator: "\n").filter { $0.hasPrefix("column ") }
        #expect(said.count == 2, "\(result.errors)")
        #expect(result.errors.contains("column \"n\" has mixed types and is read as text: \"n/a\" (line 3)"))
        #expect(result.errors.contains("the spelling of \"20.00\" (line 3) is not kept"))
        #expect(try store.done("query", "A", "find price > 5 | count").text == "3\n")
        let typed = try store.importing(
            "a.tsv", rows.joined(separator: "\n"), "--types", "n=number,price=text")
        #expect(typed.errors.contains("a.tsv:3: column \"n\" is not a number"), "\(typed.errors)")
        #expect(
            try store.done("get", "A", "1", "--json").text
                == "{\"id\":1,\"price\":\"19.99\",\"n\":5,\"flag\":true}\n")
    }

    /// The input is larger than the buffer, and only its last row shows the type.
    @Test func pipesAreTypedLikeFiles() throws {
        let rows =
            (0..<40_000).map { "\($0),\($0).5,value \($0) of a longer text\n" }.joined() + "x,none,last\n"
        let content = "id,n,t\n" + rows
        let file = try store.folder.file("a.csv", content)
        try store.done("import", "F", file, "--key", "id")
        try Vellum.shell(
            "cat \"$2\" | \"$0\" import P - --key id --format csv --store \"$1\"", store.path, file
        ).expect(0, errors: "column \"n\" has mixed types")
        #expect(try store.done("diff", "F", "P").status == 0)
        #expect(try store.done("get", "P", "0", "--json").text.hasPrefix("{\"id\":\"0\",\"n\":\"0.5\","))
    }

    @Test func textsAmongNumbersSurviveCSV() throws {
        let lines = [
            "{\"id\":1,\"v\":1.5,\"w\":true}", "{\"id\":2,\"v\":\"abc\",\"w\":\"x\"}",
            "{\"id\":3,\"v\":\"2\",\"w\":null}",
        ]
        #expect(try store.reimported(lines, by: "a.csv").lines == lines)
        // TSV can't distinguish them, and reports that.
        #expect(
            try store.done("export", "A", store.folder / "a.tsv").errors.contains(
                "\"v\", \"w\", which have both"))
    }

    @Test("a column of long numbers has no texts")
    func longNumbersAreNumbers() throws {
        let line = "{\"id\":1,\"v\":123456789012345678901234567890,\"w\":0.1234567890123456789012}"
        let copy = try store.reimported([line], by: "a.tsv")
        #expect(!copy.reported.contains("which have both"))
        #expect(try store.done("diff", "A", "B").status == 0)
    }

    @Test func tsvEscapesSurvive() throws {
        let texts = [
            "", "1", "true", "null", "a\\tb", "a\\nb", "\\\"quoted\\\"", "\\\"1\\\"", "[1]", "\\\"[1]\\\"",
            " x ", "\\\"a, b\\\"", "\\\"",
        ]
        let lines = texts.enumerated().map { "{\"id\":\($0),\"v\":\"\($1)\"}" }
        #expect(try store.reimported(lines, by: "a.tsv").lines == lines)
        let content = try String(contentsOfFile: store.folder / "a.tsv", encoding: .utf8)
        #expect(content.split(separator: "\n").count == texts.count + 1)
    }
}

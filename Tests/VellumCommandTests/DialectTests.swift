import Foundation
import Testing

/// Files of other programs: delimiters, quotes, spaces, headers and spellings of numbers.
@Suite("dialects of CSV and TSV")
struct DialectTests {
    let store = TestStore()

    private func importing(_ name: String, _ content: String, _ options: [String] = [], key: String = "id")
        throws
        -> Vellum.Result
    {
        let file = try store.folder.file(name, content)
        return try Vellum.run(["--store", store.path, "import", "A", file, "--key", key] + options)
    }

    private func objects(_ name: String, _ content: String, _ options: [String] = [], key: String = "id")
        throws
        -> (lines: [String], errors: String)
    {
        let result = try importing(name, content, options, key: key).expect(0)
        return (try store.done("export", "A").lines, result.errors)
    }

    static let two = [#"{"id":1,"name":"Jakarta"}"#, #"{"id":2,"name":"Bogor"}"#]

    @Test(
        "finds the delimiter that makes the key a column, and reports it",
        arguments: [(";", "semicolons"), ("\t", "tabs"), ("|", "bars"), ("^", "carets")])
    func findsDelimiter(delimiter: String, name: String) throws {
        let content = "id,name\n1,Jakarta\n2,Bogor\n".replacing(",", with: delimiter)
        let found = try objects("a.csv", content)
        #expect(found.lines == Self.two)
        #expect(found.errors.contains("\(name) separate its fields"))
    }

    @Test("reads commas in a file that is named TSV")
    func readsCommasInTSV() throws {
        let found = try objects("a.tsv", "id,name\n1,Jakarta\n2,Bogor\n")
        #expect(found.lines == Self.two && found.errors.contains("commas separate its fields"))
    }

    @Test(
        "takes the delimiter of a line sep= and counts that line",
        arguments: ["sep=;\r\n", "\"sep=;\"\n", "\u{feff}sep=;\n"])
    func takesDelimiterOfLine(line: String) throws {
        let result = try importing("a.csv", line + "id;name\n1;Jakarta\n2;Bogor\n3\n")
        #expect(try store.done("export", "A").lines == Self.two)
        #expect(result.errors.contains("a.csv:5: "), "\(result.errors)")
    }

    @Test("an option overrides the detected dialect")
    func optionOverridesDelimiter() throws {
        #expect(
            try objects("a.csv", "id#name\n1#Jakarta\n2#Bogor\n", ["--delimiter", "#"]).lines == Self.two)
        #expect(
            try objects("b.csv", "id\tname\n1\tJakarta\n2\tBogor\n", ["--delimiter", "tab"]).lines == Self.two
        )
        for wrong in [
            ["--delimiter", ";;"], ["--delimiter", "é"], ["--quote", ""], ["--decimal", ";"],
            ["--delimiter", "\""], ["--delimiter", ";", "--quote", ";"], ["--header", "id,id"],
        ] {
            #expect(try importing("a.csv", "id\n1\n", wrong).status == 2, "\(wrong)")
        }
        #expect(try importing("a.ndjson", "{\"id\":1}\n", ["--trim"]).status == 2)
    }

    @Test("a quote that the file names as its delimiter is refused, others are accepted")
    func quoteIsNoDelimiter() throws {
        try importing("a.csv", "sep=;\nid;name\n1;Jakarta\n", ["--quote", ";"]).expect(2, errors: "--quote")
        #expect(try objects("b.csv", "id;name\n1;Jakarta\n2;Bogor\n", ["--quote", ","]).lines == Self.two)
    }

    @Test("skips and counts repetitions of the header", arguments: ["a.csv", "a.tsv"])
    func repeatedHeaders(name: String) throws {
        let content = "id,name,n\n1,Jakarta,5\nid,name,n\n2,Bogor,6\nid,name,n\nid,name\n"
        let found = try objects(name, name == "a.csv" ? content : content.replacing(",", with: "\t"))
        #expect(found.lines == [#"{"id":1,"name":"Jakarta","n":5}"#, #"{"id":2,"name":"Bogor","n":6}"#])
        #expect(found.errors.contains("2 lines skipped: equal to the header"), "\(found.errors)")
        #expect(found.errors.contains(":6: found 2 fields"), "\(found.errors)")
    }

    @Test("an entry that equals the header is exported and imported")
    func entryLikeHeader() throws {
        let lines = [#"{"id":"id","name":"name"}"#, #"{"id":"x","name":"y"}"#]
        try store.done("import", "A", "-", "--key", "id", input: lines.joined(separator: "\n"))
        let tables = [
            try store.done("export", "A", "--format", "csv"),
            try store.done("query", "A", "select id, name", "--csv"),
        ]
        for table in tables {
            try store.done("import", "B", "-", "--format", "csv", "--key", "id", input: table.text)
            #expect(try store.done("export", "B").lines.sorted() == lines)
            try store.done("drop", "B", "--yes")
        }
    }

    @Test("an entry that equals the header is imported even if quotes can't distinguish it")
    func entryLikeHeaderWithoutQuotes() throws {
        for names in [("id", "name"), ("1", "2")] {
            let lines = [
                #"{"\#(names.0)":"\#(names.0)","\#(names.1)":"\#(names.1)"}"#,
                #"{"\#(names.0)":"x","\#(names.1)":"y"}"#,
            ]
            try store.done("import", "A", "-", "--key", names.0, input: lines.joined(separator: "\n"))
            for format in ["csv", "tsv"] {
                let table = try store.done("export", "A", "--format", format).text
                // The header of the second file is skipped.
                try store.done("import", "B", "-", "--format", format, "--key", names.0, input: table + table)
                #expect(try store.done("export", "B").lines.sorted() == lines.sorted(), "\(format) \(table)")
                try store.done("drop", "B", "--yes")
            }
            try store.done("drop", "A", "--yes")
        }
    }

    @Test("an empty line before a repeated header is ignored where quotes distinguish entries")
    func repeatedHeaderBehindEmptyLine() throws {
        #expect(try objects("a.csv", "id,name\n1,Jakarta\n\nid,name\n2,Bogor\n").lines == Self.two)
    }

    @Test(
        "skips a repeated header behind a byte order mark or a line sep=",
        arguments: [
            "\u{feff}id;name\r\n", "sep=;\r\nid;name\r\n", "\u{feff}\"sep=;\"\r\nid;name\r\n",
            "\u{feff}\"id\";\"na;me\"\r\n",
        ])
    func repeatedHeaderOfFile(header: String) throws {
        let name = header.contains("na;me") ? "na;me" : "name"
        let found = try objects("a.csv", header + "1;Jakarta\r\n" + header + "2;Bogor\r\n")
        #expect(found.lines == Self.two.map { $0.replacing("name", with: name) })
        #expect(found.errors.contains("equal to the header"), "\(found.errors)")
    }

    @Test("a row that only resembles the line sep= is an entry")
    func rowsLikeTheSeparatorLine() throws {
        let one = try objects("a.csv", "sep=,\nid\na\n\"sep=x\"\nsep=y\nsep=,\nid\nb\n")
        #expect(one.lines.count == 4 && one.errors.contains("2 lines"), "\(one)")
        let two = try objects("a.csv", "sep=;\nid;n\na;1\n\"sep=\";\nb;2\n")
        #expect(two.lines.count == 3 + 2, "\(two)")
    }

    @Test("names a column whose text looks like bytes", arguments: ["a.csv", "a.tsv"])
    func keyLikeBytes(name: String) throws {
        let delimiter = name == "a.csv" ? "," : "\t"
        let content = "\\h'00'\(delimiter)n\nx\(delimiter)1\n"
        #expect(try objects(name, content, key: "h'00'").lines == [#"{"\\h'00'":"x","n":1}"#])
        #expect(try importing(name, content, key: "\\h'00'").status == 2)
    }

    @Test("a number in quotes is a text beside decimal commas")
    func quotedDecimalComma() throws {
        let found = try objects("a.csv", "id;a\n1;1,5\n2;\"2,5\"\n3;\"null\"\n")
        #expect(found.lines == [#"{"id":1,"a":1.5}"#, #"{"id":2,"a":"2,5"}"#, #"{"id":3,"a":"null"}"#])
        #expect(found.errors.contains("column \"a\" has mixed types"), "\(found.errors)")
    }

    @Test("refuses a file without a header that two delimiters divide evenly")
    func refusesAmbiguousDelimiter() throws {
        let content = "1;2,5\n2;3,5\n"
        let result = try importing("a.csv", content, ["--header", "no"], key: "column1")
        #expect(result.status == 2 && result.errors.contains("commas or semicolons"), "\(result.errors)")
        let found = try objects("a.csv", content, ["--header", "no", "--delimiter", ";"], key: "column1")
        #expect(found.lines == [#"{"column1":1,"column2":2.5}"#, #"{"column1":2,"column2":3.5}"#])
    }

    @Test("names columns of a file without a header")
    func namesColumns() throws {
        let content = "1|Jakarta\n2|Bogor\n"
        #expect(try objects("a.csv", content, ["--header", "id,name"]).lines == Self.two)
        #expect(
            try objects("a.csv", content, ["--header", "no"], key: "column1").lines == [
                #"{"column1":1,"column2":"Jakarta"}"#, #"{"column1":2,"column2":"Bogor"}"#,
            ])
        try importing("a.csv", "1,Jakarta\n2,Bogor\n").expect(2, errors: "--header")
    }

    @Test("repeated names get numbers and are reported")
    func repeatedNamesGetNumbers() throws {
        let found = try objects("a.csv", "id,a,a,a 2,id\n1,2,3,4,5\n")
        #expect(found.lines == [#"{"id":1,"a":2,"a 2":3,"a 2 2":4,"id 2":5}"#])
        #expect(found.errors.contains("column 3 is \"a 2\", column 4 is \"a 2 2\", column 5 is \"id 2\""))
    }

    @Test("a space before a quote is dropped")
    func spaceBeforeQuote() throws {
        let found = try objects("a.csv", "id, \"name\", age\n1, \"Ja, \"\"k\"\"\" , 5\n2, \"\", 6\n")
        #expect(found.lines == [#"{"id":1,"name":"Ja, \"k\"","age":5}"#, #"{"id":2,"name":"","age":6}"#])
        #expect(found.errors.contains("spaces around fields are removed"))
        let names = try objects("b.csv", "id, name\n1, Jakarta\n2, Bogor\n")
        #expect(names.lines == Self.two)
    }

    @Test("kept spaces are reported, and --trim removes them")
    func spacesThatStay() throws {
        let content = "id,v ,w\n1, 5,x\n2, 6,y\n"
        let kept = try objects("a.csv", content)
        #expect(kept.lines == [#"{"id":1,"v ":" 5","w":"x"}"#, #"{"id":2,"v ":" 6","w":"y"}"#])
        #expect(kept.errors.contains("names keep spaces that --trim removes: \"v \""))
        #expect(kept.errors.contains("--trim removes them"))
        let trimmed = try objects("a.csv", content, ["--trim"])
        #expect(trimmed.lines == [#"{"id":1,"v":5,"w":"x"}"#, #"{"id":2,"v":6,"w":"y"}"#])
    }

    @Test("reads quotes around fields of TSV")
    func quotesOfTSV() throws {
        let found = try objects("a.tsv", "id\tname\n1\t\"a, \"\"b\"\"\"\n2\t\"c\td\ne\"\n3\tplain \"q\"\n")
        #expect(
            found.lines == [
                #"{"id":1,"name":"a, \"b\""}"#, #"{"id":2,"name":"c\td\ne"}"#,
                #"{"id":3,"name":"plain \"q\""}"#,
            ])
        #expect(found.errors.contains("fields are in the quotes"))
        let kept = try objects("a.tsv", "id\tname\n1\t\"a\" b\n")
        #expect(kept.lines.last == #"{"id":1,"name":"\"a\" b"}"#)
        #expect(kept.errors.contains("begins with a quote"), "\(kept.errors)")
        let none = try objects("b.tsv", "id\tname\n1\t\"true\"\n", ["--quote", "none"])
        #expect(none.lines.last == #"{"id":1,"name":"\"true\""}"#)
    }

    @Test("reads other quotes, and types the fields of a file that quotes all of them")
    func allFieldsQuoted() throws {
        let content = "'id','zip','n','v'\n'1','00123','19.99','true'\n'2','04567','5',''\n"
        let expected = [#"{"id":1,"zip":"00123","n":19.99,"v":true}"#, #"{"id":2,"zip":"04567","n":5}"#]
        let single = try objects("a.csv", content)
        #expect(single.lines == expected, "\(single.errors)")
        let double = try objects("b.csv", content.replacing("'", with: "\""))
        #expect(double.lines == expected && double.errors.contains("all fields are in quotes"))
        #expect(
            try objects("c.tsv", content.replacing("'", with: "\"").replacing(",", with: "\t")).lines
                == expected)
    }

    @Test("numbers beside texts in quotes are reported as a mixed column")
    func mixedQuotes() throws {
        let found = try objects("a.csv", "id,n,t\n1,950,\"5\"\n2,\"1,234\",\"6\"\n")
        #expect(found.lines == [#"{"id":1,"n":950,"t":"5"}"#, #"{"id":2,"n":"1,234","t":"6"}"#])
        #expect(
            found.errors.contains("column \"n\" has mixed types")
                && found.errors.contains("\"1,234\" (line 3)"))
        #expect(found.errors.contains("column \"t\" is text: its numbers are in quotes"))
        let decided = try objects("a.csv", "id,n,t\n1,950,\"5\"\n2,\"1,234\",\"6\"\n", ["--decimal", "."])
        #expect(decided.lines == [#"{"id":1,"n":950,"t":5}"#, #"{"id":2,"n":1234,"t":6}"#])
    }

    @Test("a decimal comma is read where it is certain; an ambiguous one is reported, and fields stay texts")
    func decimalCommas() throws {
        let rows = [
            "id;sure;thousand;doubt;point", "1;12,5;1.234,5;1,234;1.234", "2;-0,25;1.234.567;2,500;2.500",
        ]
        let found = try objects("a.csv", rows.joined(separator: "\n"))
        #expect(
            found.lines == [
                #"{"id":1,"sure":12.5,"thousand":1234.5,"doubt":"1,234","point":"1.234"}"#,
                #"{"id":2,"sure":-0.25,"thousand":1234567,"doubt":"2,500","point":"2.500"}"#,
            ])
        #expect(
            found.errors.contains(
                "column \"sure\" has numbers with a decimal comma, such as \"12,5\" (line 2)"))
        #expect(found.errors.contains("column \"doubt\" is text: \"1,234\" (line 2) may have"))
        #expect(found.errors.contains("column \"point\" is text: \"1.234\" (line 2) may have"))
        let comma = try objects("a.csv", rows.joined(separator: "\n"), ["--decimal", ","])
        #expect(comma.lines[0] == #"{"id":1,"sure":12.5,"thousand":1234.5,"doubt":1.234,"point":1234}"#)
        let mixed = try objects("b.csv", "id;v\n1;1,5\n2;1.5\n", ["--decimal", ","])
        #expect(
            mixed.lines.last == #"{"id":2,"v":"1.5"}"# && mixed.errors.contains("another decimal separator"))
    }

    @Test(
        "thousands separators are read where a fraction shows the decimal separator",
        arguments: [
            ("1,234.5", "950", "1234.5"), ("1,234,567", "0.5", "1234567"), ("1'234.50", "7", "1234.5"),
            ("1\u{a0}234,5", "7", "1234.5"), ("1 234", "0,5", "1234"),
        ])
    func thousands(one: String, two: String, number: String) throws {
        let found = try objects("a.csv", "id|v\n1|\(one)\n2|\(two)\n")
        #expect(found.lines.first == "{\"id\":1,\"v\":\(number)}", "\(found.errors)")
        #expect(found.errors.contains("column \"v\" has numbers with a decimal"))
    }

    @Test(
        "a possible list, address or phone number stays text, and is reported",
        arguments: ["1,234,567", "192.168.100.101", "555 123 456", "1,234", "1.234"])
    func doubtfulNumbers(field: String) throws {
        let content = "id;v\n1;\(field)\n2;7\n"
        let found = try objects("a.csv", content)
        #expect(found.lines == ["{\"id\":1,\"v\":\"\(field)\"}", "{\"id\":2,\"v\":\"7\"}"])
        #expect(found.errors.contains("column \"v\" is text: \"\(field)\" (line 2)"), "\(found.errors)")
    }

    @Test(
        "numbers that export may have written as texts stay texts and are reported",
        arguments: ["a.csv", "a.tsv"])
    func exportedTexts(name: String) throws {
        let lines = [#"{"id":1,"v":"12,5","w":"1,234"}"#, #"{"id":2,"v":"3,75","w":"x"}"#]
        try store.done("import", "A", "-", "--key", "id", input: lines.joined(separator: "\n"))
        let table = store.folder / name
        try store.done("export", "A", table)
        let result = try store.run("import", "B", table, "--key", "id")
        #expect(try store.done("export", "B").lines == lines)
        #expect(result.errors.contains("column \"v\""), "\(result.errors)")
    }

    @Test(
        "rows end with carriage returns, line feeds or both",
        arguments: [
            "id,name\r1,Jakarta\r2,Bogor\r", "id,name\n1,Jakarta\r\n2,Bogor\r",
            "id,name\r\r\n1,Jakarta\r\r\n2,Bogor",
        ])
    func rowEnds(content: String) throws {
        #expect(try objects("a.csv", content).lines == Self.two)
        let bad = try importing("b.csv", content + "\n\"3\nx\"\r7")
        #expect(bad.errors.contains("b.csv:"), "\(bad.errors)")
    }

    @Test("a bad quote is reported with its line and byte")
    func badQuotes() throws {
        let behind = try importing("a.csv", "id,v\n1,\"x\"y\n2,ok\n")
        #expect(
            behind.errors.contains(
                "a.csv:2: found text after the closing quote of field 2, at byte 6 of line 2"))
        try importing("b.csv", "id,v\n1,\"a\nb\"\n2,\"never\n3,x\n").expect(
            1, errors: "b.csv:4: the quote of field 2, at byte 3 of line 4")
        #expect(try objects("c.csv", "id,v\n1,5\" pipe\n").lines.last == #"{"id":1,"v":"5\" pipe"}"#)
    }

    @Test("a byte order mark in a name is exported and imported", arguments: ["a.csv", "a.tsv"])
    func markInName(name: String) throws {
        let line = "{\"\u{feff}id\":\"\u{feff}x\",\"b\":1}"
        try store.done("import", "A", "-", "--key", "\u{feff}id", input: line)
        let table = store.folder / name
        try store.done("export", "A", table)
        try store.done("import", "B", table, "--key", "\u{feff}id")
        #expect(try store.done("export", "B").lines == [line])
    }

    @Test(
        "names the encoding of UTF-16 and UTF-32",
        arguments: [
            (String.Encoding.utf16LittleEndian, [UInt8](), "UTF-16LE"), (.utf16BigEndian, [], "UTF-16BE"),
            (.utf16LittleEndian, [0xff, 0xfe], "UTF-16"), (.utf16BigEndian, [0xfe, 0xff], "UTF-16"),
            (.utf32LittleEndian, [0xff, 0xfe, 0, 0], "UTF-32"),
        ])
    func namesEncoding(encoding: String.Encoding, mark: [UInt8], name: String) throws {
        let file = store.folder / "wide.csv"
        let text = try #require("id,name\n1,é\n".data(using: encoding))
        try (Data(mark) + text).write(to: URL(fileURLWithPath: file))
        try store.run("import", "A", file, "--key", "id").expect(1, errors: "iconv -f \(name) ")
    }

    @Test("a file that is empty or has only a header imports nothing; one column is enough")
    func smallFiles() throws {
        try importing("a.csv", "").expect(0, errors: "a.csv is empty")
        #expect(try importing("b.csv", "id,v\n").status == 0)
        #expect(try objects("c.csv", "id\n1\n2\n").lines == [#"{"id":1}"#, #"{"id":2}"#])
        #expect(try objects("d.csv", "id,v\n1,\"a\u{0}b\"\n").lines.last == #"{"id":1,"v":"a\u0000b"}"#)
    }

    @Test("reads ten thousand columns")
    func manyColumns() throws {
        let names = (0..<10_000).map { "c\($0)" }
        let content = (["id"] + names).joined(separator: ";") + "\n1;" + names.joined(separator: ";") + "\n"
        let object = try JSON.object(#require(objects("a.csv", content).lines.first))
        #expect(object.count == 10_001 && object["c9999"] as? String == "c9999")
    }
}

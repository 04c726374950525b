import ArchiveQuery
import CBOR
import Foundation
import StorageEngine
import TestSupport
import Testing

/// Valid and hostile property lists as values.
@Suite struct PropertyListTests {
    /// Arrays of `width` references to the next array, `levels` deep: width to the power of levels when written out.
    private func bomb(levels: Int, width: Int) -> [UInt8] {
        var list = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for level in 0..<levels {
            offsets.append(UInt8(list.count))
            list += [0xa0 | UInt8(width)] + [UInt8](repeating: UInt8(level + 1), count: width)
        }
        offsets.append(UInt8(list.count))
        list += [0x51, 0x61]
        let table = UInt8(list.count)
        return list + offsets + [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, UInt8(levels + 1)]
            + [UInt8](repeating: 0, count: 8) + [0, 0, 0, 0, 0, 0, 0, table]
    }

    private func report(_ values: [[UInt8]], _ encoding: ValueEncoding = .unknown) throws -> QueryReport {
        let source = ListSource(
            values.enumerated().map { ListSource.Entry(key: "\($0)", value: $1, encoding: encoding) })
        return try source.answer("find a = 1").report
    }

    @Test("a property list that expands exponentially is unreadable and reported")
    func expandingListsAreRefused() throws {
        let small = bomb(levels: 25, width: 2)
        #expect(small.count <= 170)
        let start = processorSeconds()
        let report = try report(
            [small, bomb(levels: 12, width: 14)] + [bomb(levels: 20, width: 3)], .propertyList)
        #expect(report.unreadable == 3)
        #expect(report.warnings.count == 1 && report.warnings[0].contains("3 property lists"))
        // A full traversal would take hours.
        #expect(processorSeconds() - start < 20)
        #expect(try self.report([bomb(levels: 3, width: 2)]).unreadable == 0, "shared parts are valid")
    }

    /// XML is read recursively, so depth must be limited.
    @Test("deeply nested XML is unreadable") func deepXMLIsRefused() throws {
        func nested(_ levels: Int, _ open: String = "<array>", _ close: String = "</array>") -> [UInt8] {
            Array(
                ("<?xml version=\"1.0\"?><plist version=\"1.0\">" + String(repeating: open, count: levels)
                    + String(repeating: close, count: levels) + "</plist>").utf8)
        }
        let hidden = nested(100_000, "<array><!-- </array> --><string><![CDATA[</array>]]></string>")
        let report = try report(
            [nested(100_000), hidden, nested(100_000, "<dict><key>a</key>", "</dict>")], .propertyList)
        #expect(report.unreadable == 3 && report.warnings.count == 1)
        #expect(try self.report([nested(50)]).unreadable == 0)
    }

    /// Hashing a key sorts its combining marks.
    @Test("property lists with many combining marks or many small parts are unreadable")
    func manyMarksAreRefused() throws {
        let forms = ["\u{301}\u{323}", "&#x301;&#803;", "&#x0000301;&#x00323;"]
        func list(_ key: String) -> [UInt8] {
            Array("<?xml version=\"1.0\"?><plist><dict><key>a\(key)</key><true/></dict></plist>".utf8)
        }
        func wide(_ text: [UInt8]) -> [UInt8] {
            [0xff, 0xfe]
                + String(decoding: text, as: UTF8.self).utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        }
        var values = forms.map { list(String(repeating: $0, count: 50_000)) }
        values.append(wide(values[0]))
        values.append(Array("{\"a\(String(repeating: "\\U0301\\U0323", count: 50_000))\" = 1;}".utf8))
        values.append(Array("(\(String(repeating: "1,", count: 500_000))1)".utf8))
        values.append(list("</key><array>" + String(repeating: "<true/>", count: 900_000) + "</array><key>"))
        let start = processorSeconds()
        let report = try report(values, .propertyList)
        #expect(report.unreadable == values.count)
        #expect(report.warnings.count == 1 && report.warnings[0].contains("\(values.count) property lists"))
        // Reading the first value takes 19 s without a limit.
        #expect(processorSeconds() - start < 15)
        let texts = forms.map { list(String(repeating: $0, count: 40)) } + [wide(list("東京")), list("東京")]
        let plain = ["{a = 1; b = (2, 3);}", "(1, 2)"].map { Array($0.utf8) }
        #expect(try self.report(texts + plain, .propertyList).unreadable == 0)
    }

    @Test("mutated property lists are read or refused") func mutatedListsAreReadOrRefused() throws {
        var random = SeededGenerator.announced("property lists")
        let list = try PropertyListSerialization.data(
            fromPropertyList: ["a": [1, 2, ["b": "c", "d": Data([1])]], "e": Date(), "f": 1.5, "g": "東"]
                as [String: Any],
            format: .binary, options: 0)
        var values: [[UInt8]] = []
        for _ in 0..<5000 {
            var bytes = Array(list)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 8..<bytes.count, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            }
            values.append(bytes)
        }
        #expect(try report(values, .propertyList).visited == 5000)
    }

    @Test(
        "whole reals are floating point and integers are not, in both forms of property lists",
        arguments: [
            PropertyListSerialization.PropertyListFormat.xml, .binary,
        ])
    func wholeReals(format: PropertyListSerialization.PropertyListFormat) throws {
        let list: [String: Any] = ["real": 1e17, "one": 1.0, "integer": 100_000_000_000_000_000, "yes": true]
        let data = try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0)
        let source = ListSource([ListSource.Entry(key: "k", value: Array(data), encoding: .propertyList)])
        #expect(
            try source.columns("select real + 1, one, integer + 1, yes") == [
                ["1e+17", "1.0", "100000000000000001", "true"]
            ])
    }

    @Test("property lists that Foundation writes are read with the same values")
    func foundationListsAreRead() throws {
        let list: [String: Any] = [
            "small": 7, "large": Int64.max, "negative": -3, "wide": UInt64.max, "real": 2.5, "yes": true,
            "no": false, "text": "plain", "wide text": "Größe 東京 👩", "data": Data([0, 255]),
            "date": Date(timeIntervalSince1970: 86_400), "many": Array(0..<300), "empty": [Any](),
            "nested": ["a": ["b": ["c"]]],
        ]
        let data = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
        let source = ListSource([ListSource.Entry(key: "k", value: Array(data), encoding: .propertyList)])
        for condition in [
            "small = 7", "large = 9223372036854775807", "negative = -3", "wide = 18446744073709551615",
            "real = 2.5", "yes = true", "no = false", "text = \"plain\"", "\"wide text\" = \"Größe 東京 👩\"",
            "date = 1970-01-02", "count(many) = 300 and many[299] = 299", "empty is empty",
            "nested.a.b[0] = \"c\"",
        ] {
            #expect(try source.keys("find " + condition) == ["k"], "\(condition)")
        }
    }
}

import CBOR
import StorageEngine
import StoreInspection
import Testing

struct ValueContentTests {
    private func content(_ text: String, _ encoding: ValueEncoding = .unknown) -> ValueContent {
        ValueContent(Array(text.utf8), total: text.utf8.count, encoding: encoding)
    }

    @Test func treeKeepsOrderAndNumbers() throws {
        let text = #"{"z":1,"a":[true,null,-0.5,12345678901234567890,1.10],"m":{"x y":"é"}}"#
        let tree = try #require(content(text, .json).tree)
        #expect(
            tree.nodes.map { "\($0.depth) \($0.name) \($0.value)" } == [
                "0  3 members", "1 z 1", "1 a 5 items", "2 0 true", "2 1 null", "2 2 -0.5",
                "2 3 12345678901234567890",
                "2 4 1.1", "1 m 1 member", "2 x y \"é\"",
            ])
        #expect(tree.path(of: 6) == "$.a[3]")
        #expect(tree.path(of: 9) == "$.m[\"x y\"]")
        #expect(tree.path(of: 0) == "$")
        #expect(tree.visible(folded: [2]) == [0, 1, 2, 8, 9])
        #expect(tree.visible(folded: [0]) == [0])
    }

    @Test("containers show their number of elements in a form that no value has")
    func showsNumberOfElements() {
        let containers: [CBORValue] = [
            .array([]), .map(CBORMap()), .array([0]), .array(Array(repeating: 1, count: 2_000)),
        ]
        #expect(
            containers.map { ValueTree($0).nodes[0].value } == [
                "[] (empty)", "{} (empty)", "1 item", "2,000 items",
            ])
    }

    @Test(
        arguments: [
            (.tagged(1, 0), "1970-01-01 00:00:00 UTC"), (.tagged(1, -0.25), "1969-12-31 23:59:59.75 UTC"),
            (.tagged(1, 1_700_000_000.000001), "2023-11-14 22:13:20.000001 UTC"),
            (.tagged(1, .float(.nan)), "tag 1 nan"), (.tagged(1, 1e300), "tag 1 1e+300"),
            (.tagged(1, "text"), "tag 1 \"text\""), (.tagged(32, "http://a"), "\"http://a\""),
            (.tagged(32, 7), "tag 32 7"), (.tagged(2, .bytes([1, 0])), "256"),
            (.tagged(37, .bytes([UInt8](0xf0...0xff))), "F0F1F2F3-F4F5-F6F7-F8F9-FAFBFCFDFEFF"),
            (.tagged(37, .bytes([1])), "tag 37 h'01' 1 B"),
            (.tagged(99, .tagged(1, 0)), "tag 99 1970-01-01 00:00:00 UTC"),
        ] as [(CBORValue, String)])
    func showsTagsByContent(value: CBORValue, text: String) {
        #expect(ValueTree(value).nodes.map(\.value) == [text])
    }

    @Test(
        "reports image sizes that the header contains",
        arguments: [
            (
                [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13] + Array("IHDR".utf8)
                    + [0, 0, 2, 0x80, 0, 0, 1, 0xe0, 8], "PNG image 640x480"
            ),
            (Array("GIF89a".utf8) + [0x40, 1, 0xc8, 0, 0], "GIF image 320x200"),
            (
                [0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xff, 0xdb, 0, 3, 0, 0xff, 0xc2, 0, 11, 8]
                    + [0x04, 0x38, 0x07, 0x80, 1], "JPEG image 1920x1080"
            ),
            ([0xff, 0xd8, 0xff, 0xe0, 0, 4, 1], "JPEG image"),
            (
                Array("BM".utf8) + [70, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0]
                    + [16, 0, 0, 0, 0xf8, 0xff, 0xff, 0xff], "BMP image 16x8"
            ),
            (
                Array("RIFF....WEBPVP8X".utf8) + [10, 0, 0, 0, 0, 0, 0, 0, 0xff, 3, 0, 0xff, 2, 0],
                "WebP image 1024x768"
            ),
            (
                Array("RIFF....WEBPVP8L".utf8) + [9, 0, 0, 0, 0x2f, 0x3f, 0xc0, 0x07, 0, 0, 0, 0, 0, 0],
                "WebP image 64x32"
            ),
            (
                Array("RIFF....WEBPVP8 ".utf8)
                    + [9, 0, 0, 0, 0, 0, 0, 0x9d, 1, 0x2a, 0x64, 0, 0x32, 0, 0, 0], "WebP image 100x50"
            ),
            (Array("GIF8".utf8) + [0x39], "text"), (Array("BMW is a brand of cars".utf8), "text"),
            ([0x49, 0x49, 0x2a, 0, 8, 0, 0, 0], "TIFF image"),
        ] as [([UInt8], String)])
    func reportsImageSizes(bytes: [UInt8], name: String) {
        #expect(ValueContent(bytes, total: bytes.count, encoding: .unknown).name == name)
        // Grouping by kind ignores the image size.
        #expect(
            ValueContent.kind(of: bytes, encoding: .unknown)
                == name.split(separator: " ").prefix(2).joined(separator: " "))
    }

    @Test(
        arguments: [
            ([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0], "PNG image", false, false),
            (Array("{\"a\":1}".utf8), "JSON", true, true), (Array("[1, 2]".utf8), "JSON", true, true),
            (Array("{not json".utf8), "text", false, true), (Array("plain".utf8), "text", false, true),
            ([0xa1, 0x61, 0x61, 0x01], "CBOR", true, true), ([0xff, 0xfe, 0x00], "bytes", false, false),
            ([], "empty", false, true), ([0x00, 0x01], "bytes", false, false),
            // White space before a document and controls in a text, as in queries.
            (Array(" \n{\"a\":1}".utf8), "JSON", true, true), (Array("bell\u{7}".utf8), "text", false, true),
            (PropertyLists.binary, "property list", true, true),
            (PropertyLists.xml, "property list", true, true),
            (PropertyLists.keyedArchive, "keyed archive", true, true),
            (Array("<?xml version=\"1.0\"?><svg/>".utf8), "XML", false, true),
        ] as [([UInt8], String, Bool, Bool)])
    func recognizesFormats(bytes: [UInt8], name: String, isTree: Bool, isText: Bool) {
        let content = ValueContent(bytes, total: bytes.count, encoding: .unknown)
        #expect(content.name == name)
        #expect((content.tree != nil) == isTree)
        #expect((content.isText || content.spelling != nil) == isText)
        #expect(content.problem == nil)
    }

    /// A nest stores objects that aren't `Codable` this way; queries and JSON get the bytes.
    @Test func keyedArchiveInValueIsTree() throws {
        let value = CBORValue.map(
            CBORMap([
                .init(key: "terms", value: "t"),
                .init(key: "archive", value: .bytes(PropertyLists.keyedArchive)),
                .init(key: "damaged", value: .bytes(Array("bplist00?".utf8))),
            ]))
        let tree = try #require(ValueContent(value.encoded, total: value.encoded.count, encoding: .cbor).tree)
        let whole = PropertyLists.keyedArchive
        let alone = try #require(ValueContent(whole, total: whole.count, encoding: .propertyList).tree)
        #expect(tree.nodes.map(\.name).contains("$archiver"))
        #expect(tree.nodes.count == alone.nodes.count + 3)
        #expect(tree.nodes.last?.value.hasPrefix("h'62706c69737430303f'") == true)
    }

    @Test func reportsDamage() {
        let content = ValueContent([0xa1, 0x61], total: 2, encoding: .cbor)
        #expect(content.tree == nil)
        #expect(content.problem?.hasPrefix("not valid CBOR: byte") == true)
        #expect(self.content("{oops", .json).problem?.hasPrefix("not valid JSON") == true)
    }
}

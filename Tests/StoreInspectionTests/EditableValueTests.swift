import CBOR
import StorageEngine
import StoreInspection
import Testing

struct EditableValueTests {
    @Test(
        "an unchanged text gives the stored bytes",
        arguments: [
            "{\"a\":1,\"b\":[1.5,\"x\"]}", "{\n  \"a\" : 1\n}", "{\"a\":1}\n", "plain text", "two\nlines\n",
            "[]",
        ])
    func unchangedTextKeepsBytes(text: String) throws {
        let value = try EditableValue(Array(text.utf8), encoding: .unknown)
        #expect(value.text.last == 0x0a)
        #expect(try value.bytes(of: value.text) == Array(text.utf8))
    }

    @Test func compactJSONIsExpandedForEditing() throws {
        let value = try EditableValue(Array("{\"a\":1,\"b\":2}".utf8), encoding: .json)
        #expect(value.form == .compactJSON)
        #expect(String(decoding: value.text, as: UTF8.self) == "{\n  \"a\": 1,\n  \"b\": 2\n}\n")
        #expect(try value.bytes(of: Array("{ \"a\": 1 }\n".utf8)) == Array("{\"a\":1}".utf8))
    }

    @Test func editsCBORAsJSON() throws {
        let bytes = try JSONTranscoder.cbor(
            from: "{\"name\":\"Oslo\",\"size\":2.5,\"list\":[1,-2,null,true]}")
        let value = try EditableValue(bytes, encoding: .cbor)
        #expect(value.form == .cbor && value.encoding == .cbor)
        #expect(try value.bytes(of: value.text) == bytes)
        #expect(try value.bytes(of: Array("[1]\n".utf8)) == [0x81, 0x01])
    }

    @Test("edits bytes as hexadecimal digits, and texts that look like them as texts")
    func editsBytes() throws {
        let bytes = CBORValue.map([.bytes([1]): .array([.bytes([0, 255]), "h'00'"])]).encoded
        let value = try EditableValue(bytes, encoding: .cbor)
        #expect(try value.bytes(of: value.text) == bytes)
        #expect(try value.bytes(of: Array("[\"h'07'\"]".utf8)) == CBORValue.array([.bytes([7])]).encoded)
    }

    @Test(arguments: [
        (CBORValue.array([.tagged(1, .unsigned(5))]), "dates"),
        (.array([.undefined]), "undefined values"), (.array([.tagged(100, .unsigned(5))]), "tag 100"),
        (.map(CBORMap([.init(key: .unsigned(1), value: .null)])), "keys that aren't texts"),
    ])
    func namesWhatJSONLoses(value: CBORValue, loss: String) {
        #expect {
            try EditableValue(value.encoded, encoding: .cbor)
        } throws: {
            "\($0)".contains(loss)
        }
    }

    /// A number in more bytes than needed would be stored in fewer.
    @Test func refusesNonCanonicalCBOR() {
        #expect(throws: SourceError.self) { try EditableValue([0x81, 0x18, 0x01], encoding: .cbor) }
    }

    @Test(arguments: [
        ("{\n  \"a\": 1,\n  b\n}", "Line 3, column 3: found 'b'"), ("[1,", "Line 1, column 4: found the end"),
        ("{\"é\": x}", "Line 1, column 7"),
        ("{\n  \"a\": 1,\n  \"a\": 2\n}", "Line 3, column 3: an object has the name \"a\" twice"),
    ])
    func reportsLineAndColumn(text: String, place: String) throws {
        let value = try EditableValue(Array("{\"a\":1}".utf8), encoding: .json)
        #expect {
            try value.bytes(of: Array(text.utf8))
        } throws: {
            "\($0)".hasPrefix(place)
        }
    }

    @Test func newTextMayBeDocument() throws {
        #expect(EditableValue(new: Array(" {}\n".utf8)).form == .cbor)
        #expect(EditableValue(new: Array(" {}\n".utf8), keepsJSON: true).form == .json)
        let text = EditableValue(new: Array("5\n".utf8))
        #expect(text.encoding == .text)
        #expect(try text.bytes(of: Array("5\n".utf8)) == Array("5".utf8))
    }
}

struct LineDiffTests {
    private func diff(_ old: String, _ new: String) -> [String] {
        LineDiff(from: Array(old.utf8), to: Array(new.utf8)).lines.map { line in
            switch line.kind {
            case .kept: " " + line.text
            case .removed: "-" + line.text
            case .added: "+" + line.text
            case .gap(let count): "~\(count)"
            }
        }
    }

    @Test func changesHaveContext() {
        let old = (1...20).map(String.init)
        var new = old
        new[9] = "ten"
        #expect(
            diff(old.joined(separator: "\n"), new.joined(separator: "\n"))
                == ["~6", " 7", " 8", " 9", "-10", "+ten", " 11", " 12", " 13", "~7"])
        #expect(diff("a\nb\n", "a\nb\n") == ["~2"])
        #expect(diff("", "a\n") == ["+a"])
        #expect(diff("a\n", "") == ["-a"])
    }

    @Test("pairs the lines of a removed block with those of the added block after it")
    func changedLinesHaveCounterparts() {
        let diff = LineDiff(from: Array("a\nb\nc\nd\n".utf8), to: Array("x\ny\nc\nd\nz\n".utf8))
        let texts = diff.counterparts.map { [diff.lines[$0.key].text, diff.lines[$0.value].text] }
        #expect(Set(texts) == [["a", "x"], ["x", "a"], ["b", "y"], ["y", "b"]])
    }

    @Test func showsMissingLineEnd() {
        #expect(diff("a\n", "a") == ["-a", "+a (no line end)"])
    }

    @Test(arguments: 0..<200)
    func differencesAreExact(seed: Int) {
        var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        func next(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        let old = (0..<next(30)).map { _ in "line \(next(6))" }
        let new = (0..<next(30)).map { _ in "line \(next(6))" }
        let text = { (lines: [String]) in Array(lines.map { $0 + "\n" }.joined().utf8) }
        guard old != new else { return }
        let diff = LineDiff(from: text(old), to: text(new), context: 100)
        #expect(diff.lines.filter { $0.kind != .added }.map(\.text) == old)
        #expect(diff.lines.filter { $0.kind != .removed }.map(\.text) == new)
    }
}

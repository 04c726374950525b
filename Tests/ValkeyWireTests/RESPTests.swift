import Testing
import TestSupport
import ValkeyWire

@Suite struct RESPTests {
    /// Decodes in pieces of this many bytes.
    private func decode(
        _ text: String, by size: Int = .max, _ limits: RESPDecoder.Limits = .init()
    ) throws -> [RESPValue] {
        var decoder = RESPDecoder(limits: limits)
        var values: [RESPValue] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            decoder.append(rest.prefix(size))
            rest = rest.dropFirst(size)
            while let value = try decoder.next() { values.append(value) }
        }
        #expect(decoder.pending == 0, "\(text.debugDescription)")
        return values
    }

    private static let everything =
        "+OK\r\n-ERR no\r\n:-42\r\n$5\r\na\r\nbc\r\n$0\r\n\r\n$-1\r\n*-1\r\n_\r\n,1.5\r\n,inf\r\n#t\r\n#f\r\n"
        + "(12345678901234567890123\r\n=7\r\ntxt:abc\r\n!9\r\nSYNTAX no\r\n*2\r\n*1\r\n:1\r\n*0\r\n~1\r\n+a\r\n"
        + "%1\r\n+k\r\n:1\r\n>2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n|1\r\n+ttl\r\n:3\r\n*2\r\n:1\r\n|1\r\n+x\r\n*1\r\n_\r\n:2\r\n"

    private static let values: [RESPValue] = [
        .status("OK"), .error("ERR no"), .integer(-42), .bytes(Array("a\r\nbc".utf8)), .bytes([]), .null,
        .null, .null, .double(1.5), .double(.infinity), .boolean(true), .boolean(false),
        .bigNumber("12345678901234567890123"), .bytes(Array("abc".utf8)), .error("SYNTAX no"),
        .array([.array([.integer(1)]), .array([])]), .array([.status("a")]),
        .map([.status("k"), .integer(1)]),
        .push([.bytes(Array("invalidate".utf8)), .array([.bytes(Array("k".utf8))])]),
        .array([.integer(1), .integer(2)]),
    ]

    @Test("every kind of value is decoded") func everyKindOfValue() throws {
        #expect(try decode(Self.everything) == Self.values)
    }

    @Test("values that arrive in pieces are decoded") func valuesInPieces() throws {
        for size in 1...40 { #expect(try decode(Self.everything, by: size) == Self.values, "\(size)") }
    }

    @Test(arguments: [
        "x\r\n", "\r\n", ":1\n", ":\r\n", ":1x\r\n", "$3\r\nabcd\r\n", "$-2\r\n", "$x\r\n", "*-2\r\n",
        "#x\r\n", ",x\r\n", "=3\r\nabc\r\n", "$99999999999\r\n", "*99999999\r\n", ":99999999999999999999\r\n",
    ])
    func invalidValues(text: String) throws {
        #expect(throws: RESPError.self) { try decode(text) }
    }

    @Test("values beyond the limits are refused") func limits() throws {
        var limits = RESPDecoder.Limits()
        limits.stringBytes = 3
        limits.depth = 2
        limits.elements = 3
        limits.lineBytes = 10
        #expect(try decode("$3\r\nabc\r\n", by: .max, limits) == [.bytes(Array("abc".utf8))])
        limits.bytes = 20
        let three = "$3\r\nabc\r\n"
        // The limit applies to one value; elements and their lengths count.
        #expect(try decode(three + three + three + three, by: .max, limits).count == 4)
        #expect(try decode("*2\r\n\(three)\(three)", by: .max, limits).count == 1)
        for element in [three, "+abc\r\n"] {
            limits.elements = 5
            let value = "*5\r\n" + String(repeating: element, count: 5)
            #expect(throws: RESPError.self) { try decode(value, by: .max, limits) }
        }
        limits.elements = 3
        limits.bytes = 1000
        #expect(throws: RESPError.self) { try decode("$4\r\n", by: .max, limits) }
        #expect(try decode("*1\r\n*1\r\n:1\r\n", by: .max, limits).count == 1)
        #expect(throws: RESPError.self) { try decode("*1\r\n*1\r\n*1\r\n", by: .max, limits) }
        #expect(throws: RESPError.self) { try decode("*2\r\n*2\r\n", by: .max, limits) }
        // The limit applies to one value, not to the connection.
        #expect(try decode("*3\r\n:1\r\n:1\r\n:1\r\n*1\r\n:1\r\n", by: .max, limits).count == 2)
        #expect(throws: RESPError.self) { try decode("+12345678901", by: .max, limits) }
    }

    @Test("announced lengths allocate nothing, and small pieces take linear time") func linearCost() throws {
        var decoder = RESPDecoder()
        decoder.append("$400000000\r\n".utf8)
        #expect(try decoder.next() == nil)
        var small = RESPDecoder()
        let bytes = [UInt8](repeating: 7, count: 2_000_000)
        small.append("$2000000\r\n".utf8)
        let start = processorSeconds()
        for byte in bytes {
            small.append(CollectionOfOne(byte))
            _ = try small.next()
        }
        small.append("\r\n".utf8)
        #expect(try small.next() == .bytes(bytes))
        // Quadratic time would need 2 * 10^12 steps.
        #expect(processorSeconds() - start < 20)
    }

    @Test("a command is encoded as an array of byte strings") func commands() {
        var bytes: [UInt8] = []
        (RESPCommand("SET", "kü") + [0, 13, 10] + "PX" + 5).encode(into: &bytes)
        #expect(
            bytes
                == Array("*5\r\n$3\r\nSET\r\n$3\r\nkü\r\n$3\r\n".utf8) + [0, 13, 10]
                + Array("\r\n$2\r\nPX\r\n$1\r\n5\r\n".utf8))
    }

    @Test("replies are matched to their requests, apart from push messages") func replies() throws {
        var connection = RESPConnection<Int>()
        var answered: [Int] = []
        for number in 1...100 { connection.expectReplies(to: number, count: number % 3 + 1) }
        #expect(connection.requests == Array(1...100) && !connection.hasAnswered)
        for number in 1...100 {
            for reply in 0...number % 3 {
                connection.received(">1\r\n+changed\r\n:\(reply)\r\n".utf8)
                guard case .push(let parts)? = try connection.next() else { throw RESPError("no push") }
                #expect(parts == [.status("changed")])
                guard case .replies(let replies, to: let request)? = try connection.next() else { continue }
                #expect(replies == (0...number % 3).map { .integer(Int64($0)) })
                answered.append(request)
            }
            #expect(connection.requests.first == (number < 100 ? number + 1 : nil))
        }
        #expect(answered == Array(1...100) && connection.hasAnswered)
    }

    @Test("a reply without a request is an error") func unexpectedReplies() throws {
        var connection = RESPConnection<Void>()
        connection.expectReplies(to: (), count: 1)
        connection.received("+OK\r\n+OK\r\n".utf8)
        #expect(try connection.next() != nil)
        #expect(throws: RESPError.self) { try connection.next() }
    }

    @Test(
        "an incomplete value is detected",
        arguments: ["+O", "$4\r\n", "$4\r\nab", "*2\r\n", "*1\r\n*0\r", ">1\r\n"])
    func partsOfValues(bytes: String) throws {
        var connection = RESPConnection<Void>()
        connection.received("+OK\r\n".utf8)
        connection.expectReplies(to: (), count: 1)
        #expect(try connection.next() != nil && !connection.isWithinValue)
        connection.received(bytes.utf8)
        #expect(try connection.next() == nil && connection.isWithinValue)
    }

    @Test("named fields are read from lines and from words") func fields() {
        let info = RESPFields(lines: .bytes(Array("# A\r\na:1:2\r\nb:\r\n\r\nc: x y\r\n".utf8)))
        #expect(info["a"] == "1:2" && info["b"] == "" && info["c"] == " x y" && info["d"] == nil)
        #expect(info.all.count == 3)
        let words = RESPFields(
            "id=7 addr=[::1]:9 age=99999999999999999999 mem=9223372036854775807 x\n", with: "=")
        #expect(words["id"] == "7" && words["addr"] == "[::1]:9" && words["x"] == nil)
        #expect(words.number("age") == nil && words.number("mem") == 1 << 50)
        let hello = RESPValue.map([.bytes(Array("role".utf8)), .status("master"), .status("mode")])
        #expect(hello["role"] == .status("master") && hello["mode"] == nil)
    }

    @Test("replies to scans have a cursor and elements") func scans() {
        let cursor = RESPValue.bytes([48])
        #expect(RESPValue.array([cursor, .array([.bytes([1])])]).scanned?.elements == [.bytes([1])])
        for answer: RESPValue in [
            .null, .integer(1), .array([cursor]), .array([.integer(0), .array([])]),
            .array([cursor, cursor]),
        ] {
            #expect(answer.scanned == nil)
        }
    }

    @Test("logins name the user and the password") func logIns() {
        func words(_ command: RESPCommand) -> [String] {
            command.words.map { String(decoding: $0, as: UTF8.self) }
        }
        let user = LogIn(user: "ada", password: nil, name: "test")
        #expect(words(user.hello) == ["HELLO", "3", "AUTH", "ada", "", "SETNAME", "test"])
        #expect(words(user.auth) == ["AUTH", "ada", ""] && user.hasCredentials)
        let password = LogIn(user: nil, password: "word", name: "test")
        #expect(words(password.hello) == ["HELLO", "3", "AUTH", "default", "word", "SETNAME", "test"])
        #expect(words(password.auth) == ["AUTH", "word"])
        let nothing = LogIn(user: nil, password: nil, name: "test")
        #expect(words(nothing.hello) == ["HELLO", "3", "SETNAME", "test"] && !nothing.hasCredentials)
    }
}

import TestSupport
import CBOR
import Foundation

/// All kinds of values for which Swift synthesizes `Codable`.
struct Shapes: Codable, Equatable {
    var flag = true
    var text = "Zürich, 東京, 🏳️‍🌈"
    var small: Int8 = -128
    var large: UInt64 = .max
    var wide: Int128 = .min
    var single: Float = 0.1
    var double = 1.1
    var present: Int? = 5
    var absent: Int?
    var numbers = [1, -500, 1_000_000]
    var nested = [[1.5], [], [-0.0, .infinity]]
    var holes: [String?] = ["a", nil, "c"]
    var byText = ["b": 1, "a": 2, "aa": 3]
    var byNumber = [10: "ten", -1: "minus one"]
    var byPoint = [Point(x: 1, y: 2): "p"]
    var set: Set<String> = ["x", "y", "long enough to be on the heap"]
    var figure = Figure.circle(center: Point(x: 3, y: 4), radius: 5)
    var plain = Figure.nothing
    var kind = Kind.second
    var date = Date(timeIntervalSinceReferenceDate: 785_000_000.123_456_7)
    var data = Data([0, 255, 128])
    var bytes: [UInt8] = [1, 2, 3]
    var identifier = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    var url = URL(string: "https://example.org/a?b=c#d")
    var price = Decimal(string: "1234567890123456789.123456789")
}

struct Point: Codable, Hashable {
    var x: Int
    var y: Int
}

enum Figure: Codable, Equatable {
    case nothing
    case circle(center: Point, radius: Double)
    indirect case pair(Figure, Figure)
}

enum Kind: String, Codable {
    case first, second
}

class Animal: Codable {
    var name = "animal"
}

/// Has a separate container beside that of its superclass.
final class Dog: Animal {
    var tricks: [String] = []

    private enum Keys: CodingKey { case tricks }

    init(_ name: String, tricks: [String]) {
        super.init()
        self.name = name
        self.tricks = tricks
    }

    required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        tricks = try container.decode([String].self, forKey: .tricks)
        try super.init(from: container.superDecoder())
    }

    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(tricks, forKey: .tricks)
        try super.encode(to: container.superEncoder())
    }
}

/// Shares the container of its superclass.
final class Cat: Animal {
    var lives = 9

    private enum Keys: CodingKey { case lives }

    init(lives: Int) {
        super.init()
        self.lives = lives
    }

    required init(from decoder: any Decoder) throws {
        lives = try decoder.container(keyedBy: Keys.self).decode(Int.self, forKey: .lives)
        try super.init(from: decoder)
    }

    override func encode(to encoder: any Encoder) throws {
        try super.encode(to: encoder)
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(lives, forKey: .lives)
    }
}

/// Any JSON value, decoded by trying one kind after the other.
indirect enum Node: Codable, Equatable {
    case null
    case flag(Bool)
    case number(Double)
    case text(String)
    case list([Node])
    case object([String: Node])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let list = try? container.decode([Node].self) {
            self = .list(list)
        } else {
            self = .object(try container.decode([String: Node].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .flag(let flag): try container.encode(flag)
        case .number(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        case .list(let list): try container.encode(list)
        case .object(let object): try container.encode(object)
        }
    }

    static func random(depth: Int, using generator: inout SeededGenerator) -> Node {
        switch Int.random(in: 0..<(depth > 0 ? 6 : 4), using: &generator) {
        case 0: return .null
        case 1: return .flag(Bool.random(using: &generator))
        case 2: return .number(Double(Int.random(in: -5000...5000, using: &generator)) / 8)
        case 3: return .text(CBORValue.randomText(using: &generator))
        case 4:
            return .list(
                (0..<Int.random(in: 0...30, using: &generator)).map { _ in
                    random(depth: depth - 1, using: &generator)
                })
        default:
            var object: [String: Node] = [:]
            for _ in 0..<Int.random(in: 0...30, using: &generator) {
                object[CBORValue.randomText(using: &generator)] = random(depth: depth - 1, using: &generator)
            }
            return .object(object)
        }
    }
}

func roundTrip<Value: Codable>(_ value: Value) throws -> Value {
    try CBORDecoder().decode(Value.self, from: CBOREncoder().encode(value))
}

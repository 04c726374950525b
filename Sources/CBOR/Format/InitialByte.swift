/// The upper three bits of an item's initial byte (RFC 8949, section 3.1), not shifted down.
enum MajorType: UInt8 {
    case unsigned = 0x00
    case negative = 0x20
    case bytes = 0x40
    case text = 0x60
    case array = 0x80
    case map = 0xa0
    case tag = 0xc0
    case simple = 0xe0

    @inline(__always)
    init(of initial: UInt8) {
        switch initial >> 5 {
        case 0: self = .unsigned
        case 1: self = .negative
        case 2: self = .bytes
        case 3: self = .text
        case 4: self = .array
        case 5: self = .map
        case 6: self = .tag
        default: self = .simple
        }
    }
}

/// The meanings of an initial byte's lower five bits, where they aren't the argument itself.
enum AdditionalInformation {
    static let oneByte: UInt8 = 24
    static let twoBytes: UInt8 = 25
    static let fourBytes: UInt8 = 26
    static let eightBytes: UInt8 = 27
    static let indefinite: UInt8 = 31
}

/// Initial bytes of major type 7: simple values, floating-point numbers and the end of an indefinite item.
enum SimpleByte {
    static let `false`: UInt8 = 0xf4
    static let `true`: UInt8 = 0xf5
    static let null: UInt8 = 0xf6
    static let undefined: UInt8 = 0xf7
    static let half: UInt8 = 0xf9
    static let single: UInt8 = 0xfa
    static let double: UInt8 = 0xfb
    static let `break`: UInt8 = 0xff
}

/// The tags that this module interprets (RFC 8949, section 3.4).
enum TagNumber {
    static let unsignedBignum: UInt64 = 2
    static let negativeBignum: UInt64 = 3
    static let decimalFraction: UInt64 = 4
    static let epochTime: UInt64 = 1
    static let url: UInt64 = 32
    static let uuid: UInt64 = 37
    static let extendedTime: UInt64 = 1001
}

import CBOR

/// The kind of an unquoted field.
package enum FieldKind: Sendable, Hashable {
    /// An integer in canonical JSON.
    case integer
    /// Any other JSON number; rewritten, such as 20.00 as 20.0.
    case number(isRespelled: Bool)
    case boolean
    case null
    /// A whole JSON array or object.
    case container
    case text

    package var isNumber: Bool {
        switch self {
        case .integer, .number: true
        case .boolean, .null, .container, .text: false
        }
    }

    package init(_ field: UnsafeRawBufferPointer) {
        switch field.first {
        case UInt8(ascii: "t")?, UInt8(ascii: "f")?, UInt8(ascii: "n")?: self = FieldKind.word(field) ?? .text
        case UInt8(ascii: "[")?, UInt8(ascii: "{")?: self = FieldValue.isContainer(field) ? .container : .text
        default: self = FieldKind.number(field) ?? .text
        }
    }

    private static func word(_ field: UnsafeRawBufferPointer) -> FieldKind? {
        switch field.count {
        case 4 where field.elementsEqual("true".utf8): .boolean
        case 4 where field.elementsEqual("null".utf8): .null
        case 5 where field.elementsEqual("false".utf8): .boolean
        default: nil
        }
    }

    /// RFC 8259, section 6.
    private static func number(_ field: UnsafeRawBufferPointer) -> FieldKind? {
        var place = 0
        func digits() -> Int {
            let start = place
            while place < field.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(field[place]) {
                place += 1
            }
            return place - start
        }
        let isNegative = field.first == UInt8(ascii: "-")
        if isNegative { place = 1 }
        let first = place
        let whole = digits()
        guard whole > 0, whole == 1 || field[first] != UInt8(ascii: "0") else { return nil }
        if place == field.count {
            // -0.0 is a float.
            let isMinusZero = isNegative && whole == 1 && field[first] == UInt8(ascii: "0")
            return isMinusZero ? .number(isRespelled: true) : .integer
        }
        if field[place] == UInt8(ascii: ".") {
            place += 1
            let fraction = digits()
            guard fraction > 0 else { return nil }
            // Other numbers may get an exponent.
            let isPlain = whole <= 15 && !field[first...].starts(with: "0.0000".utf8)
            if place == field.count, isPlain {
                return .number(isRespelled: fraction > 1 && field[place - 1] == UInt8(ascii: "0"))
            }
        }
        guard place < field.count else { return .number(isRespelled: !isKept(field)) }
        guard field[place] | 0x20 == UInt8(ascii: "e") else { return nil }
        place += 1
        if place < field.count, field[place] == UInt8(ascii: "-") || field[place] == UInt8(ascii: "+") {
            place += 1
        }
        guard digits() > 0, place == field.count else { return nil }
        return .number(isRespelled: !isKept(field))
    }

    /// Whether a number keeps its spelling; one outside JSON's range stays a text.
    private static func isKept(_ field: UnsafeRawBufferPointer) -> Bool {
        var writer = CBORWriter()
        guard (try? JSONTranscoder.transcode(field, into: &writer)) != nil else { return true }
        return (try? JSONPrinter.text(of: writer.bytes)).map { field.elementsEqual($0.utf8) } ?? true
    }
}

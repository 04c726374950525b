#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension ValueEncoder {
    /// Writes a value, also a scalar, of a type that has its own CBOR form; false, with nothing written, for every other type.
    @inline(never)
    func writeNative<Value: Encodable>(_ value: Value) throws -> Bool {
        if let text = exactly(value, String.self) {
            writer.write(text)
        } else if let number = exactly(value, Int.self) {
            writer.write(integer: Int64(number))
        } else if let number = exactly(value, Double.self) {
            writer.write(number)
        } else if let flag = exactly(value, Bool.self) {
            writer.write(flag)
        } else if let texts = exactly(value, [String].self) {
            writer.beginArray(count: texts.count)
            for text in texts { writer.write(text) }
        } else if let numbers = exactly(value, [Int].self) {
            writer.beginArray(count: numbers.count)
            for number in numbers { writer.write(integer: Int64(number)) }
        } else if let numbers = exactly(value, [Double].self) {
            writer.beginArray(count: numbers.count)
            for number in numbers { writer.write(number) }
        } else if let bytes = exactly(value, [UInt8].self) {
            writer.write(bytes: bytes)
        } else {
            return writeFoundation(value) || writeNumber(value)
        }
        return true
    }

    @inline(__always)
    private func writeFoundation<Value>(_ value: Value) -> Bool {
        if let date = exactly(value, Date.self) {
            writer.write(date)
        } else if let data = exactly(value, Data.self) {
            data.withUnsafeBytes { writer.write(bytes: $0) }
        } else if let identifier = exactly(value, UUID.self) {
            writer.write(identifier)
        } else if let url = exactly(value, URL.self) {
            return writer.write(url)
        } else if let number = exactly(value, Decimal.self) {
            writer.write(number)
        } else {
            return false
        }
        return true
    }

    @inline(__always)
    private func writeNumber<Value>(_ value: Value) -> Bool {
        if let number = exactly(value, Float.self) {
            writer.write(single: number)
            return true
        }
        return write(value, as: UInt8.self) || write(value, as: UInt16.self) || write(value, as: UInt32.self)
            || write(value, as: UInt64.self) || write(value, as: UInt.self) || write(value, as: Int8.self)
            || write(value, as: Int16.self) || write(value, as: Int32.self) || write(value, as: Int64.self)
            || write(value, as: Int128.self) || write(value, as: UInt128.self)
    }

    @inline(__always)
    private func write<Number: FixedWidthInteger>(_ value: some Any, as type: Number.Type) -> Bool {
        guard let number = exactly(value, type) else { return false }
        writer.write(number: number)
        return true
    }
}

extension CBORWriter {
    mutating func write(single number: Float) {
        write(FloatWidths.double(fromSingle: number.bitPattern))
    }

    /// Writes an integer. The compiler specializes the branch for each type.
    @inline(__always)
    mutating func write<Number: FixedWidthInteger>(number: Number) {
        if Number.bitWidth > 64 {
            write(wide: number)
        } else if Number.isSigned {
            write(integer: Int64(truncatingIfNeeded: number))
        } else {
            write(unsigned: UInt64(truncatingIfNeeded: number))
        }
    }

    /// Writes an integer item if it can hold the number, otherwise a bignum.
    package mutating func write(wide number: some FixedWidthInteger) {
        // Both negative forms of CBOR store n for -1 - n: the number's inverted bits.
        let isNegative = number < 0
        let argument = UInt128(truncatingIfNeeded: isNegative ? ~number : number)
        if let word = UInt64(exactly: argument) {
            writeHead(isNegative ? .negative : .unsigned, word)
        } else {
            write(tag: isNegative ? TagNumber.negativeBignum : TagNumber.unsignedBignum)
            withUnsafeBytes(of: argument.bigEndian) { bytes in
                write(bytes: UnsafeRawBufferPointer(rebasing: bytes.drop { $0 == 0 }))
            }
        }
    }
}

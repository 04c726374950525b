import CBOR
import Foundation
import FuzzTargets

/// Arbitrary bytes as an import file. The first byte has its format (bits 0 to 2) and the size of pieces: records are
/// well-formed, and the same for all sizes.
struct ImportTarget: FuzzTarget {
    static let name = "import"

    mutating func run(_ input: [UInt8]) throws -> String? {
        let flags = input.first ?? 0
        let bytes = Array(input.dropFirst().prefix(2048))
        let whole = try Self.records(bytes, format: flags & 7, piece: 2048)
        let pieces = try Self.records(bytes, format: flags & 7, piece: Int(flags >> 3) + 16)
        for case let record in whole where record.cbor.map({ !CBORReader.isWellFormed($0) }) == true {
            return "a record that is not CBOR, of line \(record.line)"
        }
        if whole != pieces { return "in pieces records differ: \(whole) and \(pieces)" }
        return nil
    }

    struct Record: Equatable {
        let line: Int
        /// `nil` for an invalid one.
        let cbor: [UInt8]?
    }

    /// Standard input is a socket that returns one piece with each read.
    private static func records(_ bytes: [UInt8], format: UInt8, piece: Int) throws -> [Record] {
        var ends: [Int32] = [0, 0]
        guard socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0 else {
            throw POSIXError(.EIO)
        }
        defer { close(ends[0]) }
        for start in stride(from: 0, to: bytes.count, by: piece) {
            let part = Array(bytes[start..<min(bytes.count, start + piece)])
            guard write(ends[1], part, part.count) == part.count else { throw POSIXError(.EIO) }
        }
        close(ends[1])
        guard dup2(ends[0], STDIN_FILENO) == STDIN_FILENO else { throw POSIXError(.EIO) }
        do throws(CommandFailure) {
            let buffer = try InputBuffer(path: "-")
            switch format {
            case 0, 1: return try all(ValueReader(buffer))
            case 2, 3: return try all(ArrayReader(buffer))
            default:
                let delimiter = UInt8(ascii: format < 6 ? "," : "\t")
                var reader = try DelimitedReader(
                    buffer, delimiter, isTextOnly: format % 2 == 1, wanted: ["id"])
                _ = try reader.decideKinds([], key: "id")
                return try all(reader)
            }
        } catch {
            return []
        }
    }

    private static func all(_ reader: some RecordReader) throws(CommandFailure) -> [Record] {
        var reader = reader
        var writer = CBORWriter()
        var records: [Record] = []
        while let record = try reader.next(into: &writer) {
            switch record {
            case .value(let line): records.append(Record(line: line, cbor: writer.bytes))
            case .bad(let line, _), .cut(let line, _): records.append(Record(line: line, cbor: nil))
            }
        }
        return records
    }

    static func seeds() -> [[UInt8]] {
        let lines =
            "{\"id\":1,\"name\":\"Jakarta, [x]\"}\r\n\n{\"id\":2\n [1,2]\n{\n\"id\":3,\n\"a\":[\n{}]}{\"id\":4}"
        let array =
            " [ {\"id\":1,\"s\":\"a,]}\\\"[\"},\n{\"id\":2,\"deep\":[[1],{\"x\":[]}]} ,\nnonsense,\n3]\n"
        let commas = "id,name,at\r\n1,\"Ja\"\"kar\nta\",\"[1,2]\"\r\n2,-1.5,true\n007,,\"\"\"[1]\"\"\"\n"
        let all: [(UInt8, String)] = [
            (0, lines), (2, array), (4, commas), (5, commas),
            (6, commas.replacingOccurrences(of: ",", with: "\t")),
        ]
        return all.flatMap { flags, text in [[flags] + Array(text.utf8), [flags | 0x10] + Array(text.utf8)] }
    }
}

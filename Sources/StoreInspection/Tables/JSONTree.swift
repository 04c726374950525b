import CBOR
import TerminalKit

package indirect enum JSONTree: Sendable {
    case cell(Cell)
    case flag(Bool)
    case object([(name: String, value: JSONTree)])
    case array([JSONTree])
    /// A value in memory that must outlive this.
    case source(JSONSource)

    /// Maximum bytes of a cell that is written at once; larger ones are written in pieces.
    private static let longBytes = 1 << 16

    /// A CBOR item in memory; null if it is absent or unreadable.
    package static func item(_ item: UnsafeRawBufferPointer?) -> JSONTree {
        guard let item, item.count < longBytes || CBORReader.isWellFormed(item) else { return .cell(.absent) }
        return .source(.cbor(item))
    }

    package static func text(_ text: String?) -> JSONTree { .cell(Cell(text)) }
    package static func count(_ count: some BinaryInteger) -> JSONTree {
        .cell(.count(UInt64(clamping: count)))
    }
    package static func cells(_ members: [(name: String, value: Cell)]) -> JSONTree {
        .object(members.map { ($0.name, .cell($0.value)) })
    }

    private static func append(_ source: JSONSource, to output: inout [UInt8]) {
        if case .cbor(let item) = source, (try? JSONPrinter.print(item, into: &output)) != nil { return }
        var text: [UInt8] = []
        let isPrinted = try? source.print { piece in
            text += piece
            return true
        }
        // Malformed items are null.
        output += isPrinted == nil ? Array("null".utf8) : text
    }

    /// - Parameter addLong: writes large parts.
    private func add<Failure>(
        to output: inout [UInt8], _ addLong: (inout [UInt8], JSONSource) throws(Failure) -> Void
    ) throws(Failure) {
        switch self {
        case .cell(.item(let item)) where item.count >= JSONTree.longBytes:
            guard CBORReader.isWellFormed(item) else { return output.append(contentsOf: "null".utf8) }
            try item.withUnsafeBufferPointer { (bytes) throws(Failure) in
                try addLong(&output, .cbor(UnsafeRawBufferPointer(bytes)))
            }
        case .cell(let cell): cell.appendJSON(to: &output)
        case .flag(let flag): output.append(contentsOf: (flag ? "true" : "false").utf8)
        case .object(let members):
            output.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                JSONTree.append(member.name, to: &output)
                output.append(UInt8(ascii: ":"))
                try member.value.add(to: &output, addLong)
            }
            output.append(UInt8(ascii: "}"))
        case .array(let elements):
            output.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                try element.add(to: &output, addLong)
            }
            output.append(UInt8(ascii: "]"))
        case .source(let source): try addLong(&output, source)
        }
    }

    /// On one line, without a line end.
    package var text: String {
        var text: [UInt8] = []
        add(to: &text) { JSONTree.append($1, to: &$0) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Writes large parts in pieces.
    package func write(to output: OutputWriter, end: String = "") throws(SourceError) {
        var text: [UInt8] = []
        try add(to: &text) { (text, source) throws(SourceError) in
            guard source.count >= JSONTree.longBytes else { return JSONTree.append(source, to: &text) }
            try TerminalSafe.write(text, to: output)
            text = []
            try output.write(source)
        }
        text.append(contentsOf: end.utf8)
        try TerminalSafe.write(text, to: output)
    }

    package func writeLine(to output: OutputWriter) throws(SourceError) { try write(to: output, end: "\n") }

    /// The text as a JSON string with control characters escaped.
    static func append(_ text: String, to output: inout [UInt8]) {
        var (text, json) = (text, [UInt8]())
        text.withUTF8 { JSONString.append(UnsafeRawBufferPointer($0), to: &json) }
        output += TerminalSafe.column(json: String(decoding: json, as: UTF8.self)).utf8
    }

    static func string(_ text: String) -> String {
        var output: [UInt8] = []
        append(text, to: &output)
        return String(decoding: output, as: UTF8.self)
    }
}

/// Writes JSON records: one per line, or as one array.
package struct JSONRecords {
    let isArray: Bool
    let output: OutputWriter
    private var isEmpty = true

    package init(isArray: Bool, output: OutputWriter) { (self.isArray, self.output) = (isArray, output) }

    package mutating func write(_ record: JSONTree) throws(SourceError) {
        guard isArray else { return try record.writeLine(to: output) }
        try output.write(isEmpty ? "[\n" : ",\n")
        isEmpty = false
        try record.write(to: output)
    }

    package func finish() throws(SourceError) {
        if isArray { try output.write(isEmpty ? "[]\n" : "\n]\n") }
    }
}

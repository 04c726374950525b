extension CBORValue: CustomStringConvertible {
    /// The value in diagnostic notation; see ``CBORDiagnosticPrinter``. O(size).
    public var diagnostic: String {
        text { bytes throws(CBORError) in try CBORDiagnosticPrinter.text(of: bytes, maximumDepth: .max) }
    }

    public var description: String { diagnostic }

    /// The value as JSON text. ``JSONPrinter`` documents how it represents what JSON lacks. O(size).
    public func json(_ layout: JSONLayout = .compact) -> String {
        text { bytes throws(CBORError) in try JSONPrinter.text(of: bytes, layout: layout, maximumDepth: .max)
        }
    }

    /// Parses a JSON text. ``JSONTranscoder`` documents the conversion. O(size).
    public init(json: String) throws(JSONError) {
        let bytes = try JSONTranscoder.cbor(from: json)
        do throws(CBORError) {
            self = try CBORReader.decode(bytes)
        } catch {
            // The transcoder writes well-formed items only, nested less deep than the reader's limit.
            preconditionFailure("The transcoder wrote invalid CBOR: \(error)")
        }
    }

    private func text(_ print: ([UInt8]) throws(CBORError) -> String) -> String {
        do throws(CBORError) {
            return try print(encoded)
        } catch {
            // The writer writes only well-formed items, and the printer has no depth limit here.
            preconditionFailure("The writer wrote invalid CBOR: \(error)")
        }
    }
}

/// Why an item is not a value of a type. Where it stands is added by the container that asked for it.
enum ReadFault: Error {
    /// The type isn't one of those that are read here; it decodes itself.
    case notNative
    case malformed(CBORError)
    /// An item of another kind.
    case mismatch(any Any.Type, found: String)
    /// Null, or undefined.
    case null(any Any.Type)
    /// An item of a fitting kind whose value the type does not have.
    case unfit(any Any.Type, String)
    /// The fault of an array's item, counted from 0.
    indirect case item(Int, ReadFault)

    func decodingError(at path: [any CodingKey]) -> DecodingError {
        switch self {
        case .notNative:
            .dataCorrupted(.init(codingPath: path, debugDescription: "The type decodes itself."))
        case .malformed(let error):
            .dataCorrupted(
                .init(
                    codingPath: path, debugDescription: "The data is not CBOR: \(error)",
                    underlyingError: error))
        case .mismatch(let type, let found):
            .typeMismatch(
                type, .init(codingPath: path, debugDescription: "Expected \(type) and found \(found)."))
        case .null(let type):
            .valueNotFound(
                type, .init(codingPath: path, debugDescription: "Expected \(type) and found null."))
        case .unfit(let type, let found):
            .dataCorrupted(
                .init(codingPath: path, debugDescription: "Not a value of \(type): \(found)."))
        case .item(let index, let fault):
            fault.decodingError(at: path + [IndexKey(index)])
        }
    }
}

/// Why an item isn't a value of a type. The container that asked for it adds the coding path.
enum ReadFault: Error {
    /// The type has no native CBOR form; it decodes itself.
    case notNative
    case malformed(CBORError)
    case mismatch(any Any.Type, found: String)
    case null(any Any.Type)
    /// The kind of the item fits, but its value is outside the type's range.
    case unfit(any Any.Type, String)
    /// A fault in an item of an array, counted from 0.
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

import ArchiveQuery
import CBOR

extension CBORValue {
    /// Maximum number of decoded lists, because each may expand to many times its size.
    private static let mostPropertyLists = 16

    /// The value with embedded binary property lists decoded, such as the keyed archives of a nest.
    func decodingPropertyLists() -> CBORValue {
        var left = CBORValue.mostPropertyLists
        return decodingPropertyLists(&left)
    }

    private func decodingPropertyLists(_ left: inout Int) -> CBORValue {
        switch self {
        case .bytes(let bytes):
            guard left > 0, bytes.starts(with: "bplist00".utf8) else { return self }
            left -= 1
            let list = RecognizedValue(bytes, encoding: .propertyList)
            guard list.form == .propertyList else { return self }
            return (try? CBORReader.decode(list.item)) ?? self
        case .array(let items): return .array(items.map { $0.decodingPropertyLists(&left) })
        case .map(let map):
            return .map(
                CBORMap(map.entries.map { .init(key: $0.key, value: $0.value.decodingPropertyLists(&left)) }))
        case .tagged(let tag, let content): return .tagged(tag, content.decodingPropertyLists(&left))
        default: return self
        }
    }
}

import ArchiveQuery
import CBOR

extension CBORValue {
    /// Maximum number of embedded lists; each may expand to many times its bytes.
    private static let mostPropertyLists = 16

    /// The value with the content of its binary property lists, such as a nest's keyed archives, instead of their bytes.
    func openingPropertyLists() -> CBORValue {
        var left = CBORValue.mostPropertyLists
        return openingPropertyLists(&left)
    }

    private func openingPropertyLists(_ left: inout Int) -> CBORValue {
        switch self {
        case .bytes(let bytes):
            guard left > 0, bytes.starts(with: "bplist00".utf8) else { return self }
            left -= 1
            let list = RecognizedValue(bytes, encoding: .propertyList)
            guard list.form == .propertyList else { return self }
            return (try? CBORReader.decode(list.item)) ?? self
        case .array(let items): return .array(items.map { $0.openingPropertyLists(&left) })
        case .map(let map):
            return .map(
                CBORMap(map.entries.map { .init(key: $0.key, value: $0.value.openingPropertyLists(&left)) }))
        case .tagged(let tag, let content): return .tagged(tag, content.openingPropertyLists(&left))
        default: return self
        }
    }
}

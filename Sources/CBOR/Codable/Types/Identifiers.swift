#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CBORWriter {
    /// Writes the 16 bytes of the identifier (RFC 9562, registered for CBOR as tag 37).
    mutating func write(_ identifier: UUID) {
        write(tag: TagNumber.uuid)
        withUnsafeBytes(of: identifier.uuid) { write(bytes: $0) }
    }

    /// Writes the text (RFC 8949, 3.4.5.3); false, with nothing written, for URLs that can't be recreated (relative ones).
    mutating func write(_ url: URL) -> Bool {
        guard url.baseURL == nil, URL(string: url.relativeString) == url else { return false }
        write(tag: TagNumber.url)
        write(url.relativeString)
        return true
    }
}

extension CBORReader {
    /// Reads an identifier as 16 bytes or as text of hexadecimal digits, tagged or not.
    mutating func decodeUUID() throws(ReadFault) -> UUID {
        try skipTags()
        if try nextType(UUID.self) == .text {
            let text = try decodeText()
            guard let identifier = UUID(uuidString: text) else { throw .unfit(UUID.self, "\"\(text)\"") }
            return identifier
        }
        let content = try decodeByteString(UUID.self)
        guard content.count == 16 else { throw .unfit(UUID.self, "\(content.count) bytes") }
        var identifier = uuid_t(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &identifier) { $0.copyBytes(from: content) }
        return UUID(uuid: identifier)
    }

    mutating func decodeURL() throws(ReadFault) -> URL {
        let text = try decodeText()
        guard let url = URL(string: text) else { throw .unfit(URL.self, "\"\(text)\"") }
        return url
    }
}

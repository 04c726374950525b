import CBOR

/// Spells keys, which are any bytes, as texts: UTF-8 unchanged, other bytes as `h'636166e9'` (``ByteText``). Each spelling denotes
/// one key.
package enum KeyName {
    package static func text(_ bytes: some Collection<UInt8>) -> String {
        String(validating: bytes, as: UTF8.self).map { ByteText.spelling(of: $0) }
            ?? ByteText.spelling(of: bytes)
    }

    package static func bytes(_ text: String) -> [UInt8] {
        switch ByteText.value(of: text) {
        case .bytes(let bytes): bytes
        case let value: Array((value.asString ?? text).utf8)
        }
    }
}

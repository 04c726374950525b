/// The usual spelling of a UUID (RFC 9562, section 4), in capitals as Foundation has it.
package enum UUIDText {
    /// Bytes of a UUID.
    package static let bytes = 16

    /// The spelling of sixteen bytes.
    package static func text(of uuid: some Sequence<UInt8>) -> String {
        var text = ""
        for (place, byte) in uuid.enumerated() {
            if [4, 6, 8, 10].contains(place) { text += "-" }
            if byte < 16 { text += "0" }
            text += String(byte, radix: 16, uppercase: true)
        }
        return text
    }
}

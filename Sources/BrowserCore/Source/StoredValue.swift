import ServerInspection
import StorageEngine
import StoreInspection
import TerminalKit

package struct StoredValue: Sendable, Hashable {
    package var bytes: [UInt8]
    package var encoding: ValueEncoding
    /// Sequence number and creation time: together they identify the value, also if another archive has this name.
    package var sequence: UInt64
    package var created: Timestamp

    package init(_ bytes: [UInt8], encoding: ValueEncoding, sequence: UInt64, created: Timestamp) {
        self.bytes = bytes
        self.encoding = encoding
        self.sequence = sequence
        self.created = created
    }
}

/// An edit, to be stored only if the entry is unchanged.
package struct StoredEdit: Sendable, Hashable {
    package let key: String
    /// The part of a server's value that is replaced; nil: the whole value.
    package let element: ValueElement?
    package let bytes: [UInt8]
    package let encoding: ValueEncoding
    /// The replaced value, whose TTL and owner are kept; nil for a new entry.
    package let replacing: StoredValue?

    /// Key and element for the screen.
    var name: String {
        TerminalText.sanitized(element.map { "\(key) \($0.name)" } ?? key)
    }
}

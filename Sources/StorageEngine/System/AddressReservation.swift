import Synchronization

/// Memory that the owner will need. Under a limit of addresses, files are mapped only if it stays free. Not thread-safe.
package final class AddressReservation {
    private final class Total: Sendable { let bytes = Atomic<Int>(0) }
    private static let known = PerProcess { Total() }
    static var total: Int { known.value.bytes.load(ordering: .relaxed) }

    private let total = AddressReservation.known.value
    private var bytes: Int

    /// Reserves the bytes until ``lower(to:)``, or until this object ends.
    package init(_ bytes: Int) {
        self.bytes = bytes
        total.bytes.add(bytes, ordering: .relaxed)
    }

    deinit { lower(to: 0) }

    /// Reduces the reservation to the bytes still needed.
    package func lower(to left: Int) {
        total.bytes.subtract(bytes - left, ordering: .relaxed)
        bytes = left
    }
}

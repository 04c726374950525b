import StorageEngine

/// The memory limit of a query, shared by all of its stages.
final class MemoryBudget {
    let limit: Int
    private(set) var used = 0
    private(set) var peak = 0
    /// Whether the limit is reduced for lack of address space.
    private let isShort: Bool
    /// Reserved addresses, in a limited address space.
    private let reservation: AddressReservation?
    /// The use at which the reservation was last reduced.
    private var noted: Int

    /// Address space per counted byte: a growing container has its old and its new buffer at the same time.
    private static let growth = 4
    private static let fileBytes = 4 << 20
    /// Address space for one mapped segment of the log.
    private static let segmentBytes = 16 << 20
    private static let step = 256 << 10

    init(limit: Int) {
        self.limit = limit
        (isShort, reservation, noted) = (false, nil, .max)
    }

    /// Limits the budget to the part of `wanted` that fits into this process's address space, beside a mapped segment.
    init(atMost wanted: Int) {
        limit = AddressPressure.countWithinLimit(
            wanted, least: min(wanted, Self.step), bytesEach: Self.growth,
            besides: Self.fileBytes + Self.segmentBytes)
        isShort = limit < wanted
        reservation =
            AddressPressure.isLimited ? AddressReservation(Self.growth * limit + Self.fileBytes) : nil
        noted = reservation == nil ? .max : Self.step
    }

    /// - Throws: beyond the limit; `StorageError.limitReached` if the address space caused the limit.
    func take(_ bytes: Int) throws {
        use(bytes)
        guard used > limit else { return }
        if isShort { throw AddressPressure.lack("keep more than \(limit) bytes for", "a query") }
        throw QueryError.tooMuchMemory(limit: limit)
    }

    /// Takes memory that a stage needs even beyond the limit.
    func use(_ bytes: Int) {
        used += bytes
        peak = max(peak, used)
        if used > noted { note() }
    }

    private func note() {
        noted = used + Self.step
        reservation?.lower(to: Self.growth * max(0, limit - used) + Self.fileBytes)
    }

    func hasSpace(for bytes: Int) -> Bool { used + bytes <= limit }

    func release(_ bytes: Int) { used -= bytes }
}

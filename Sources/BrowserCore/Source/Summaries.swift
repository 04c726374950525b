import ArchiveQuery
import ServerInspection
import StorageEngine
import StoreInspection
import TerminalKit

package struct StoreList: Sendable, Hashable {
    package var stores: [StoreSummary]
    /// Why favorites and recent stores couldn't be read; one line.
    package var favoritesProblem: String?

    package init(_ stores: [StoreSummary], favoritesProblem: String? = nil) {
        (self.stores, self.favoritesProblem) = (stores, favoritesProblem)
    }
}

package struct StoreSummary: Sendable, Hashable {
    package var name: String
    package var path: String
    package var archives: Int
    package var entries: Int
    package var diskBytes: UInt64
    /// Memory of a server; nil: unknown.
    package var memoryBytes: UInt64?
    package var activity = ArchiveStatus(name: "", configuration: ArchiveConfiguration())
    /// Why it can't be read; one line.
    package var problem: String?
    package var isFavorite = false
    package var opened: Timestamp?
    /// Whether it is in another folder and was opened before.
    package var isElsewhere = false

    package init(
        name: String, path: String, archives: Int = 0, entries: Int = 0, diskBytes: UInt64 = 0,
        problem: String? = nil
    ) {
        self.name = name
        self.path = path
        self.archives = archives
        self.entries = entries
        self.diskBytes = diskBytes
        self.problem = problem
    }

    mutating func add(_ figures: StoreFigures) {
        archives = figures.archives.count
        entries = figures.archives.reduce(0) { $0 &+ $1.entries }
        memoryBytes = figures.whole?.memoryBytes
        for archive in figures.archives where archive.problem == nil {
            diskBytes &+= archive.diskBytes
            activity.hits &+= archive.hits
            activity.misses &+= archive.misses
            activity.records &+= archive.records
            activity.deletes &+= archive.deletes
        }
    }
}

package struct StoreFigures: Sendable, Hashable {
    package var archives: [ArchiveSample]
    package var processes: [AttachedProcess]
    /// Accesses counted for this process; browsing must not add any.
    package var ownAccesses: UInt64
    /// The id of this process; 0 if unknown.
    package var ownPid: Int32
    /// The text for an empty list of processes.
    package var absence: String
    package var isRingFile = false
    /// The figures of a server; nil for stores.
    package var server: ServerFigures?
    /// Metadata that the source can't report.
    package var unreported: Set<QueryMetadata> = []
    /// Why values are read only on request; nil if a read doesn't count as an access.
    package var unreadableReason: String?
    package var whole: ArchiveSample?
    package var isReadOnly = false
    /// Whether this user may only read it.
    package var isOfAnotherUser = false

    var counted: [ArchiveSample] { whole.map { [$0] } ?? archives }

    package init(
        archives: [ArchiveSample], processes: [AttachedProcess] = [], ownAccesses: UInt64 = 0,
        ownPid: Int32 = 0, absence: String = "No process has the store open for writing."
    ) {
        self.absence = absence
        self.archives = archives
        self.processes = processes
        self.ownAccesses = ownAccesses
        self.ownPid = ownPid
    }
}

package struct ServerValueFacts: Sendable, Hashable {
    /// A note in one line.
    let remark: String?
    /// The type; nil for strings.
    let typeName: String?
    /// The size in bytes, as in lists.
    let memory: Int?
    /// When the value was read; nil: later changes are noticed.
    let read: Timestamp?
}

package struct ServerActivity: Sendable, Hashable {
    package var clients: [ServerClient]
    /// The latest first.
    package var slow: [SlowCommand]
}

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
    var name: String { TerminalText.sanitized(element.map { "\(key) \($0.name)" } ?? key) }
}

package enum KeyAbsence: Sendable, Hashable {
    /// The log can be searched for its changes (``StoreSource/logHistory(of:in:progress:)``).
    case removed
    /// Expired at this time, but not removed yet.
    case expired(Timestamp)
}

import ArchiveQuery
import ServerInspection
import StorageEngine
import StoreInspection

/// The stores that can be chosen from. A value; safe to share between threads.
package struct StoreList: Sendable, Hashable {
    package var stores: [StoreSummary]
    /// Why neither favourites nor stores that were opened before are known; one line.
    package var unremembered: String?

    package init(_ stores: [StoreSummary], unremembered: String? = nil) {
        (self.stores, self.unremembered) = (stores, unremembered)
    }
}

/// A store that was found in a folder. A value; safe to share between threads.
package struct StoreSummary: Sendable, Hashable {
    package var name: String
    package var path: String
    package var archives: Int
    package var entries: Int
    package var diskBytes: UInt64
    /// Sums of the archives' counters.
    package var activity = ArchiveStatus(name: "", configuration: ArchiveConfiguration())
    /// Why nothing more is known about it; one line.
    package var problem: String?
    package var isFavourite = false
    package var opened: Timestamp?
    /// Whether it is in another folder than the one that is listed, and was opened before.
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
}

/// A store's archives and the processes attached to it at one moment. A value; safe to share between threads.
package struct StoreFigures: Sendable, Hashable {
    package var archives: [ArchiveSample]
    package var processes: [AttachedProcess]
    /// Accesses that the store has booked to this very process: what looking would add to if it left a trace.
    package var ownAccesses: UInt64
    /// This very process, which may have written for a person; 0 when it isn't known.
    package var ownPid: Int32
    /// What there is to say where no processes are.
    package var absence: String
    /// Whether it is no store but a file of messages.
    package var isRingFile = false
    /// What a server says of itself, if it is one; nil: it is a store.
    package var server: ServerFigures?
    /// Metadata of entries that the source can't report.
    package var unreported: Set<QueryMetadata> = []
    /// Counters and memory of a server, which has them for all its databases together.
    package var whole: ArchiveSample?
    /// Whether only another user may change it.
    package var isOfAnotherUser = false

    var counted: [ArchiveSample] { whole.map { [$0] } ?? archives }

    package init(
        archives: [ArchiveSample], processes: [AttachedProcess] = [], ownAccesses: UInt64 = 0,
        ownPid: Int32 = 0, absence: String = "No process has it open for writing."
    ) {
        self.absence = absence
        self.archives = archives
        self.processes = processes
        self.ownAccesses = ownAccesses
        self.ownPid = ownPid
    }
}

/// What happens at a server. A value; safe to share between threads.
package struct ServerActivity: Sendable, Hashable {
    package var clients: [ServerClient]
    /// The latest first.
    package var slow: [SlowCommand]
}

import StorageEngine
import StoreInspection
import TerminalKit

/// All that the browser knows: what it shows follows from this alone. A value; one thread changes it, any may read a copy.
package struct Model: Sendable {
    package var size: Size
    package var look: Look
    private let onlyLooks: Bool
    private let allKeys: BrowserKeyMap
    private let lookingKeys: BrowserKeyMap
    let surroundings: Surroundings
    package var now: Timestamp
    var refreshInterval = BrowserLoop.refreshInterval

    package internal(set) var screen: Screen
    package let folder: String
    /// The store that is open; nil on the stores screen.
    package internal(set) var store: String?
    /// Its number among those that were opened; 0: the list of stores is shown.
    var workspace: Int
    /// The key that leads to it, 1 to 9; 0: the list of stores is shown.
    var place: Int
    var lastWorkspace: Int
    var kept: [Workspace] = []
    /// When their figures were asked for last.
    var watchedKept: Timestamp?
    /// Whether it stands for a store that isn't shown at this moment (``inWorkspace(_:_:)``).
    var isInBackground = false
    var stores = StoresState()
    var archives = ArchivesState()
    var entries: EntriesState?
    var groups: GroupsState?
    var value: ValueState?
    var query: QueryState?
    /// Queries of this session and of earlier ones, the latest last.
    var queryHistory: [PastQuery] = []
    var savedQueries: [SavedQuery] = []
    /// Those of them that could be saved for this session only.
    var unkeptQueries: [SavedQuery] = []
    var knowsEarlierQueries = false
    var log: LogState?
    var monitor: MonitorState?
    var events = EventLog()

    var showsHints: Bool
    var capturesMouse: Bool
    var overlay: Overlay?
    /// When something came, while a question waited, that may be of a text that nobody typed as an answer.
    var doubtedAt: Timestamp?
    /// The last time that a key was refused behind which text may follow, or that such text came.
    var textRefusedAt: Timestamp?
    var prompt: Prompt?
    var notice: Notice?
    /// Long work that a person waits for, the latest last: what changes a store, and for each store at most one other.
    private var jobs: [Job] = []
    var undoWatch: UndoWatch?
    var pausedSince: Timestamp?
    /// The last time that a person moved or typed: the order of rows is frozen for a while after it.
    var touched: Timestamp?
    /// Since when it is, without a break.
    var heldSince: Timestamp?
    var cost = StoreCost()
    /// Commands that values were piped to in this session, the latest last.
    var pipes: [String] = []
    /// What would lose something, and is done if it is asked for again soon.
    var askedFirst: (action: ActionID, since: Timestamp, last: Timestamp, isNew: Bool)?
    /// The key that answered a question last, and when it came last: one that is held down repeats.
    var answeredBy: (key: Key, last: Timestamp)?
    /// Whether it was said what to do if the clipboard stays empty.
    var hasExplainedClipboard = false
    private var lastTicket = 0

    /// - Parameters:
    ///   - store: the folder of a store; nil lists the stores of `folder`.
    ///   - now: the moment that the first frame shows.
    ///   - problems: what of the person's settings can't be used; a line each.
    package init(
        size: Size, look: Look, folder: String = "", store: String? = nil, isReadOnly: Bool = false,
        now: Timestamp, keyMap: BrowserKeyMap = ActionTable.keyMap(), problems: [String] = [],
        surroundings: Surroundings = Surroundings()
    ) {
        self.surroundings = surroundings
        showsHints = surroundings.showsHints
        capturesMouse = surroundings.capturesMouse
        self.size = size
        self.look = look
        self.folder = folder
        self.store = store
        onlyLooks = isReadOnly
        self.now = now
        (allKeys, lookingKeys) = (keyMap, keyMap.without(.destructive))
        screen = store == nil ? .stores : .archives
        workspace = store == nil ? 0 : 1
        lastWorkspace = workspace
        place = workspace
        if !problems.isEmpty {
            overlay = .message(
                "Not all settings can be used",
                problems + ["", "For these the defaults hold; vellum config shows all."])
        }
    }

    package var isReadOnly: Bool { onlyLooks || archives.figures?.isOfAnotherUser == true }
    package var keyMap: BrowserKeyMap { isReadOnly ? lookingKeys : allKeys }

    /// A number that no other request has, so that an answer is known to be the one that is waited for.
    mutating func ticket() -> Int {
        lastTicket += 1
        return lastTicket
    }

    /// The work that is in view: what changes a store until it is over, so that Esc reaches it; else that on the store shown.
    var job: Job? {
        get { jobs.last(where: \.isChange) ?? jobs.last { $0.workspace == workspace } }
        set {
            guard let place = jobs.lastIndex(where: { $0.ticket == job?.ticket }) else { return }
            if let newValue { jobs[place] = newValue } else { jobs.remove(at: place) }
        }
    }

    mutating func begin(_ new: Job) {
        var new = new
        new.workspace = workspace
        if !new.isChange { endOtherWork() }
        jobs.append(new)
    }

    /// The work with that ticket is over; `false`: somebody stopped it.
    @discardableResult
    mutating func ends(_ ticket: Int) -> Bool {
        guard let place = jobs.firstIndex(where: { $0.ticket == ticket }) else { return false }
        jobs.remove(at: place)
        if [entries?.ticket, query?.ticket].contains(ticket) {
            unsay(Model.awaited, instead: "The wait is over; press it again.")
        }
        return true
    }

    mutating func note(share: Double, of ticket: Int) {
        guard let place = jobs.firstIndex(where: { $0.ticket == ticket }) else { return }
        jobs[place].share = share
    }

    /// Nobody waits any more for what doesn't change the store that is shown.
    mutating func endOtherWork() {
        jobs.removeAll { !$0.isChange && !$0.leadsToQuestion && $0.workspace == workspace }
    }

    /// What work does, with its store's name if that isn't shown.
    func words(of job: Job) -> String {
        guard let other = kept.first(where: { $0.id == job.workspace }) else { return job.text }
        return "\(other.place):\(StorePath.name(other.store)): \(job.text)"
    }

    func isBusy(_ workspace: Int) -> Bool { jobs.contains { $0.workspace == workspace } }

    mutating func endWork(of workspace: Int) { jobs.removeAll { $0.workspace == workspace } }

    mutating func say(_ text: String, role: Role = .text, seconds: Double = 6) {
        let place = isInBackground ? "\(TitleView.storeName(self)): " : ""
        notice = Notice(text: place + text, role: role, until: now.adding(seconds: seconds))
    }

    static let awaited = " isn't taken: the rows aren't there yet; esc ends the wait."

    /// Takes back what was said, where it still stands and has become untrue, and says `instead` there.
    mutating func unsay(_ text: String, instead: String? = nil) {
        guard let notice, notice.text.hasSuffix(text) else { return }
        self.notice = nil
        if let instead { say(instead, role: .warning) }
    }

    /// Seconds after something that may be of a text, in which no answer is taken; and after a question, for it must be read.
    static let doubt = 0.5

    /// Whether an answer may be the rest of a text that comes in pieces.
    var isInDoubt: Bool { doubtedAt.map { abs(now.seconds(since: $0)) < Model.doubt } ?? false }

    /// Seconds after which the next of a key that answered isn't its repeating any more: keyboards wait at most so long before that.
    private static let repeating = 0.7

    mutating func isStillHeld(_ key: Key) -> Bool {
        guard let held = answeredBy, held.key == key,
            (0..<Model.repeating).contains(now.seconds(since: held.last))
        else {
            answeredBy = nil
            return false
        }
        answeredBy?.last = now
        return true
    }

    /// Whether an action is asked for again, within seconds but not at once: a key that is held down, some thirty times a second, is
    /// no answer, however long.
    mutating func isAskedAgain(_ action: ActionID) -> Bool {
        let before = askedFirst
        askedFirst = (action, now, now, true)
        guard let before, before.action == action, now.seconds(since: before.last) < 5 else { return false }
        askedFirst?.since = before.since
        return now.seconds(since: before.since) >= Model.doubt && now.seconds(since: before.last) >= 0.2
    }

    /// How the screen stands to the store.
    package enum Pace: Sendable, Hashable {
        case live
        /// The order of rows stays while a person types or moves; seconds for which it does.
        case frozen(Double)
        case paused(Double)
    }

    /// How long the order stays frozen after a key, in seconds.
    static let freeze = 3.0

    package var pace: Pace {
        if let pausedSince { return .paused(max(0, now.seconds(since: pausedSince))) }
        guard let listed = parts.listed(self), isHeld else { return .live }
        return .frozen(max(0, now.seconds(since: max(listed, heldSince ?? now))))
    }

    mutating func noteHold() { heldSince = isHeld ? heldSince ?? now : nil }

    private var isHeld: Bool {
        if prompt != nil || overlay != nil { return true }
        guard let touched, !parts.follows(self) else { return false }
        return now.seconds(since: touched) < Model.freeze
    }

    func address(_ name: String) -> ArchiveAddress? { store.map { ArchiveAddress(name, in: $0) } }

    /// What is known of an archive; nil also where it is another store's.
    func sample(_ archive: ArchiveAddress) -> ArchiveSample? {
        address(archive.name) == archive ? archives.summary(archive.name) : nil
    }

    /// How a process is called: by its name if it still has the store open.
    func processName(_ pid: Int32) -> String {
        let process = archives.figures?.processes.first { $0.pid == pid }
        return ProcessName.words(pid, pid == archives.figures?.ownPid ? "this browser" : process?.name)
    }

    /// The moment that ages are counted to: a paused screen stands still.
    var shownNow: Timestamp { pausedSince ?? now }
}

/// What the browser has cost the store since it was opened. A value; safe to share between threads.
struct StoreCost: Sendable, Hashable {
    /// Accesses that the store booked to this process, by its own table of processes.
    private(set) var touches: UInt64 = 0
    /// Those that it had booked before the browser looked.
    private var earlierAccesses: UInt64?
    private(set) var writes = 0
    /// The longest that a write took, in seconds: an upper bound of the time a lock was held.
    private(set) var longestLock = 0.0

    /// What a person did.
    mutating func note(writes count: Int, longestCall: Double) {
        writes += count
        longestLock = max(longestLock, longestCall)
    }

    mutating func note(accesses: UInt64) {
        let earlier = earlierAccesses ?? accesses
        earlierAccesses = earlier
        // The counters of a recreated archive restart.
        touches = accesses >= earlier ? accesses - earlier : touches
    }
}

struct Notice: Sendable, Hashable {
    var text: String
    var role: Role
    var until: Timestamp
}

struct Job: Sendable, Hashable {
    var ticket: Int
    var title: String
    var since: Timestamp
    /// 0 to 1.
    var share = 0.0
    /// Of how many entries; nil where only the share is known.
    var total: Int?
    /// Whether it has become part of something that can no longer be stopped.
    var isStoppable = true
    var isChange = false
    /// Whether a question comes of it, which no other work may cost.
    var leadsToQuestion = false
    var workspace = 0

    /// `deleting 34,048 of 100,000, Esc stops`
    var text: String {
        let amount = total.map { total in
            let done = Int(share * Double(total))
            return done > 0
                ? " \(Figures.count(done)) of \(Figures.count(total))" : " \(Figures.count(total))"
        }
        return title + (amount ?? "") + (isStoppable ? ", Esc stops" : "")
    }

    static let stopping = "stopping after"

    /// Seconds after which work is called long and shown.
    static let patience = 0.25
}

struct Prompt: Sendable {
    var label: String
    var field: TextField
    /// What Esc brings back.
    var before = ""
    var keys: [(key: String, title: String)]
    var purpose = Purpose.screen
    /// What stands behind the field; nil: what the screen has to say there.
    var note: String?
    /// What was said of the last input. It stands there instead, and where there is no room in another row.
    var said: String?
    /// How many texts of its history the one that is shown lies back; nil: what was typed.
    var recalled: Int?

    /// Whose prompt it is. What it is about is frozen when it opens.
    enum Purpose: Sendable {
        case screen
        case condition
        case column(ArchiveAddress)
        case saveQuery(SavedQuery)
        case export
        case pipe(EntryAddress)
        case write(EntryAddress)
        case newEntry(ArchiveAddress)
        /// Of an archive, or of all.
        case alarm(Metric, String?)
        /// With the sample whose figures the prompt shows.
        case archive(ActionID, ArchiveAddress, ArchiveSample)
    }

    /// What stands behind the field as long as nothing is said of the input.
    func remark(_ model: Model) -> String { note ?? (isOfScreen ? model.parts.promptNote(model) : "") }

    var isOfScreen: Bool {
        switch purpose {
        case .screen, .condition: true
        case .column, .saveQuery, .export, .pipe, .write, .newEntry, .alarm, .archive: false
        }
    }
}

import StorageEngine
import StoreInspection
import TerminalKit

package struct Model: Sendable {
    package var size: Size
    package var look: Look
    private let onlyLooks: Bool
    private let allKeys: BrowserKeyMap
    private let lookingKeys: BrowserKeyMap
    let environment: BrowserEnvironment
    package var now: Timestamp

    package internal(set) var screen: Screen
    package let folder: String
    package internal(set) var store: String?
    /// Number of the current store in the order of opening; 0: none.
    var workspace: Int
    /// The digit that shows it, 1 to 9; 0: none.
    var place: Int
    var lastWorkspace: Int
    var kept: [Workspace] = []
    var keptStoresRead: Timestamp?
    /// Whether an update of a store in the background is running (``inWorkspace(_:_:)``).
    var isInBackground = false
    var stores = StoresState()
    var archives = ArchivesState()
    var entries: EntriesState?
    var groups: GroupsState?
    var value: ValueState?
    var query: QueryState?
    /// Oldest first, with those of earlier sessions.
    var queryHistory: [PastQuery] = []
    var savedQueries: [SavedQuery] = []
    var unkeptQueries: [SavedQuery] = []
    var knowsEarlierQueries = false
    var log: LogState?
    /// Whether long messages wrap instead of being cut.
    var wrapsMessages = false
    var monitor: MonitorState?
    var advise: AdviseState?
    var events = EventLog()

    var showsHints: Bool
    var capturesMouse: Bool
    var overlay: (any Overlay)?
    /// When input that looks like pasted text was last refused as an answer to a dialog.
    var answerRefusedAt: Timestamp?
    /// When a key that opens a text field, or text after it, was last refused.
    var textRefusedAt: Timestamp?
    /// When a dialog was last refused or closed by a key that also quits, and when such a key was last pressed after that.
    var dialogEnd: (since: Timestamp, last: Timestamp)?
    var prompt: Prompt?
    var notice: Notice?
    /// Long work, latest last: changes, and at most one other job for each store.
    private var jobs: [Job] = []
    var undoWatch: UndoWatch?
    var pausedSince: Timestamp?
    /// The last key that moved or typed; the order of rows is frozen for a while after it.
    var touched: Timestamp?
    /// Start of the current freeze of the row order.
    var heldSince: Timestamp?
    var cost = StoreCost()
    var pipes: [String] = []
    /// An action that must be repeated to confirm it.
    var pendingConfirmation: (action: ActionID, since: Timestamp, last: Timestamp, isNew: Bool)?
    /// The last key that answered a dialog, and its latest repetition.
    var answeredBy: (key: Key, last: Timestamp)?
    var hasExplainedClipboard = false
    /// Whether a store was named at the start, so that Esc doesn't leave its archives.
    let startsInStore: Bool
    /// Whether the browser was started with a server or ring file.
    let isOfSingleStore: Bool
    private var lastTicket = 0

    /// - Parameters:
    ///   - store: the folder of a store; nil lists the stores of `folder`.
    ///   - now: the time of the first frame.
    ///   - problems: invalid settings, one line each.
    package init(
        size: Size, look: Look, folder: String = "", store: String? = nil, isReadOnly: Bool = false,
        now: Timestamp, keyMap: BrowserKeyMap = ActionTable.keyMap(), problems: [String] = [],
        environment: BrowserEnvironment = BrowserEnvironment()
    ) {
        self.environment = environment
        showsHints = environment.showsHints
        capturesMouse = environment.capturesMouse
        self.size = size
        self.look = look
        self.folder = folder
        self.store = store
        startsInStore = store != nil
        isOfSingleStore = store == folder
        onlyLooks = isReadOnly
        self.now = now
        (allKeys, lookingKeys) = (keyMap, keyMap.without(.destructive))
        screen = store == nil ? .stores : .archives
        workspace = store == nil ? 0 : 1
        lastWorkspace = workspace
        place = workspace
        if !problems.isEmpty {
            overlay = MessageBox(
                "Some settings are invalid",
                problems + ["", "Their defaults are used. vellum config shows all settings."])
        }
    }

    package var isReadOnly: Bool {
        onlyLooks || archives.figures.map { $0.isOfAnotherUser || $0.isReadOnly } == true
    }
    package var keyMap: BrowserKeyMap { isReadOnly ? lookingKeys : allKeys }

    mutating func ticket() -> Int {
        lastTicket += 1
        return lastTicket
    }

    /// The visible job: the latest change, else the job of the current store.
    var job: Job? {
        get { jobs.last(where: \.isChange) ?? jobs.last { $0.workspace == workspace } }
        set {
            guard let place = jobs.lastIndex(where: { $0.ticket == job?.ticket }) else { return }
            if let newValue { jobs[place] = newValue } else { jobs.remove(at: place) }
        }
    }

    /// Starts a job that isn't a change. Returns its ticket.
    mutating func begin(_ title: String, aim: Job.Aim = .rows) -> Int {
        let ticket = ticket()
        begin(Job(ticket: ticket, title: title, since: now, aim: aim))
        return ticket
    }

    /// Starts a change that can't be stopped. Returns its ticket.
    mutating func beginChange(_ title: String) -> Int {
        let ticket = ticket()
        begin(Job(ticket: ticket, title: title, since: now, isStoppable: false, isChange: true))
        return ticket
    }

    mutating func begin(_ new: Job) {
        var new = new
        new.workspace = workspace
        if !new.isChange { endOtherWork() }
        jobs.append(new)
    }

    @discardableResult
    mutating func ends(_ ticket: Int) -> Bool {
        guard let place = jobs.firstIndex(where: { $0.ticket == ticket }) else { return false }
        jobs.remove(at: place)
        if [entries?.ticket, query?.ticket, groups?.ticket].contains(ticket) {
            withdrawNotice(Model.awaited, instead: "Loaded. Press the key again.")
        }
        return true
    }

    mutating func note(share: Double, of ticket: Int) {
        guard let place = jobs.firstIndex(where: { $0.ticket == ticket }) else { return }
        jobs[place].share = share
    }

    mutating func endOtherWork() {
        jobs.removeAll { !$0.isChange && $0.aim == .rows && $0.workspace == workspace }
    }

    /// Whether the job's result is for the current screen, or for no specific one.
    func shows(_ job: Job) -> Bool {
        let tickets: [(screen: Screen, tickets: [Int?])] = [
            (.entries, [entries?.ticket, entries?.marking]), (.groups, [groups?.ticket]),
            (.query, [query?.ticket, query?.marking]), (.value, [value?.find.ticket]),
            (.messages, LogState.Purpose.allCases.map { log?[$0].ticket }),
        ]
        return tickets.first { $0.tickets.contains(job.ticket) }.map { $0.screen == screen } ?? true
    }

    func words(of job: Job) -> String {
        var job = job
        job.isStoppable = job.isStoppable && (job.isChange || shows(job))
        guard let other = kept.first(where: { $0.id == job.workspace }) else { return job.text }
        return "\(other.place):\(StorePath.name(other.store)): \(job.text)"
    }

    /// The archives of the current store in which a change with many events is running.
    var changing: Set<ArchiveAddress> {
        Set(jobs.filter { $0.workspace == workspace }.compactMap(\.eventful))
    }

    func isBusy(_ workspace: Int) -> Bool { jobs.contains { $0.workspace == workspace } }

    mutating func endWork(of workspace: Int) { jobs.removeAll { $0.workspace == workspace } }

    mutating func say(_ text: String, role: Role = .text, seconds: Double = 6) {
        let place = isInBackground ? "\(TitleView.storeName(self)): " : ""
        notice = Notice(text: place + text, role: role, until: now.adding(seconds: seconds))
    }

    /// Shows a notice and returns no effects.
    mutating func reply(_ text: String, role: Role = .text, seconds: Double = 6) -> [Effect] {
        say(text, role: role, seconds: seconds)
        return []
    }

    /// The value of a result. On failure, shows the error as a notice and returns nil.
    /// - Parameter start: words before the error.
    mutating func take<Value>(
        _ result: Result<Value, SourceError>, _ start: String = "", role: Role = .error, seconds: Double = 6
    ) -> Value? {
        switch result {
        case .success(let value): return value
        case .failure(let error):
            say(start + error.description, role: role, seconds: seconds)
            return nil
        }
    }

    static let awaited = " ignored: still loading; esc cancels."

    /// Removes or replaces an outdated notice.
    mutating func withdrawNotice(_ text: String, instead: String? = nil) {
        guard let notice, notice.text.hasSuffix(text) else { return }
        self.notice = nil
        if let instead { say(instead, role: .warning) }
    }

    /// Seconds after refused text in which dialogs accept no answer, and the minimum time between the two presses of a
    /// confirmation.
    static let doubt = 0.5

    /// Whether a key may be the rest of refused text.
    var isAnswerBlocked: Bool { answerRefusedAt.map { abs(now.seconds(since: $0)) < Model.doubt } ?? false }

    /// A key pressed again within these seconds counts as held down: the longest delay of keyboards before the first repetition.
    static let repeating = 0.7
    /// A held key without a repetition for these seconds counts as released. Longer than keyboards' interval between repetitions.
    static let pauseOfHeldKey = 0.15

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

    /// Whether an action is confirmed by a second press within 5 s. A key held down doesn't confirm.
    mutating func isConfirmed(_ action: ActionID) -> Bool {
        let before = pendingConfirmation
        pendingConfirmation = (action, now, now, true)
        guard let before, before.action == action, now.seconds(since: before.last) < 5 else { return false }
        pendingConfirmation?.since = before.since
        return now.seconds(since: before.since) >= Model.doubt && now.seconds(since: before.last) >= 0.2
    }

    package enum Pace: Sendable, Hashable {
        case live
        /// Seconds since the order of rows was frozen by typing or moving.
        case frozen(Double)
        case paused(Double)
    }

    /// Seconds for which the order stays frozen after a key.
    static let freeze = 3.0

    package var pace: Pace {
        if let pausedSince { return .paused(max(0, now.seconds(since: pausedSince))) }
        guard let listed = parts.listed(self), isHeld else { return .live }
        return .frozen(max(0, now.seconds(since: max(listed, heldSince ?? now))))
    }

    mutating func updateFreeze() { heldSince = isHeld ? heldSince ?? now : nil }

    private var isHeld: Bool {
        // A list is updated while its filter is typed, so that the count beside the filter is current.
        if overlay != nil || prompt?.isOfScreen == false { return true }
        guard let touched, !parts.follows(self) else { return false }
        return now.seconds(since: touched) < Model.freeze
    }

    func address(_ name: String) -> ArchiveAddress? { store.map { ArchiveAddress(name, in: $0) } }

    /// The figures of an archive; nil if it belongs to another store.
    func sample(_ archive: ArchiveAddress) -> ArchiveSample? {
        address(archive.name) == archive ? archives.summary(archive.name) : nil
    }

    /// The ID of a process, with its name if it still has the store open.
    func processName(_ pid: Int32) -> String {
        let process = archives.figures?.processes.first { $0.pid == pid }
        return ProcessName.words(pid, pid == archives.figures?.ownPid ? "this browser" : process?.name)
    }

    /// Shorter forms of ``processName(_:)``, longest first: `4121 api-server`, `4121 api`, `4121`.
    func shortProcessNames(_ pid: Int32) -> [String] {
        let name = archives.figures?.processes.first { $0.pid == pid }?.name ?? ""
        guard !name.isEmpty else { return ["\(pid)"] }
        let cut = [11, 7, 4, 2].filter { $0 < name.count }.map { "\(name.prefix($0))\(look.glyphs.ellipsis)" }
        return ([name] + cut).map { "\(pid) \($0)" } + ["\(pid)"]
    }

    /// The reference time for ages: now, or the time of the pause on a paused screen.
    var shownNow: Timestamp { pausedSince ?? now }

    var screenName: String { screen == .monitor ? MonitorScreen.partName(self) : screen.rawValue }

    /// The events on the screen; on a paused one, those until the pause.
    var shownEvents: EventLog { archives.pausedEvents ?? events }

    /// Copies the figures that a paused screen shows; without a pause, removes the copies.
    mutating func copyForPause() {
        archives.pausedHistories = pausedSince == nil ? nil : archives.histories
        archives.pausedEvents = pausedSince == nil ? nil : events
        let log = shownEvents
        monitor?.match(log)
    }
}

struct StoreCost: Sendable, Hashable {
    /// Accesses that the store counted for this process.
    private(set) var accesses: UInt64 = 0
    /// Those counted before the browser's first read.
    private var earlierAccesses: UInt64?
    private(set) var writes = 0
    /// Seconds of the longest write, an upper bound of the time that a lock was held.
    private(set) var longestLock = 0.0

    mutating func note(writes count: Int, longestCall: Double) {
        writes += count
        longestLock = max(longestLock, longestCall)
    }

    mutating func note(accesses: UInt64) {
        let earlier = earlierAccesses ?? accesses
        earlierAccesses = earlier
        // The counters of a recreated archive restart.
        if accesses >= earlier { self.accesses = accesses - earlier }
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
    /// Number of entries; nil: unknown.
    var total: Int?
    var isStoppable = true
    var isChange = false
    /// The archive of a change with many events, which are read during the change.
    var eventful: ArchiveAddress?
    var aim = Aim.rows
    var workspace = 0

    /// The target of the result. Other work replaces only jobs for rows; keys that need rows wait for a dialog to open.
    enum Aim: Sendable, Hashable { case rows, dialog, store }

    /// `deleting 34,048 of 100,000, esc stops`
    var text: String {
        let amount = total.map { total in
            let done = Int(share * Double(total))
            return done > 0
                ? " \(Figures.count(done)) of \(Figures.count(total))" : " \(Figures.count(total))"
        }
        return title + (amount ?? "") + (isStoppable ? ", esc stops" : "")
    }

    static let stopping = "stopping after"

    /// Seconds after which a job is shown.
    static let delay = 0.25
}

struct Prompt: Sendable {
    var label: String
    var field: TextField
    var before = ""
    var keys: [(key: String, title: String)]
    var purpose = Purpose.screen
    /// Text after the field; nil: the screen's own.
    var note: String?
    /// A notice about the last input, shown instead of the note.
    var said: String?
    /// Position in the history, 0 the latest; nil: the typed text.
    var recalled: Int?

    /// Its target is fixed when the prompt opens.
    enum Purpose: Sendable {
        case screen
        case condition
        case saveQuery(SavedQuery)
        case export
        case pipe(ProgramInput)
        case write(EntryAddress)
        case newEntry(ArchiveAddress)
        case part(EntryAddress, String)
        case alarm(Metric, String?)
        case archive(ActionID, ArchiveAddress)
        case store
    }

    func remark(_ model: Model) -> String {
        if case .write = purpose { return Browser.fileNote(field.text, model) }
        return note ?? (isOfScreen ? model.parts.promptNote(model) : "")
    }

    /// Whether its text is the path of a file or folder.
    var isPath: Bool {
        switch purpose {
        case .store, .write, .export: true
        default: false
        }
    }

    var isOfScreen: Bool {
        switch purpose {
        case .screen, .condition: true
        case .saveQuery, .export, .pipe, .write, .newEntry, .part, .alarm, .archive, .store: false
        }
    }
}

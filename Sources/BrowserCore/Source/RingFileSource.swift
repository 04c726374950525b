import CacheAdvance
import StorageEngine
import StoreInspection
import Synchronization

/// Shows a ring file as a store with one log. Never writes.
package final class RingFileSource: StoreSource {
    package let path: String
    /// Lists and remembers other stores; nil: this list has only the ring file.
    package let remembers: EngineSource?
    private let state: Mutex<State>

    private struct State {
        var ring: RingFile
        /// Number of the files that were opened before this one.
        var identity: [UInt8] = [0]
        /// Number of messages seen so far, which numbers them.
        var seen: UInt64 = 0
        var cursor = RingFileCursor()
        /// When the last message was seen.
        var outline: RingFileOutline?
    }

    /// - Throws: if the ring file is missing or unreadable.
    package init(path: String, remembers: EngineSource? = nil) throws(RingFileError) {
        self.remembers = remembers
        self.path = StorePath.absolute(path)
        state = Mutex(State(ring: try RingFileSource.open(path)))
    }

    private static func open(_ path: String) throws(RingFileError) -> RingFile {
        let ring = try RingFile(path: path, maximumBytes: 0, overwritesOldMessages: false, isReadOnly: true)
        _ = try ring.isEmpty()
        return ring
    }

    /// Opens the ring file that has replaced the open one.
    private func openReplacement() {
        state.withLock { state in
            guard state.ring.isReplaced, let new = try? RingFileSource.open(path) else { return }
            state = State(ring: new, identity: [state.identity[0] &+ 1])
        }
    }

    package var folder: String { path }
    private var name: String { StorePath.name(path) }

    package func stores() throws(SourceError) -> StoreList {
        var summary = StoreSummary(name: name, path: path, archives: 1)
        do throws(RingFileError) {
            // An open file stays readable after its removal.
            _ = try RingFile(path: path, maximumBytes: 0, overwritesOldMessages: false, isReadOnly: true)
            let outline = try outline()
            (summary.entries, summary.diskBytes) = (outline.messages, outline.messageBytes)
        } catch {
            summary.problem = error.description
        }
        return StoreList([summary] + (remembers?.storesElsewhere() ?? []))
    }

    package func noteOpened(store: String, at moment: Timestamp) throws(SourceError) {
        if store != path { try remembers?.noteOpened(store: store, at: moment) }
    }

    package func setFavorite(_ isFavorite: Bool, store: String) throws(SourceError) {
        guard let remembers, store != path else { throw SourceError("a ring file can't be a favorite") }
        try remembers.setFavorite(isFavorite, store: store)
    }

    package func figures(store: String) throws(SourceError) -> StoreFigures {
        guard store == path else { throw SourceError("\(store) is not this ring file") }
        var summary = ArchiveSample(name: name, kind: .log)
        openReplacement()
        summary.identity = state.withLock { $0.identity }
        do throws(RingFileError) {
            summary.records = try count()
            summary.nextEvent = summary.records
            let outline = try outline()
            summary.entries = min(outline.messages, Int(clamping: summary.records))
            summary.diskBytes = outline.messageBytes
            summary.diskLimit = outline.settings.map { $0.maximumBytes - min(64, $0.maximumBytes) }
            summary.footprint = UInt64(outline.fileBytes)
        } catch {
            summary.problem = error.description
        }
        var figures = StoreFigures(archives: [summary], absence: "Ring files don't record processes.")
        (figures.isRingFile, figures.isReadOnly) = (true, true)
        return figures
    }

    package func messages(
        count: Int, behind: Int, at moment: LogMoment, limit: Int, in archive: ArchiveAddress
    ) throws(SourceError) -> LogBatch {
        do throws(RingFileError) {
            for _ in 0..<RingFileSource.attempts {
                _ = try self.count()
                let now = state.withLock { $0 }
                guard now.identity == moment.identity else { break }
                let before = behind + 1 + Int(clamping: now.seen - min(now.seen, moment.appended))
                guard before > 0 else { return LogBatch() }
                let start = try now.ring.start(ofLast: before, upTo: now.cursor)
                let missing = min(count, max(0, before - start.messages))
                let news = try now.ring.news(after: start.cursor, most: count - missing)
                // Messages may have been overwritten since the start was found.
                if news.someMayBeLost { continue }
                if missing > 0 || before == start.messages {
                    guard try now.ring.start(ofLast: 1, upTo: now.cursor).messages == start.messages
                    else { continue }
                }
                let first = now.seen - min(now.seen, UInt64(before)) + UInt64(missing) + 1
                return LogBatch(
                    missing: missing,
                    lines: news.messages.enumerated().map {
                        LogLine($1, sequence: first + UInt64($0), limit: limit)
                    })
            }
        } catch {
            throw SourceError(error.description)
        }
        return LogBatch(missing: count)
    }

    /// Maximum number of attempts to read messages that are being overwritten; after these they count as removed.
    private static let attempts = 10

    /// Number of messages seen so far. Excludes those behind damage and those overwritten before they were seen.
    private func count() throws(RingFileError) -> UInt64 {
        try state.withLock { (state) throws(RingFileError) in
            while true {
                let news: RingFileNews
                do throws(RingFileError) {
                    news = try state.ring.news(after: state.cursor, mostBytes: 4 << 20)
                } catch {
                    guard case .damaged = error, state.seen > 0 else { throw error }
                    return state.seen
                }
                state.cursor = news.next
                if !news.messages.isEmpty || news.someMayBeLost { state.outline = nil }
                state.seen += UInt64(news.messages.count)
                if news.messages.isEmpty { return state.seen }
            }
        }
    }

    /// Reads the file only after appends.
    private func outline() throws(RingFileError) -> RingFileOutline {
        if let known = state.withLock({ $0.outline }) { return known }
        let outline = try state.withLock { $0.ring }.outline()
        state.withLock { $0.outline = outline }
        return outline
    }
}

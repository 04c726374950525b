import BrowserCore
import StoreInspection

/// A source that no query can be asked of: what queries do is tested on a real store.
protocol NoQueries: StoreSource {}

extension NoQueries {
    func query(_ request: QueryRequest, progress: (Double) -> Bool) throws(SourceError) -> QueryAnswer? {
        throw SourceError("no queries here")
    }

    func export(
        _ request: QueryRequest, to path: String, progress: (Double) -> Bool
    ) throws(SourceError) -> Int? { throw SourceError("no queries here") }

    func properties(in archive: ArchiveAddress) throws(SourceError) -> [String] { [] }
}

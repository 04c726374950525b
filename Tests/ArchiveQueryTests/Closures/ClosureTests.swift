import TestSupport
import ArchiveQuery
import CBOR
import Foundation
import Testing

/// Compares queries of an archive with the same steps in Swift on its objects.
@Suite("Pipelines against closures") struct ClosureTests {
    /// A soak runs ten thousand.
    private static let count = Soak.seconds == 0 ? 300 : 10_000

    @Test func nestedObjectsOfSeveralVersions() throws {
        var random = SeededGenerator.announced("closures over nested objects")
        let values = try (0..<200).map { ("parcel \($0)", try Parcel.encoded(using: &random)) }
        let parcels = try KeptObjects<Parcel>(values, using: &random)
        try compare(parcels, Parcel.properties(of: parcels.all), random, "nested objects")
    }

    private func compare<Object>(
        _ objects: KeptObjects<Object>, _ properties: [ClosureProperty<Kept<Object>>],
        _ random: SeededGenerator, _ name: String
    ) throws {
        var queries = ClosureQueries<Object>(random: random, properties: properties)
        var matched = 0
        for _ in 0..<Self.count {
            let pipeline = queries.pipeline()
            let expected = try pipeline.answers(objects.all)
            let (rows, report) = try objects.archive.answer(pipeline.text)
            let found = try rows.map { row in
                ClosurePipeline<Object>.Answer(
                    key: row.entry?.key, columns: try row.columns.map { try Cells.decoded($0) })
            }
            if found != expected {
                let place = zip(found, expected).prefix { $0 == $1 }.count
                Issue.record(
                    """
                    \(pipeline.text)
                    \(found.count) rows, not \(expected.count); row \(place) is \
                    \(found.dropFirst(place).first?.shown ?? "not there"), not \
                    \(expected.dropFirst(place).first?.shown ?? "there")
                    """)
            }
            #expect(report.unreadable == 0, "\(pipeline.text)")
            if !expected.isEmpty { matched += 1 }
        }
        var figures = Figures("closures over \(name)")
        figures.add("pipelines", Self.count)
        figures.add("with rows", matched)
        figures.report()
        // At least a third of the pipelines must match something.
        #expect(matched * 3 > Self.count)
    }
}

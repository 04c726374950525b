/// One step of a query over objects.
public struct Query<Result> {
    static func run<Items: Sequence>(
        _ queries: [Query<Result>], over items: Items, object: (Items.Element) throws -> Result?
    ) rethrows -> [Items.Element] { Array(items) }
}

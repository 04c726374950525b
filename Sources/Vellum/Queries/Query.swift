/// One step of a query over objects.
public struct Query<Result> {}

/// An operation on an open archive: a type of its feature that uses the engine, instead of a method of it.
protocol ArchiveOperation {
    var engine: ArchiveEngine { get }

    init(engine: ArchiveEngine)
}

extension ArchiveOperation {
    @inline(__always) init(_ engine: ArchiveEngine) { self.init(engine: engine) }

    @inline(__always) var index: IndexView { engine.index }
    @inline(__always) var log: SegmentLog { engine.log }
}

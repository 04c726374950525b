/// An operation on an open archive, as a type in the folder of its feature. It only refers to the engine.
protocol ArchiveOperation {
    var engine: ArchiveEngine { get }

    init(engine: ArchiveEngine)
}

extension ArchiveOperation {
    @inline(__always) init(_ engine: ArchiveEngine) { self.init(engine: engine) }

    @inline(__always) var index: IndexView { engine.index }
    @inline(__always) var log: SegmentLog { engine.log }
}

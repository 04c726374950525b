/// An operation on an open archive, in the folder of its feature. Its only state is the engine.
protocol ArchiveOperation {
    var engine: ArchiveEngine { get }

    init(engine: ArchiveEngine)
}

extension ArchiveOperation {
    @inline(__always) init(_ engine: ArchiveEngine) { self.init(engine: engine) }

    @inline(__always) var index: IndexView { engine.index }
    @inline(__always) var log: SegmentLog { engine.log }
}

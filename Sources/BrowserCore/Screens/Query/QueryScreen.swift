import StoreInspection
import TerminalKit

/// Queries of an archive, and the result of one.
enum QueryScreen: ScreenParts {
    static func path(_ model: Model) -> [String] {
        [TitleView.storeName(model), model.query?.archive.name ?? "", "query"]
    }

    static func archive(_ model: Model) -> ArchiveAddress? { model.query?.archive }

    static func key(_ model: Model) -> String? { model.query?.row?.key }

    static func targets(_ model: Model) -> ChosenEntries? {
        model.query.map { query in
            ChosenEntries(
                archive: query.archive, targets: query.answer?.targets ?? [],
                absence: query.answer?.rows.isEmpty == false ? " These rows are made of several." : "")
        }
    }

    static func command(_ model: Model) -> CommandLine.Words {
        model.query.map { .init("query", [$0.archive.name, $0.field.text]) } ?? .init("ls")
    }

    // MARK: How it looks

    static func divide(_ rest: Rect, _ model: Model, isTall: Bool) -> ScreenLayout.Parts {
        .init(rest, infoRows: isTall ? 2 : 1)
    }

    static func draw(_ model: Model, _ layout: ScreenLayout, into frame: inout Frame) {
        QueryView.draw(model, layout, into: &frame)
    }

    static func cursor(_ model: Model) -> Int { model.query?.cursor ?? 0 }
    static func firstRow(_ model: Model) -> Int { model.query?.top ?? 0 }

    static func table(_ model: Model) -> Table? { QueryView.table(model) }

    static func place(_ model: Model) -> StatusView.Content? {
        guard let query = model.query, let row = query.row, let answer = query.answer else { return nil }
        return .line(
            [Span(row.key ?? "", model.look[.dim])],
            right: "\(Figures.count(query.cursor + 1)) of \(Figures.count(answer.count))")
    }

    // MARK: What it does

    static func refresh(_ model: inout Model, isForced: Bool) -> [Effect] {
        isForced ? askAgain(&model) : []
    }

    static func click(_ model: inout Model, _ point: Point, _ layout: ScreenLayout) -> [Effect] {
        model.query?.isTyping = layout.info.line(0).contains(point)
        return moveToRow(at: point, &model, layout)
    }
}

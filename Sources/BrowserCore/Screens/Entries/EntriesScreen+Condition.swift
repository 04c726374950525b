import ArchiveQuery
import StoreInspection
import TerminalKit

extension EntriesScreen {
    static func writeCondition(_ model: inout Model) -> [Effect] {
        guard let entries = model.entries else { return [] }
        model.prompt = Prompt(
            label: "where: ",
            field: TextField(entries.condition?.text ?? "", placeholder: example(entries.sample)),
            keys: [("enter", "Keep"), ("tab", "Complete"), ("esc", "Clear"), ("up/down", "Move")],
            purpose: .condition)
        model.entries?.cycle = nil
        return loadSample(model)
    }

    private static func example(_ sample: PropertySample?) -> String {
        let query = QueryState.example(sample ?? PropertySample())
        return query.replacing("find ", with: "").split(separator: " |").first.map(String.init) ?? ""
    }

    static func loadSample(_ model: Model) -> [Effect] {
        guard let entries = model.entries, entries.sample == nil else { return [] }
        let archive = entries.archive
        return .ask("load properties of \(archive.name)") { (context) throws(SourceError) in
            try context.source.properties(in: archive)
        } done: { model, result in
            guard model.entries?.archive == archive, let sample = model.take(result, role: .warning)
            else { return }
            model.entries?.sample = sample
            if case .condition? = model.prompt?.purpose {
                model.prompt?.field.placeholder = example(sample)
            }
            sampleLoaded(&model)
        }
    }

    /// Applies the condition as soon as the text is valid.
    static func conditionTyped(_ model: inout Model, _ text: String) -> [Effect] {
        model.touched = model.now
        model.prompt?.note = nil
        model.prompt?.field.highlights = []
        guard !text.allSatisfy(\.isWhitespace) else { return applyCondition(&model, nil) }
        do throws(EntryCondition.Mistake) {
            let condition = try EntryCondition(text)
            model.prompt?.said = model.entries?.unknownNames(in: condition)
            if condition.readsValues, model.countsReads {
                model.prompt?.note = "  enter reads the values"
                return []
            }
            return applyCondition(&model, condition)
        } catch {
            // Typing may continue at the end of the text.
            if let words = error.expectedNext {
                model.prompt?.note = "  \(words)"
                return []
            }
            model.prompt?.said = error.words
            if let range = error.range, let field = model.prompt?.field {
                let start = field.place(ofByte: range.lowerBound)
                let end = max(start + 1, field.place(ofByte: range.upperBound))
                model.prompt?.field.highlights = [(start..<end, .error)]
            }
            return []
        }
    }

    static func applyCondition(_ model: inout Model, _ condition: EntryCondition?) -> [Effect] {
        model.touched = model.now
        guard model.entries?.condition != condition else { return [] }
        model.entries?.condition = condition
        return rearrange(&model, takingListing: isOutdated(model), isForced: true)
    }

    /// Applies a valid condition. Shows the error of an invalid one and keeps it for editing.
    static func conditionEnded(_ model: inout Model, _ prompt: Prompt, isKept: Bool) -> [Effect] {
        guard isKept else { return applyCondition(&model, nil) }
        guard !prompt.field.text.allSatisfy(\.isWhitespace) else { return [] }
        do throws(EntryCondition.Mistake) {
            let condition = try EntryCondition(prompt.field.text)
            if let remark = model.entries?.unknownNames(in: condition) {
                model.say(remark, role: .warning, seconds: 10)
            }
            return Browser.readingValues(&model, for: "The condition", isNeeded: condition.readsValues) {
                applyCondition(&$0, condition)
            }
        } catch {
            var prompt = prompt
            if let range = error.range {
                prompt.field.moveCursor(to: prompt.field.place(ofByte: range.lowerBound))
            }
            prompt.said = error.words
            model.prompt = prompt
        }
        return []
    }

    static func completeCondition(_ model: inout Model, step: Int) -> [Effect] {
        guard var field = model.prompt?.field, var cycle = model.entries.map(\.cycle),
            let sample = model.entries?.sample
        else { return [] }
        // A condition is completed as the stage `find`.
        let find = "find "
        let completions = QueryPipeline.completions(
            in: find + field.text, at: find.utf8.count + field.textBeforeCursor.utf8.count,
            properties: sample.names
        ) { sample.values(of: $0) }.map { completion in
            var completion = completion
            let range = completion.range
            completion.range = range.lowerBound - find.utf8.count..<range.upperBound - find.utf8.count
            return completion
        }
        QueryScreen.complete(&field, completions, &cycle, step: step)
        model.prompt?.field = field
        model.entries?.cycle = cycle
        return conditionTyped(&model, field.text)
    }
}

extension EntriesState {
    /// A hint for names in a condition that no value of the sample has.
    func unknownNames(in condition: EntryCondition) -> String? {
        QueryView.unknownNames(
            condition.text, QueryPipeline([.find(condition.predicate)]), sample ?? PropertySample())
    }
}

import ArchiveQuery
import CBOR

/// Finds the encoded name of a property: decoded from a value whose item of that name is a probe, the property must be
/// the probe. So renamed keys are found, and computed or converted properties are not. With the name a query can test
/// the encoded bytes.
struct PropertyProof<Object> {
    let decode: ([UInt8]) throws -> Object

    func property(at path: [AnyKeyPath], in sample: [UInt8]) -> QueryProperty? {
        guard let trial = trial(of: path), let base = base(of: sample) else { return nil }
        let found = base.ways(ofLength: path.count).filter { trial.isWay($0, in: base) }
        // Two names for one property would be ambiguous.
        return found.count == 1 ? .path(found[0].map { .name($0) }) : nil
    }

    /// Whether another stored value, if it has the property, proves it too. A type may decode it differently in different values.
    func agrees(with property: QueryProperty, at path: [AnyKeyPath], in sample: [UInt8]) -> Bool {
        guard let trial = trial(of: path), let base = base(of: sample) else { return true }
        return base.ways(ofLength: path.count).filter { .path($0.map { .name($0) }) == property }
            .allSatisfy { trial.isWay($0, in: base) }
    }

    private func base(of sample: [UInt8]) -> CBORValue? {
        (try? decode(sample)) == nil ? nil : try? CBORReader.decode(sample)
    }

    private func trial(of path: [AnyKeyPath]) -> Trial? {
        guard let last = path.last, path.allSatisfy(PropertyProof.isStored) else { return nil }
        let optional = type(of: last).valueType as? any OptionalProperty.Type
        guard let probes = PropertyProbe.probes(for: optional?.wrappedType ?? type(of: last).valueType) else {
            return nil
        }
        let mayBeNil = path.contains { type(of: $0).valueType is any OptionalProperty.Type }
        return Trial(proof: self, path: path, probes: probes, mayBeNil: mayBeNil)
    }

    /// Stored properties of a structure have an offset. For classes only the experiment decides.
    private static func isStored(_ path: AnyKeyPath) -> Bool {
        func hasPlace<Root>(_: Root.Type) -> Bool {
            guard !(Root.self is AnyObject.Type) else { return true }
            return (path as? PartialKeyPath<Root>).flatMap { MemoryLayout<Root>.offset(of: $0) } != nil
        }
        return _openExistential(type(of: path).rootType, do: hasPlace)
    }

    private struct Trial {
        let proof: PropertyProof
        let path: [AnyKeyPath]
        let probes: [PropertyProbe]
        let mayBeNil: Bool

        func isWay(_ way: [String], in base: CBORValue) -> Bool {
            for probe in probes {
                guard case .value(let value) = outcome(of: probe.item, at: way, in: base),
                    value as? AnyHashable == probe.value
                else { return false }
            }
            return isAbsence(nil, at: way, in: base) && isAbsence(.null, at: way, in: base)
                && isStrict(at: way, in: base)
        }

        /// Without the item, or with null, decoding must fail or the property must be nil.
        private func isAbsence(_ item: CBORValue?, at way: [String], in base: CBORValue) -> Bool {
            switch outcome(of: item, at: way, in: base) {
            case .noObject: true
            case .absent: mayBeNil
            case .value: false
            }
        }

        /// Items of another kind must not decode: a query, which doesn't convert items, would miss them.
        private func isStrict(at way: [String], in base: CBORValue) -> Bool {
            let others: [CBORValue] = ["5", true, .float(5.5), 5, .bytes([5]), [5], ["5"], [:]]
            return others.filter { other in !probes.contains { $0.item.isSameKind(as: other) } }.allSatisfy {
                if case .noObject = outcome(of: $0, at: way, in: base) { true } else { false }
            }
        }

        private enum Outcome {
            case noObject, absent
            case value(Any)
        }

        private func outcome(of item: CBORValue?, at way: [String], in base: CBORValue) -> Outcome {
            guard let changed = base.replacing(way[...], by: item),
                let object = try? proof.decode(changed.encoded)
            else { return .noObject }
            var part: Any = object
            for step in path {
                guard let value = part[keyPath: step] else { return .noObject }
                guard let optional = value as? any OptionalProperty else {
                    part = value
                    continue
                }
                guard let unwrapped = optional.unwrapped else { return .absent }
                part = unwrapped
            }
            return .value(part)
        }
    }
}

extension CBORValue {
    fileprivate func ways(ofLength length: Int) -> [[String]] {
        guard case .map(let map) = self else { return [] }
        return map.entries.flatMap { entry -> [[String]] in
            guard let name = entry.key.asString else { return [] }
            return length == 1 ? [[name]] : entry.value.ways(ofLength: length - 1).map { [name] + $0 }
        }
    }

    fileprivate func replacing(_ way: ArraySlice<String>, by item: CBORValue?) -> CBORValue? {
        guard let name = way.first else { return item }
        guard case .map(var map) = self, let place = map.entries.firstIndex(where: { $0.key == .text(name) })
        else { return nil }
        if way.count == 1, item == nil {
            map.entries.remove(at: place)
            return .map(map)
        }
        guard let inner = map.entries[place].value.replacing(way.dropFirst(), by: item) else { return nil }
        map.entries[place].value = inner
        return .map(map)
    }

    fileprivate func isSameKind(as other: CBORValue) -> Bool {
        switch (self, other) {
        case (.unsigned, .unsigned), (.unsigned, .negative), (.unsigned, .float), (.negative, .unsigned),
            (.negative, .negative), (.negative, .float), (.float, .unsigned), (.float, .negative),
            (.float, .float),
            (.tagged, .unsigned), (.tagged, .float), (.text, .text), (.boolean, .boolean), (.bytes, .bytes),
            (.array, .array), (.map, .map):
            true
        default: false
        }
    }
}

import ArchiveQuery
import CBOR

/// Finds out under which name a property of an object is encoded, by trying: in a stored value the item under a name is
/// replaced by others of the property's type, and each time the object decoded from that must have just this in the
/// property. So nothing is guessed from names: renamed coding keys are found, and a property that is computed from others,
/// or made something else of when it is decoded, is not.
///
/// What was proven lets a query ask the encoded bytes; objects that it finds are asked again themselves.
struct PropertyProof<Object> {
    /// Makes an object of encoded bytes, or throws.
    let decode: ([UInt8]) throws -> Object

    /// The encoded property that the path names in a stored value; `nil` if that can't be told by it.
    func property(at path: [AnyKeyPath], in sample: [UInt8]) -> QueryProperty? {
        guard let last = path.last, path.allSatisfy(PropertyProof.isStored),
            let base = try? CBORReader.decode(sample), (try? decode(sample)) != nil
        else { return nil }
        let optional = type(of: last).valueType as? any OptionalProperty.Type
        guard let probes = PropertyProbe.probes(for: optional?.wrappedType ?? type(of: last).valueType) else {
            return nil
        }
        // Where a part on the way is nil, so is the property.
        let mayBeNil = path.contains { type(of: $0).valueType is any OptionalProperty.Type }
        let trial = Trial(proof: self, path: path, probes: probes, mayBeNil: mayBeNil)
        let found = base.ways(ofLength: path.count).filter { trial.isWay($0, in: base) }
        // Two names for one property would be one too many.
        return found.count == 1 ? .path(found[0].map { .name($0) }) : nil
    }

    /// A structure's stored properties have a place in it; what a class computes only trying can tell.
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
                    probe.value.isEqual(to: value)
                else { return false }
            }
            return isAbsence(nil, at: way, in: base) && isAbsence(.null, at: way, in: base)
                && isStrict(at: way, in: base)
        }

        /// Without the item, or with null, there must be no object, or nothing in the property.
        private func isAbsence(_ item: CBORValue?, at way: [String], in base: CBORValue) -> Bool {
            switch outcome(of: item, at: way, in: base) {
            case .noObject: true
            case .absent: mayBeNil
            case .value: false
            }
        }

        /// Nothing is made of an item of another kind: a query, which takes items as they are, would not find it.
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
    /// The names that lead to an item so many maps deep.
    fileprivate func ways(ofLength length: Int) -> [[String]] {
        guard case .map(let map) = self else { return [] }
        return map.entries.flatMap { entry -> [[String]] in
            guard let name = entry.key.asString else { return [] }
            return length == 1 ? [[name]] : entry.value.ways(ofLength: length - 1).map { [name] + $0 }
        }
    }

    /// The same with another item at that place, or without one.
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

    /// Of one kind are items that a query compares with each other, or lets through unasked: numbers where dates, which
    /// are tagged, are looked for.
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

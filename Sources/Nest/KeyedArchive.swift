import Foundation
import StorageEngine

/// Reads a keyed archive that may be damaged or malicious. Not thread-safe. Foundation's reader crashes for an object that contains
/// itself, or a dictionary with fewer objects than keys. So the archive is checked and rewritten: all objects at the top level,
/// contained ones first. So no object is decoded inside another, and reading stops at the first failure.
struct KeyedArchive {
    /// The deepest nesting of objects: little enough for any thread's stack when they are deallocated.
    static let deepest = 200
    /// The most objects, counted once for each occurrence, because comparing visits each.
    private static let most = 1 << 24
    private static let collections: Set = [
        "NSArray", "NSMutableArray", "NSDictionary", "NSMutableDictionary", "NSSet", "NSMutableSet",
        "NSOrderedSet", "NSMutableOrderedSet", "NSCountedSet",
    ]

    private struct Extent {
        var depth = 1
        var count = 1
    }

    private let list: PropertyList
    private let version: PropertyItem
    private let archiver: PropertyItem
    private var objects: [PropertyItem]
    private let root: Int
    /// The objects' numbers, each after those of the objects that it contains.
    private var order: [Int] = []
    private var extents: [Int: Extent] = [:]
    private var open: Set<Int> = []
    private var classes: [Int: String] = [:]

    var classNames: Set<ExactText> { Set(classes.values.map { ExactText($0) }) }

    /// - Throws: `ItemProblem` if it is not a keyed archive, is damaged, or can't be read back.
    init(_ bytes: [UInt8]) throws(ItemProblem) {
        let (list, top) = try PropertyList.read(bytes)
        guard let version = top["$version"], let archiver = top["$archiver"],
            case .array(let objects)? = top["$objects"], case .reference(let root)? = top["$top"]?["root"],
            case .plain(let place) = archiver, list.text(place) == "NSKeyedArchiver"
        else { throw ItemProblem("it isn't a keyed archive") }
        self.list = list
        self.version = version
        self.archiver = archiver
        self.objects = objects
        self.root = root
        _ = try visit(root, within: 0)
    }

    /// Decodes the archived object with these classes only. Throws `ItemProblem`, or an error of Foundation's reader.
    func object(allowing classes: [AnyClass]) throws -> Any {
        let allowed = Set(
            classes.filter(FoundationObstacle.canName).map { ExactText(NSStringFromClass($0)) })
        for name in classNames where !allowed.contains(name) {
            // Foundation's classes may have another name in Swift.
            let spelling = NSClassFromString(name.text).map { "\($0)" } ?? name.text
            throw ItemProblem(
                "objects of class \(name.text) aren't allowed; allow them with allow(\(spelling).self)")
        }
        let numbers = order + [root]
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: Data(written(numbers)))
        unarchiver.requiresSecureCoding = true
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        var last: Any?
        for key in numbers.indices {
            last = unarchiver.decodeObject(of: classes, forKey: "\(key)")
            if let error = unarchiver.error { throw error }
            if last == nil { throw ItemProblem("its keyed archive has an object that can't be read") }
        }
        unarchiver.finishDecoding()
        guard let last else { throw ItemProblem("its keyed archive has no object") }
        return last
    }

    private func written(_ numbers: [Int]) -> [UInt8] {
        let top = numbers.enumerated().map {
            (key: ExactText("\($0.offset)"), item: PropertyItem.reference($0.element))
        }
        return PropertyListWriter.list(
            .dictionary([
                (ExactText("$version"), version), (ExactText("$archiver"), archiver),
                (ExactText("$top"), .dictionary(top)), (ExactText("$objects"), .array(objects)),
            ]), of: list)
    }

    // MARK: Checking

    /// Tests whether the archive of an object reads back as the object. Returns the classes that reading needs.
    static func testReading(_ bytes: [UInt8], of object: NSObject) throws -> [AnyClass] {
        let archive = try KeyedArchive(bytes)
        let classes = try archive.classNames.map { (name) throws(ItemProblem) -> AnyClass in
            guard let found = NSClassFromString(name.text) else {
                throw ItemProblem(
                    "is of a class that can't be looked up by its name; declare it outside of functions, and not private"
                )
            }
            return found
        }
        let (first, second): (Any, Any)
        do {
            (first, second) = (try archive.object(allowing: classes), try archive.object(allowing: classes))
        } catch {
            throw ItemProblem("can't be read back from its keyed archive: \(error)")
        }
        // If two readings of an object aren't equal, comparing it with the original shows nothing.
        guard differ(object, first), !differ(first, second) || type(of: first) != type(of: object) else {
            return classes
        }
        throw ItemProblem("is altered by Foundation's archive")
    }

    private static func differ(_ left: Any, _ right: Any) -> Bool {
        guard let left = left as? NSObject, let right = right as? NSObject else { return true }
        return type(of: left) != type(of: right) || !left.isEqual(right)
    }

    private mutating func visit(_ number: Int, within depth: Int) throws(ItemProblem) -> Extent {
        if let known = extents[number] { return known }
        guard objects.indices.contains(number) else { throw .damaged }
        guard open.insert(number).inserted else {
            throw ItemProblem(
                "its keyed archive has an object that contains itself, which can't be read back")
        }
        var extent = Extent()
        switch objects[number] {
        case .plain: break
        case .dictionary(let fields):
            guard depth < KeyedArchive.deepest else { throw .tooDeep }
            guard case .reference(let type)? = objects[number]["$class"] else { throw .damaged }
            try checkForm(of: objects[number], as: nameOfClass(type))
            for field in fields where field.key != ExactText("$class") {
                try visit(in: field.item, within: depth + 1, &extent)
            }
            guard extent.depth <= KeyedArchive.deepest else { throw .tooDeep }
            guard extent.count <= KeyedArchive.most else {
                throw ItemProblem("its keyed archive refers to too many objects to be read back")
            }
            order.append(number)
        case .array, .reference: throw .damaged
        }
        open.remove(number)
        extents[number] = extent
        return extent
    }

    private mutating func visit(
        in item: PropertyItem, within depth: Int, _ extent: inout Extent
    ) throws(ItemProblem) {
        switch item {
        case .plain: break
        case .reference(let number):
            let inner = try visit(number, within: depth)
            extent.depth = max(extent.depth, inner.depth + 1)
            extent.count = min(extent.count + inner.count, KeyedArchive.most + 1)
        case .array(let items): for item in items { try visit(in: item, within: depth, &extent) }
        case .dictionary(let fields):
            for field in fields { try visit(in: field.item, within: depth, &extent) }
        }
    }

    /// The name of a class. Removes the list of its substitute classes from the archive.
    private mutating func nameOfClass(_ number: Int) throws(ItemProblem) -> String {
        if let known = classes[number] { return known }
        guard objects.indices.contains(number), case .dictionary(let fields) = objects[number],
            objects[number]["$class"] == nil, case .plain(let place)? = objects[number]["$classname"],
            let name = list.text(place)
        else { throw .damaged }
        objects[number] = .dictionary(fields.filter { $0.key != ExactText("$classhints") })
        classes[number] = name
        return name
    }

    /// Checks fields of some Foundation classes that their decoding doesn't check. Other Foundation classes are rejected.
    private mutating func checkForm(of object: PropertyItem, as name: String) throws(ItemProblem) {
        switch name {
        case "NSNull", "NSNumber", "NSData", "NSMutableData", "NSDate", "NSURL": break
        case "NSString", "NSMutableString":
            guard case .plain(let place)? = object["NS.string"], list.isText(place) else { throw .damaged }
        case "NSUUID":
            guard case .plain(let place)? = object["NS.uuidbytes"], list.byteCount(place) == 16 else {
                throw .damaged
            }
        case "NSArray", "NSMutableArray": _ = try countOfObjects(object["NS.objects"])
        case "NSSet", "NSMutableSet": _ = try countOfObjects(object["NS.objects"], areFound: true)
        case "NSDictionary", "NSMutableDictionary":
            let count = try countOfObjects(object["NS.keys"], areFound: true)
            guard try countOfObjects(object["NS.objects"]) == count else { throw .damaged }
        case "NSOrderedSet", "NSMutableOrderedSet", "NSCountedSet": try checkMembers(of: object)
        default:
            #if !canImport(Darwin)
            // Classes of programs have their module as a prefix.
            guard name.utf8.contains(UInt8(ascii: ".")) else {
                throw ItemProblem(
                    "has an object of class \(name), whose archive Foundation doesn't check")
            }
            #endif
        }
    }

    /// Checks a collection that has a field for each member, perhaps with a count of the member.
    private mutating func checkMembers(of object: PropertyItem) throws(ItemProblem) {
        guard case .dictionary(let fields) = object else { throw .damaged }
        var count = 0
        for field in fields where field.key != ExactText("$class") {
            if field.key.text.hasPrefix("NS.count") {
                guard case .plain(let place) = field.item, let times = list.integer(place) else {
                    throw .damaged
                }
                // Foundation adds the member this many times.
                count = min(count, KeyedArchive.most) + min(times, KeyedArchive.most)
                guard count <= KeyedArchive.most else {
                    throw ItemProblem("its keyed archive refers to too many objects to be read back")
                }
            } else {
                guard field.key.text.hasPrefix("NS.object") else { throw .damaged }
                try check(field.item, isFound: true)
            }
        }
    }

    /// - Parameter areFound: whether these are keys or members that the object finds by hash.
    private mutating func countOfObjects(
        _ item: PropertyItem?, areFound: Bool = false
    ) throws(ItemProblem) -> Int {
        guard case .array(let items)? = item else { throw .damaged }
        for item in items { try check(item, isFound: areFound) }
        return items.count
    }

    /// Checks a required reference to an object.
    private mutating func check(_ item: PropertyItem, isFound: Bool) throws(ItemProblem) {
        guard case .reference(let number) = item, objects.indices.contains(number) else { throw .damaged }
        switch objects[number] {
        // `$null` stands for a missing object, which would be left out. A longer text can't be `$null`, so it isn't decoded.
        case .plain(let place) where place.count < 32 && list.text(place) == "$null": throw .damaged
        case .dictionary where isFound:
            guard case .reference(let type)? = objects[number]["$class"] else { throw .damaged }
            guard !KeyedArchive.collections.contains(try nameOfClass(type)) else { throw .collectionToFind }
        default: break
        }
    }
}

extension ItemProblem {
    static let damaged = ItemProblem("its keyed archive is damaged")
    static let collectionToFind = ItemProblem(
        "has a key or member that is a Foundation collection, or a type with more than four levels")
    fileprivate static let tooDeep = ItemProblem(
        "its keyed archive nests objects more than 200 deep, which can't be read back")
}

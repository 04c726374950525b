@usableFromInline package indirect enum QueryCondition<Result> {
    case property(PropertyCondition<Result>)
    /// True if all are true, or without conditions.
    case all([QueryCondition])
    /// True if at least one is true.
    case any([QueryCondition])
    case not(QueryCondition)

    /// Tests an object. Built from closures, because iterating over an array of a generic type costs more.
    var isMet: (Result) -> Bool {
        switch self {
        case .property(let condition): return condition.isMet
        case .all(let parts):
            return parts.map(\.isMet).reduce({ _ in true }) { all, part in { all($0) && part($0) } }
        case .any(let parts):
            return parts.map(\.isMet).reduce({ _ in false }) { any, part in { any($0) || part($0) } }
        case .not(let part):
            let isMet = part.isMet
            return { !isMet($0) }
        }
    }

    var properties: [PropertyCondition<Result>] {
        switch self {
        case .property(let condition): [condition]
        case .all(let parts), .any(let parts): parts.flatMap(\.properties)
        case .not(let part): part.properties
        }
    }
}

@usableFromInline package struct PropertyCondition<Result> {
    /// The path from the object to the property, `\User.address`, `\Address.city`, without unwrapping.
    package let path: [AnyKeyPath]
    package let test: PropertyTest
    package let isMet: (Result) -> Bool

    @usableFromInline init(path: [AnyKeyPath], test: PropertyTest, isMet: @escaping (Result) -> Bool) {
        self.path = path
        self.test = test
        self.isMet = isMet
    }
}

/// Combines conditions: `user.age(.less(than: 18)) || !user.nick(.isNil)`.
extension QueryFinder {
    /// True if both are true.
    public static func && (left: QueryFinder, right: QueryFinder) -> QueryFinder {
        QueryFinder(left.conditions + right.conditions)
    }

    /// True if at least one of the two is true.
    public static func || (left: QueryFinder, right: QueryFinder) -> QueryFinder {
        QueryFinder([.any([.all(left.conditions), .all(right.conditions)])])
    }

    /// True if not all of the conditions are true.
    public static prefix func ! (finder: QueryFinder) -> QueryFinder {
        QueryFinder([.not(.all(finder.conditions))])
    }
}

/// What an object has to meet: a condition of a property, or several put together.
@usableFromInline package indirect enum QueryCondition<Result> {
    case property(PropertyCondition<Result>)
    /// All of them; of none it is met.
    case all([QueryCondition])
    /// One of them or more; of none it isn't met.
    case any([QueryCondition])
    case not(QueryCondition)

    /// Asks an object. Made of closures, because walking through an array of a generic type costs several times as much
    /// as a condition.
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

    /// The conditions of properties that it is put together of.
    var properties: [PropertyCondition<Result>] {
        switch self {
        case .property(let condition): [condition]
        case .all(let parts), .any(let parts): parts.flatMap(\.properties)
        case .not(let part): part.properties
        }
    }
}

/// One condition of a property. `path` and `test` say what it asks, for an evaluator that has no objects; `isMet`
/// asks an object.
@usableFromInline package struct PropertyCondition<Result> {
    /// The way from the object to the property: `\User.address`, `\Address.city`. Optionals on the way are not a
    /// part of it.
    package let path: [AnyKeyPath]
    package let test: PropertyTest
    package let isMet: (Result) -> Bool

    @usableFromInline init(path: [AnyKeyPath], test: PropertyTest, isMet: @escaping (Result) -> Bool) {
        self.path = path
        self.test = test
        self.isMet = isMet
    }
}

/// Conditions put together: `user.age(.less(than: 18)) || !user.nick(.isNil)`.
extension QueryFinder {
    /// Met where both are.
    public static func && (left: QueryFinder, right: QueryFinder) -> QueryFinder {
        QueryFinder(left.conditions + right.conditions)
    }

    /// Met where one of the two is, or both.
    public static func || (left: QueryFinder, right: QueryFinder) -> QueryFinder {
        QueryFinder([.any([.all(left.conditions), .all(right.conditions)])])
    }

    /// Met where the conditions, all of them together, aren't.
    public static prefix func ! (finder: QueryFinder) -> QueryFinder {
        QueryFinder([.not(.all(finder.conditions))])
    }
}

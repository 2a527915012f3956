/// A strong reference that is replaced once, while other threads may be reading it.
struct ReplaceableReference<Object: AnyObject & Sendable>: ~Copyable, Sendable {
    private let first: PassingReference<Object>
    private let second = AtomicReference<Object>()

    init(_ object: Object?) { first = PassingReference(object) }

    /// The object that it refers to now.
    func load() -> Object? { first.load() ?? second.object }

    /// Refers to another object, or to none, from now on; called once.
    ///
    /// A reader that has just loaded the former object may be the last to hold it.
    func replace(with object: Object?) {
        if let object { _ = second.loadOrInitialize { object } }
        first.giveUp()
    }

    /// Takes the object out where no other code can use this reference any more: in the deinitializer of its owner.
    func takeAtEnd() -> Object? { first.takeAtEnd() ?? second.takeAtEnd() }
}

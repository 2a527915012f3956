import Synchronization

/// An erased instance: creations deliver cells, and instance tables publish them.
///
/// A cell is created for one service type and found by that type's key. For that reason ``value(as:)`` may downcast
/// unchecked.
///
/// `@unchecked Sendable` because `isSharedBelow` and its like are written before the cell is published, and only then;
/// publication is a releasing store. ThreadSanitizer would show a later write.
@usableFromInline class Cell: @unchecked Sendable {
    /// Whether containers below the one that publishes this cell find it too: singletons yes, scoped instances no.
    final var isSharedBelow = false
    /// Whether the instance has a custom lifetime, so that instances that outlive scopes must not hold it.
    final var isResettable = false
    /// Whether this is a ``WeakCell``.
    final let isHeldWeakly: Bool
    /// The ``RegistrationCounter`` for which the cell is valid; zero when it is valid as long as it is published.
    ///
    /// A scoped instance whose registration is an ancestor's must not hide a later, nearer registration.
    private let validAt = Atomic<UInt>(0)
    final var stamp: UInt { validAt.load(ordering: .acquiring) }
    final func stamp(_ registrationCount: UInt) { validAt.store(registrationCount, ordering: .releasing) }

    @usableFromInline init(isHeldWeakly: Bool) { self.isHeldWeakly = isHeldWeakly }

    /// The instance of a cell that holds it.
    ///
    /// - Parameter service: The cell's type: the key under which it was found has proved it.
    /// - Returns: The instance.
    @inlinable final func value<Service: Sendable>(as service: Service.Type) -> Service {
        unsafeDowncast(self, to: StrongCell<Service>.self).value
    }

    /// The instance, nil after it has gone.
    ///
    /// - Parameter service: The cell's type: the key under which it was found has proved it.
    /// - Returns: The instance.
    final func load<Service: Sendable>(as service: Service.Type) -> Service? {
        isHeldWeakly ? unsafeDowncast(self, to: WeakCell<Service>.self).value : value(as: service)
    }

    /// The same for code that does not know that the type is `Sendable`, such as the conformance of `Array`, which
    /// knows nothing about its elements.
    final func load<Service>(unconstrained service: Service.Type) -> Service? {
        if isHeldWeakly { return anyValue as? Service }
        // On the heap, because a temporary on the stack needs a closure, whose types generic code would look up at run
        // time.
        let place = UnsafeMutablePointer<Service>.allocate(capacity: 1)
        defer { place.deallocate() }
        copyInstance(of: service, to: place)
        return place.move()
    }

    /// Initializes memory with a copy of the instance; only for cells that hold one.
    ///
    /// Unchecked because the key under which the cell was found has proved the type.
    fileprivate func copyInstance(of service: any Any.Type, to address: UnsafeMutableRawPointer) {
        preconditionFailure("a cell that does not hold its instance has nothing to copy")
    }

    /// The instance as any type, nil after it has gone.
    var anyValue: (any Sendable)? { nil }
    /// A cell that holds the instance, nil after it has gone.
    func strengthened() -> Cell? { nil }
    /// A cell that refers to the same instance weakly, nil for values.
    func weakened() -> Cell? { nil }
    /// Another cell that holds the same instance; only for cells that hold one.
    func copied() -> Cell { preconditionFailure("a cell that does not hold its instance has no copy") }
    /// The factory's instance, inside any decorators: the one that the registration's hooks receive.
    var undecorated: Cell { self }
}

/// A cell that holds its instance.
///
/// `@unchecked Sendable` because its superclass is; it adds a constant of a `Sendable` type.
@usableFromInline class StrongCell<Service: Sendable>: Cell, @unchecked Sendable {
    @usableFromInline final let value: Service

    @inlinable init(_ value: Service) {
        self.value = value
        super.init(isHeldWeakly: false)
    }

    fileprivate override func copyInstance(of service: any Any.Type, to address: UnsafeMutableRawPointer) {
        assert(service == Service.self, "a cell is found by the key of its type")
        address.initializeMemory(as: Service.self, to: value)
    }
    override var anyValue: (any Sendable)? { value }
    override func strengthened() -> Cell? { self }
    override func copied() -> Cell { StrongCell(value) }
    override func weakened() -> Cell? {
        guard type(of: value as Any) is AnyClass else { return nil }
        return WeakCell<Service>(value)
    }
}

/// A cell that holds a decorated instance, and the one inside it.
///
/// `@unchecked Sendable` because its superclass is; it adds a constant.
final class DecoratedCell<Service: Sendable>: StrongCell<Service>, @unchecked Sendable {
    private let original: Cell

    init(_ value: Service, original: Cell) {
        self.original = original
        super.init(value)
    }

    override var undecorated: Cell { original }
}

/// A cell that refers to its instance weakly.
///
/// `@unchecked Sendable` because its superclass is; it adds a constant.
final class WeakCell<Service: Sendable>: Cell, @unchecked Sendable {
    private let reference: WeakReference<Service>

    fileprivate init(_ value: Service) {
        reference = WeakReference(value)
        super.init(isHeldWeakly: true)
    }

    var value: Service? { reference.instance }

    override var anyValue: (any Sendable)? { reference.instance }
    override func strengthened() -> Cell? { value.map(StrongCell.init) }
    override func weakened() -> Cell? { self }
}

/// Keeps the instance of one registration and argument pack, for a custom lifetime.
///
/// The container calls `load` for each request of the service, `store` once a new instance is complete, and `clear`
/// on reset and disposal, from any task and never under one of its locks. An implementation guards its own state.
///
/// A container calls `store` and `clear` of one storage one after the other, in the order of its decisions, even when a
/// lifetime returns the same storage again and again. An instance that was reset or replaced during its creation is not
/// stored; one that is reset while it is being stored is cleared before its successor is stored. A call that finds the
/// storage busy does not wait: the caller that is using the storage does the rest.
///
/// The container holds the instance of a registration with an `onDispose` hook until the hook has run, whatever its
/// storage does. A storage has one instance at a time. When it has released one (`load` returned nil) and a new one is
/// stored, the container disposes the old one after its last lease.
public protocol InstanceStorage: AnyObject, Sendable {
    /// The stored instance, or nil: the container then creates a new one.
    func load() -> (any Sendable)?
    /// The stored instance, or nil, for a health check or a description: no use of the instance.
    ///
    /// Needed only where `load` counts uses or notes their time; otherwise the same as `load`.
    func peek() -> (any Sendable)?
    /// Keeps a new instance.
    ///
    /// - Parameter instance: The factory's instance.
    func store(_ instance: any Sendable)
    /// Forgets the instance.
    ///
    /// The disposal of the container waits for the call before its first hook, so the call must not wait for one.
    func clear()
}

extension InstanceStorage {
    /// The same as ``load()``.
    public func peek() -> (any Sendable)? { load() }
}

/// Keeps its instance until it is cleared.
public final class StrongStorage: InstanceStorage {
    private let instance = Locked<(any Sendable)?>(nil)

    /// Creates an empty storage.
    public init() {}

    /// The instance, unless it was cleared.
    public func load() -> (any Sendable)? { instance.withLock { $0 } }
    /// Keeps the instance.
    ///
    /// - Parameter instance: The instance to keep.
    public func store(_ instance: any Sendable) { replace(with: instance) }
    /// Forgets the instance.
    public func clear() { replace(with: nil) }

    private func replace(with new: (any Sendable)?) {
        let old = instance.withLock { instance in
            exchange(&instance, with: new)
        }
        // The old instance is released outside the lock, because its deinitializer is user code. A discarded result
        // would be released by the assignment: an optimizer leaves out a copy that nothing uses.
        withExtendedLifetime(old) {}
    }
}

/// Refers to its instance weakly: it exists as long as another reference holds it.
///
/// Values are never kept.
public final class WeakStorage: InstanceStorage {
    private let reference = Locked<WeakReference<any Sendable>?>(nil)

    /// Creates an empty storage.
    public init() {}

    /// The instance, if it still exists.
    public func load() -> (any Sendable)? { reference.withLock { $0 }?.instance }
    /// Refers to the instance weakly.
    ///
    /// - Parameter instance: The instance to refer to; ignored unless it is an object.
    public func store(_ instance: any Sendable) {
        let new = WeakReference(instance)
        reference.withLock { $0 = new }
    }
    /// Forgets the instance.
    public func clear() { reference.withLock { $0 = nil } }
}

/// Several storages as one: loads from the first that has an instance, and stores into all.
///
/// `CompositeStorage([WeakStorage(), parentStorage])` keeps an instance as long as either does.
public final class CompositeStorage: InstanceStorage {
    private let parts: [any InstanceStorage]

    /// Creates a storage made of others.
    ///
    /// - Parameter parts: The storages, in the order in which they are loaded from.
    public init(_ parts: [any InstanceStorage]) { self.parts = parts }

    /// The instance of the first storage that has one.
    public func load() -> (any Sendable)? {
        for part in parts {
            if let instance = part.load() { return instance }
        }
        return nil
    }
    /// The instance of the first storage that has one, without a use of it.
    public func peek() -> (any Sendable)? {
        for part in parts {
            if let instance = part.peek() { return instance }
        }
        return nil
    }
    /// Stores into every part.
    ///
    /// - Parameter instance: The instance to keep.
    public func store(_ instance: any Sendable) { for part in parts { part.store(instance) } }
    /// Clears every part.
    public func clear() { for part in parts { part.clear() } }
}

/// A weak reference to an object; nil for a value.
///
/// `@unchecked Sendable` because the reference is constant and refers to a `Sendable` instance; reading a weak
/// reference is atomic.
struct WeakReference<Instance: Sendable>: @unchecked Sendable {
    private weak let object: AnyObject?

    init(_ instance: Instance) {
        // A value converts to `AnyObject` too, in a new box: only true objects are referred to.
        object = type(of: instance as Any) is AnyClass ? instance as AnyObject : nil
    }

    var instance: Instance? {
        // Unwrapped before the cast: no object would be a value of `any Sendable` too.
        guard let object else { return nil }
        return object as? Instance
    }
}

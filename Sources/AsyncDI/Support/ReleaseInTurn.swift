#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#elseif canImport(Bionic)
    import Bionic
#elseif canImport(WASILibc)
    import WASILibc
    #if canImport(wasi_pthread)
        import wasi_pthread
    #endif
#endif

/// Releases an object on behalf of a deinitializer, or of a function that one calls.
///
/// Without it, the objects of a chain end inside one another, each in the deinitializer of the one before, and a long
/// chain overflows the stack. Here an object that would end during the end of another one ends after it, in the same
/// thread, and before the first of them has been released.
func releaseInTurn<Object: AnyObject>(_ object: consuming Object?) {
    // In most cases another reference keeps it. That may change at any time, in both directions: it then ends here, or
    // a little later.
    guard isKnownUniquelyReferenced(&object), let last = object.take() else { return }
    // Consumed, so that the queue has the last reference, and not this function.
    guard let queue = ReleaseQueue.current else { return ReleaseQueue.run(releasing: consume last) }
    queue.append(consume last)
}

/// The objects to be released by this thread's outermost call of ``releaseInTurn(_:)``.
private final class ReleaseQueue {
    private var objects: [AnyObject?] = []
    private var next = 0

    func append(_ object: AnyObject) { objects.append(object) }

    private func takeFirst() -> AnyObject? {
        guard next < objects.count else { return nil }
        defer {
            next += 1
            // A chain has one object here at a time, however long it is.
            if next == objects.count {
                objects.removeAll(keepingCapacity: true)
                next = 0
            }
        }
        return objects[next].take()
    }

    static func run(releasing first: consuming AnyObject) {
        let queue = ReleaseQueue()
        queue.append(first)
        _ = consume first
        current = queue
        while let object = queue.takeFirst() { _ = consume object }
        current = nil
        withExtendedLifetime(queue) {}
    }

    #if _runtime(_multithreaded)
        /// Nil where the system has no more keys: objects then end inside one another.
        private static let key: pthread_key_t? = {
            var key = pthread_key_t()
            return pthread_key_create(&key, nil) == 0 ? key : nil
        }()

        static var current: ReleaseQueue? {
            get {
                guard let key, let address = pthread_getspecific(key) else { return nil }
                // Unretained because `run` keeps it while it is here.
                return Unmanaged<ReleaseQueue>.fromOpaque(address).takeUnretainedValue()
            }
            set {
                // Unretained because `run` keeps it while it is here.
                if let key { pthread_setspecific(key, newValue.map { Unmanaged.passUnretained($0).toOpaque() }) }
            }
        }
    #else
        /// Unsafe because only one thread exists.
        nonisolated(unsafe) static var current: ReleaseQueue?
    #endif
}

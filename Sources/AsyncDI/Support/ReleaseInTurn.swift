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

/// Does work that may call this function again, by way of a handler of the runtime: then that work is done afterwards,
/// in the same thread, and before the first call returns.
///
/// Otherwise a chain of tasks, each of which cancels the next one, would overflow the stack.
func doInTurn(_ work: @escaping () -> Void) { releaseInTurn(WorkAtEnd(work)) }

/// Does its work when it is released.
private final class WorkAtEnd {
    private let work: () -> Void

    init(_ work: @escaping () -> Void) { self.work = work }

    deinit { work() }
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

    static var current: ReleaseQueue? {
        get {
            // Unretained because `run` keeps it while it is here.
            threadValue.map { Unmanaged<ReleaseQueue>.fromOpaque($0).takeUnretainedValue() }
        }
        set {
            // Unretained because `run` keeps it while it is here.
            threadValue = newValue.map { Unmanaged.passUnretained($0).toOpaque() }
        }
    }
}

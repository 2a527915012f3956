/// A reference to an object that a static constant holds, and so never ends.
///
/// It counts no reference: counting changes memory that all threads share, and each would wait for the caches of the
/// others.
///
/// `@unchecked Sendable` because the pointer never changes and its object is `Sendable`.
struct ImmortalReference<Object: AnyObject & Sendable>: @unchecked Sendable {
    // Unretained because the object never ends.
    private let object: Unmanaged<Object>

    init(toConstant object: Object) { self.object = Unmanaged.passUnretained(object) }

    @inline(__always)
    func with<R>(_ body: (Object) -> R) -> R { object._withUnsafeGuaranteedRef(body) }
}

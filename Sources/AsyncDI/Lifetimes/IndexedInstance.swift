/// A cached instance as readers find it, by the hash of its arguments.
///
/// `@unchecked Sendable` because a class that is not final cannot be checked: it holds constants of `Sendable` types.
@usableFromInline class IndexedInstance: @unchecked Sendable {
    /// What tells it from the others of its registration; nil where there is no other.
    @usableFromInline final let arguments: ArgumentPack?
    /// Nil where a storage has the instance.
    @usableFromInline final let cell: Cell?
    // Last, so that what a subclass adds can fill the gap.
    final let hash: UInt32

    init(_ arguments: ArgumentPack?, hash: UInt32, cell: Cell?) {
        self.arguments = arguments
        self.cell = cell
        self.hash = hash
    }

    /// Notes that it was used, where uses matter.
    func noteUse() {}

    /// What stands where one was removed; it is never found, whatever its hash.
    static let removed = IndexedInstance(nil, hash: 0, cell: nil)

    /// The instance that was found by the hash of one argument, if it was made for this one.
    ///
    /// Unchecked because the types of the arguments, by which the registration was found, are those of all its instances.
    @inlinable final func instance<Service: Sendable, First: Hashable & Sendable>(
        of service: Service.Type, for first: First
    ) -> Service? {
        guard let arguments, Arguments<First>.of(arguments).values == first, let cell else { return nil }
        return cell.value(as: service)
    }

    /// The same for two arguments.
    @inlinable final func instance<Service: Sendable, First: Hashable & Sendable, Second: Hashable & Sendable>(
        of service: Service.Type, for first: First, _ second: Second
    ) -> Service? {
        guard let arguments, let cell else { return nil }
        let values = Arguments<First, Second>.of(arguments).values
        return values.0 == first && values.1 == second ? cell.value(as: service) : nil
    }
}

/// Whether a hash costs so little that it is not worth asking whether it is needed: of a number, an identifier, a short text.
@inlinable
func isCheaplyHashed<Value>(_ value: Value) -> Bool {
    if let text = value as? String { return text.utf8.count <= 64 }
    return _isPOD(Value.self) && MemoryLayout<Value>.size <= 32
}

/// Whether hashing runs nothing but the standard library's code, and little of it: it may be done while a table is read.
@inlinable @inline(__always)
func isHashedByLibrary<Value>(_: Value.Type) -> Bool {
    Value.self == Int.self || Value.self == UInt.self || Value.self == Int64.self || Value.self == UInt64.self
        || Value.self == Int32.self || Value.self == UInt32.self || Value.self == Int16.self
        || Value.self == UInt16.self || Value.self == Int8.self || Value.self == UInt8.self || Value.self == Bool.self
}

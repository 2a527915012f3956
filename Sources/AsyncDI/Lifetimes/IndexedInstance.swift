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

    /// The cell of an instance that was found by the hash of one argument, if it was made for this one.
    ///
    /// Unchecked because the types of the arguments, by which the registration was found, are those of all its instances.
    @inlinable final func cell<First: Hashable & Sendable>(for first: First) -> Cell? {
        guard let arguments, Arguments<First>.of(arguments).values == first else { return nil }
        return cell
    }

    /// The same for two arguments.
    @inlinable final func cell<First: Hashable & Sendable, Second: Hashable & Sendable>(
        for first: First, _ second: Second
    ) -> Cell? {
        guard let arguments else { return nil }
        let pack = Arguments<First, Second>.of(arguments)
        return pack.values.0 == first && pack.values.1 == second ? cell : nil
    }
}

/// Whether a hash costs so little that it is not worth asking whether it is needed: of a number, an identifier, a short text.
@inlinable
func isCheaplyHashed<Value>(_ value: Value) -> Bool {
    if let text = value as? String { return text.utf8.count <= 64 }
    return _isPOD(Value.self) && MemoryLayout<Value>.size <= 32
}

/// A cached instance as readers find it, by the hash of its arguments.
///
/// `@unchecked Sendable` because a class that is not final cannot be checked: it holds constants of `Sendable` types.
@usableFromInline class IndexEntry: PublishedElement, @unchecked Sendable {
    /// The arguments for readers that know their types, in an object that the key holds, too; nil where readers never
    /// find the instance by its arguments.
    final let arguments: ArgumentPack?
    /// Nil where a storage holds the instance.
    final let cell: Cell?
    // Last, so that the stored properties of a subclass can fill the gap.
    /// The key that distinguishes it from the others of its registration.
    final let argumentKey: ArgumentKey

    init(_ argumentKey: ArgumentKey, _ arguments: ArgumentPack?, cell: Cell?) {
        self.arguments = arguments
        self.cell = cell
        self.argumentKey = argumentKey
    }

    final var hash: UInt32 { argumentKey.hash }
    /// Of an entry without arguments, a hash that no arguments have.
    ///
    /// Where `UInt` has 32 bits, some may have it: readers then find the mark, which has no contents.
    final var placeHash: UInt { arguments == nil ? .max : UInt(hash) }

    /// Notes a use, where uses matter.
    func noteUse() {}
    /// Notes that a shared instance will hold this one.
    func noteHolder() {}

    /// The mark of a removed entry, which is never found.
    static let removed = IndexEntry(.none, nil, cell: nil)

    /// Both, valid as long as this object, which the caller must keep explicitly: retaining them would take half as
    /// long as a hit.
    @usableFromInline final var contents: (arguments: Unmanaged<ArgumentPack>, cell: Unmanaged<Cell>)? {
        guard let arguments, let cell else { return nil }
        return (Unmanaged.passUnretained(arguments), Unmanaged.passUnretained(cell))
    }

    /// The instance found by the hash of one argument, if it was created for this argument.
    ///
    /// Unchecked because the types of the arguments, by which the registration was found, are those of all its
    /// instances.
    @inlinable final func instance<Service: Sendable, First: Hashable & Sendable>(
        of service: Service.Type, for first: First
    ) -> Service? {
        // After inlining, this may be the last use of the entry, without another reference: it must not end before its
        // contents.
        defer { withExtendedLifetime(self) {} }
        guard let contents,
            contents.arguments._withUnsafeGuaranteedRef({ Arguments<First>.of($0).values == first })
        else { return nil }
        return contents.cell._withUnsafeGuaranteedRef { $0.value(as: service) }
    }

    /// The same for two arguments.
    @inlinable final func instance<Service: Sendable, First: Hashable & Sendable, Second: Hashable & Sendable>(
        of service: Service.Type, for first: First, _ second: Second
    ) -> Service? {
        // As above.
        defer { withExtendedLifetime(self) {} }
        guard let contents,
            contents.arguments._withUnsafeGuaranteedRef({
                let values = Arguments<First, Second>.of($0).values
                return values.0 == first && values.1 == second
            })
        else { return nil }
        return contents.cell._withUnsafeGuaranteedRef { $0.value(as: service) }
    }
}

/// Whether a hash is so cheap that computing it early costs nothing: that of a number, an identifier, a short text.
@inlinable
func isCheaplyHashed<Value>(_ value: Value) -> Bool {
    if let text = value as? String { return text.utf8.count <= 64 }
    return _isPOD(Value.self) && MemoryLayout<Value>.size <= 32
}

/// Whether hashing runs only a little of the standard library's code: it may then run during a read of the table.
@inlinable @inline(__always)
func isHashedByLibrary<Value>(_: Value.Type) -> Bool {
    Value.self == Int.self || Value.self == UInt.self || Value.self == Int64.self || Value.self == UInt64.self
        || Value.self == Int32.self || Value.self == UInt32.self || Value.self == Int16.self
        || Value.self == UInt16.self || Value.self == Int8.self || Value.self == UInt8.self || Value.self == Bool.self
}

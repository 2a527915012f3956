/// A cached instance with arguments, as readers find it: by the hash of its arguments.
///
/// `@unchecked Sendable` because a class that is not final cannot be checked: it and its subclasses hold constants of
/// `Sendable` types.
@usableFromInline class IndexedInstance: @unchecked Sendable {
    let hash: Int
    @usableFromInline let cell: Cell
    /// Notes its uses, where they matter.
    private let use: Use?
    private let unretainedUse: Unmanaged<Use>?

    fileprivate init(hash: Int, cell: Cell, use: Use?) {
        self.hash = hash
        self.cell = cell
        self.use = use
        unretainedUse = use.map { Unmanaged.passUnretained($0) }
    }

    /// Notes that it was used.
    ///
    /// Through a reference that is not retained, because that costs as much as all the rest: the entry holds it.
    func noteUse() { unretainedUse?._withUnsafeGuaranteedRef { $0.note() } }

    /// What stands where one was removed; it is never found, whatever its hash.
    static let removed = IndexedInstance(hash: 0, cell: StrongCell(0), use: nil)
}

/// A cached instance with one argument.
///
/// `@unchecked Sendable` because its superclass is; it adds a constant of a `Sendable` type.
@usableFromInline final class InstanceOfOne<First: Hashable & Sendable>: IndexedInstance, @unchecked Sendable {
    @usableFromInline let first: First

    init(_ first: First, cell: Cell, use: Use?) {
        self.first = first
        super.init(hash: Self.hash(first), cell: cell, use: use)
    }

    @inlinable static func hash(_ first: First) -> Int { first.hashValue }
}

/// A cached instance with two arguments.
///
/// `@unchecked Sendable` because its superclass is; it adds constants of `Sendable` types.
@usableFromInline
final class InstanceOfTwo<First: Hashable & Sendable, Second: Hashable & Sendable>: IndexedInstance, @unchecked Sendable
{
    @usableFromInline let first: First
    @usableFromInline let second: Second

    init(_ first: First, _ second: Second, cell: Cell, use: Use?) {
        self.first = first
        self.second = second
        super.init(hash: Self.hash(first, second), cell: cell, use: use)
    }

    @inlinable static func hash(_ first: First, _ second: Second) -> Int { Both(first, second).hashValue }

    /// Hashed as one: the standard library then need not copy the state of a `Hasher`.
    @usableFromInline struct Both: Hashable {
        @usableFromInline let first: First
        @usableFromInline let second: Second

        @inlinable init(_ first: First, _ second: Second) {
            self.first = first
            self.second = second
        }
    }
}

/// Makes what readers find of an instance from its arguments; once for each instance, because it is slow.
struct Indexing: ArgumentsVisitor {
    let cell: Cell
    let use: Use?

    func visit<First: Hashable & Sendable>(_ first: First) -> IndexedInstance {
        InstanceOfOne(first, cell: cell, use: use)
    }

    func visit<First: Hashable & Sendable, Second: Hashable & Sendable>(
        _ first: First, _ second: Second
    ) -> IndexedInstance {
        InstanceOfTwo(first, second, cell: cell, use: use)
    }
}

/// Whether a hash costs so little that it is not worth asking whether it is needed: of a number, an identifier, a short text.
@inlinable
func isCheaplyHashed<Value>(_ value: Value) -> Bool {
    if let text = value as? String { return text.utf8.count <= 64 }
    return _isPOD(Value.self) && MemoryLayout<Value>.size <= 32
}

/// The cached instances of one registration with arguments, published for readers without a lock.
///
/// In a ``PublishedArray`` by the hash of the arguments; a removal leaves a mark in its place. The reader compares the
/// arguments once it holds the entry and has left the ``ReadEpoch``, because `==` is user code. Two instances with the
/// same hash are rare; the second one is found only under the container's lock.
///
/// `@unchecked Sendable` because `array` and its elements are atomic, and the counts belong to the lock of the
/// container that owns the registration. Writers return what they remove, to be released after
/// ``ReadEpoch/synchronize()`` has returned.
final class InstanceIndex: @unchecked Sendable {
    private let array = AtomicReference<PublishedArray<IndexEntry>>()
    /// Places that hold an instance.
    private var count = 0
    /// Places that hold or held an instance.
    private var used = 0

    /// An instance whose arguments have this hash, inside a ``ReadEpoch``, which keeps the places until the instance is
    /// retained.
    func instance(withHash hash: UInt32) -> IndexEntry? {
        array.load()?._withUnsafeGuaranteedRef {
            $0.first(withHash: UInt(hash)) { _ in true }?.element.takeUnretainedValue()
        }
    }

    /// The number of places.
    var capacity: Int { array.load()?._withUnsafeGuaranteedRef { $0.capacity } ?? 0 }

    // MARK: Writing, under the container's lock

    func insert(_ instance: IndexEntry, retired: inout [AnyObject]) {
        var places = array.object
        if places == nil || (used + 1) * 4 > places!.capacity * 3 {
            let larger = PublishedArray<IndexEntry>(capacity: max(8, (count + 1).nextPowerOfTwo * 2))
            places?.forEach { if $0 !== IndexEntry.removed { larger.insert($0) } }
            used = count
            if let old = array.exchange(larger) { retired.append(old) }
            places = larger
        }
        places!.insert(instance)
        count += 1
        used += 1
    }

    /// Removes an instance, if the index has it.
    func remove(_ instance: IndexEntry, retired: inout [AnyObject]) {
        // Unretained because only addresses are compared.
        let address = Unmanaged.passUnretained(instance).toOpaque()
        guard let places = array.object,
            let place = places.first(withHash: instance.placeHash, where: { $0.toOpaque() == address }),
            let removed = places.replace(.removed, at: place.index)
        else { return }
        count -= 1
        retired.append(removed)
    }

    func removeAll(retired: inout [AnyObject]) {
        count = 0
        used = 0
        if let old = array.exchange(nil) { retired.append(old) }
    }
}

extension Int {
    fileprivate var nextPowerOfTwo: Int { self <= 1 ? 1 : 1 << (Int.bitWidth - (self - 1).leadingZeroBitCount) }
}

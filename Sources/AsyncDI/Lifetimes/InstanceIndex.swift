/// The cached instances of one registration with arguments, published for readers without a lock.
///
/// Open addressing by the hash of the arguments. The reader compares the arguments once it holds the entry and has left
/// the ``ReadEpoch``, because `==` is user code. Two instances with the same hash are rare; the second one is found
/// only under the container's lock.
///
/// `@unchecked Sendable` because `array` and its elements are atomic, and the counts belong to the lock of the
/// container that owns the registration. Writers return what they remove, to be released after
/// ``ReadEpoch/synchronize()`` has returned.
final class InstanceIndex: @unchecked Sendable {
    private let array = AtomicReference<Places>()
    /// Places that hold an instance.
    private var count = 0
    /// Places that hold or held an instance.
    private var used = 0

    /// An instance whose arguments have this hash, inside a ``ReadEpoch``, which keeps the places until the instance is
    /// retained.
    func instance(withHash hash: UInt32) -> IndexEntry? {
        array.load()?._withUnsafeGuaranteedRef { $0.instance(withHash: hash)?.takeUnretainedValue() }
    }

    /// The number of places.
    var capacity: Int { array.load()?._withUnsafeGuaranteedRef { $0.capacity } ?? 0 }

    // MARK: Writing, under the container's lock

    func insert(_ instance: IndexEntry, retired: inout [AnyObject]) {
        var places = array.object
        if places == nil || (used + 1) * 4 > places!.capacity * 3 {
            let larger = Places(capacity: max(8, (count + 1).nextPowerOfTwo * 2))
            for instance in places?.instances ?? [] { larger.insert(instance) }
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
        guard let places = array.object, let removed = places.remove(instance) else { return }
        count -= 1
        retired.append(removed)
    }

    func removeAll(retired: inout [AnyObject]) {
        count = 0
        used = 0
        if let old = array.exchange(nil) { retired.append(old) }
    }
}

/// A power of two of places, filled but never emptied: a removal leaves a mark.
///
/// `@unchecked Sendable` because the places are atomic and the pointer never changes.
private final class Places: @unchecked Sendable {
    let capacity: Int
    private let places: UnsafeMutablePointer<AtomicReference<IndexEntry>>
    private let mark = IndexEntry.removed

    init(capacity: Int) {
        self.capacity = capacity
        places = .allocate(capacity: capacity)
        for index in 0..<capacity { (places + index).initialize(to: AtomicReference()) }
    }

    deinit {
        places.deinitialize(count: capacity)
        places.deallocate()
    }

    private func isMark(_ place: Unmanaged<IndexEntry>) -> Bool {
        // Unretained because only addresses are compared.
        place.toOpaque() == Unmanaged.passUnretained(mark).toOpaque()
    }

    /// The first instance with this hash, valid until the read ends.
    func instance(withHash hash: UInt32) -> Unmanaged<IndexEntry>? {
        var index = Int(hash) & (capacity - 1)
        while let place = places[index].load() {
            if place._withUnsafeGuaranteedRef({ $0.hash == hash }), !isMark(place) { return place }
            index = (index + 1) & (capacity - 1)
        }
        return nil
    }

    /// Only the writer calls this, and only while at least one place stays free.
    func insert(_ instance: IndexEntry) {
        var index = Int(instance.hash) & (capacity - 1)
        while places[index].load() != nil { index = (index + 1) & (capacity - 1) }
        _ = places[index].exchange(instance)
    }

    func remove(_ instance: IndexEntry) -> IndexEntry? {
        var index = Int(instance.hash) & (capacity - 1)
        while let place = places[index].load() {
            // Unretained because only addresses are compared.
            if place.toOpaque() == Unmanaged.passUnretained(instance).toOpaque() {
                return places[index].exchange(mark)
            }
            index = (index + 1) & (capacity - 1)
        }
        return nil
    }

    var instances: [IndexEntry] {
        (0..<capacity).compactMap { index in
            places[index].load().flatMap { isMark($0) ? nil : $0.takeUnretainedValue() }
        }
    }
}

extension Int {
    fileprivate var nextPowerOfTwo: Int { self <= 1 ? 1 : 1 << (Int.bitWidth - (self - 1).leadingZeroBitCount) }
}

/// An object that a ``PublishedArray`` finds by its hash.
protocol PublishedElement: AnyObject, Sendable {
    /// Constant.
    var placeHash: UInt { get }
}

/// Objects published for readers without a lock, found by their hash.
///
/// Open addressing over a power of two of places. A place that was taken is never empty again: its object can only be
/// exchanged. Readers work inside a ``ReadEpoch``. Writers are serialized by a lock of their own, and keep what they
/// take out until ``ReadEpoch/synchronize()`` has returned.
///
/// `@unchecked Sendable` because the pointer never changes and the places are atomic.
final class PublishedArray<Element: PublishedElement>: @unchecked Sendable {
    let capacity: Int
    private let places: UnsafeMutablePointer<AtomicReference<Element>>

    init(capacity: Int) {
        self.capacity = capacity
        places = .allocate(capacity: capacity)
        for index in 0..<capacity { (places + index).initialize(to: AtomicReference()) }
    }

    deinit {
        // As places of any objects, because they have the same layout: the deinitializer of a generic class is not
        // specialized, and would ask the runtime for the type of its places.
        let places = UnsafeMutableRawPointer(places)
        places.assumingMemoryBound(to: AtomicReference<AnyObject>.self).deinitialize(count: capacity)
        places.deallocate()
    }

    /// The first object with a hash that is wanted, and its place.
    ///
    /// The object is valid as long as the read, or the writer's lock, goes on.
    @inline(__always)
    func first(
        withHash hash: UInt, where isWanted: (Unmanaged<Element>) -> Bool
    ) -> (element: Unmanaged<Element>, index: Int)? {
        let (places, mask) = (places, capacity - 1)
        var index = Int(truncatingIfNeeded: hash) & mask
        while let element = places[index].load() {
            if element._withUnsafeGuaranteedRef({ $0.placeHash }) == hash, isWanted(element) { return (element, index) }
            index = (index + 1) & mask
        }
        return nil
    }

    /// Every object, in no particular order, inside a read or under the writer's lock.
    func forEach(_ body: (Element) -> Void) {
        for index in 0..<capacity {
            if let element = places[index].object { body(element) }
        }
    }

    // MARK: Writing

    /// Inserts an object; at least one place stays free.
    func insert(_ element: Element) {
        var index = Int(truncatingIfNeeded: element.placeHash) & (capacity - 1)
        while places[index].load() != nil { index = (index + 1) & (capacity - 1) }
        _ = places[index].exchange(element)
    }

    /// Puts an object in a place that is taken.
    ///
    /// - Returns: The previous object.
    func replace(_ element: Element, at index: Int) -> Element? { places[index].exchange(element) }
}

/// Releases an object, and those that only it keeps, one after the other.
///
/// Left to themselves, the objects of a chain end inside one another, each in the deinitializer of the one before, and a long chain takes
/// more stack than there is. The deinitializers of the objects in a chain call this with what they keep.
///
/// - Parameters:
///   - first: What is released.
///   - takeNext: Takes out of an object, which nobody else has any more, what it keeps.
func releaseChain<Object: AnyObject>(from first: consuming Object?, takingNext takeNext: (Object) -> Object?) {
    var current = first
    while current != nil, isKnownUniquelyReferenced(&current) {
        // Taken out first: the end of the object then finds nothing more to release.
        let next = current.flatMap(takeNext)
        current = next
    }
}

/// Decides whether a long-lived instance would hold one that ends before it.
///
/// A pure rule over places (containers) that know their parents.
struct CaptiveRule<Place> {
    let parent: (Place) -> Place?
    let areSame: (Place, Place) -> Bool

    /// Whether an instance cached in `holderPlace` must not hold one that is cached in `instancePlace`.
    ///
    /// It must not when the instance's scope lies below the holder's container: the scope ends first. A scoped service
    /// of the root belongs to no scope: a singleton, multiton or weak service that holds one hides each request's own
    /// instance from it. A resettable instance, wherever it is cached, has a shorter life than these too: they would
    /// hold it beyond its end.
    func forbids(
        holderIn holderPlace: Place, outlivingScopes: Bool, instanceIn instancePlace: Place, isScoped: Bool,
        isResettable: Bool
    ) -> Bool {
        if outlivingScopes, isResettable { return true }
        if areSame(holderPlace, instancePlace) {
            return isScoped && outlivingScopes && parent(instancePlace) == nil
        }
        var place = parent(instancePlace)
        while let current = place {
            if areSame(current, holderPlace) { return true }
            place = parent(current)
        }
        return false
    }
}

extension CaptiveRule where Place: AnyObject {
    init(parent: @escaping (Place) -> Place?) { self.init(parent: parent, areSame: ===) }
}

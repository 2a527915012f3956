/// The key of an instance that has left the caches and is not disposed yet, or of an invalidated creation.
///
/// A successor with the same key waits for that disposal, or for the end of that creation. In a multiton, the successor
/// may be that of another registration of the service, because two instances for the same arguments may hold the same
/// file.
struct EndingKey: Hashable {
    /// Of a multiton; nil where the registration counts.
    private let service: ServiceKey?
    /// By identity, because the noted instances keep their registrations.
    private let binding: ObjectIdentifier?
    /// Both values of a comparison have types of their own for each type of argument, so `1` and `1.0` differ.
    private let arguments: ArgumentKey

    init(_ key: CreationKey) {
        let isMultiton = key.binding.lifetime.kind == .multiton
        service = isMultiton ? key.binding.key : nil
        binding = isMultiton ? nil : ObjectIdentifier(key.binding)
        arguments = key.arguments
    }
}

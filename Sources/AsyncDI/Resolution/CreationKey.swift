/// The unit of creation in one place: a registration, by identity, with its arguments.
///
/// The key keeps the registration alive, so that no other registration can have the same address.
///
/// An object, because it is copied a dozen times for each creation: a copy of its content would count a reference to
/// the registration, which all requests share, so that threads would wait for one another's caches.
final class CreationKey: Hashable, CustomStringConvertible, Sendable {
    let binding: Binding
    let arguments: ArgumentKey
    /// The number of the requested container in a graph, which serves several containers.
    ///
    /// A number and not the container, which must not live as long as a kept graph. Not its address either, which a
    /// later container may have.
    let asked: UInt64?

    init(_ binding: Binding, _ pack: ArgumentPack, asked: (any ResolutionHost)? = nil) {
        self.binding = binding
        self.asked = asked?.number
        arguments = binding.key.arguments == nil ? .none : binding.blueprint.keying?.key(pack) ?? .none
    }

    /// The key of a registered instance, or of a service without arguments.
    init(withoutArguments binding: Binding, asked: (any ResolutionHost)? = nil) {
        self.binding = binding
        arguments = .none
        self.asked = asked?.number
    }

    /// The key under which an instance was cached.
    init(_ binding: Binding, _ arguments: ArgumentKey) {
        self.binding = binding
        self.arguments = arguments
        asked = nil
    }

    /// The arguments as text; empty without arguments.
    ///
    /// Not to be called under a lock: the description of an argument is user code.
    var argumentText: String { arguments.list.map(singleLine(reflecting:)).joined(separator: ", ") }

    /// The service with its arguments: `TenantPool("acme")`.
    ///
    /// Not to be called under a lock, for the same reason.
    var description: String { binding.key.description(withArguments: argumentText) }

    /// Whether the key can be found again: false for an argument like NaN.
    var isEqualToItself: Bool { arguments.isNone || arguments == arguments }

    static func == (first: CreationKey, second: CreationKey) -> Bool {
        first.binding === second.binding && first.asked == second.asked && first.arguments == second.arguments
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(binding))
        hasher.combine(asked)
        hasher.combine(arguments.hash)
    }
}

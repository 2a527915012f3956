extension Resolver: _Resolving {
    /// The code that has the resolver.
    @inlinable public var _requester: _Requester { .factory(self) }

    /// The container that resolves, such as the scope in which a service is being created, for hooks that must know it;
    /// nil when it no longer exists.
    ///
    /// Keep the resolver rather than the container: an instance that holds the container that holds it is never freed.
    public var container: Container? { core?.handle() }

    var core: ContainerCore? { host as? ContainerCore }
}

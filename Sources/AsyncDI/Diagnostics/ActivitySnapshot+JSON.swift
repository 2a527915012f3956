// Encoded with the names of the properties; services, arguments and places are texts, durations are seconds. A snapshot
// and its disposals encode themselves in this way.

extension ActivitySnapshot.Loading: Encodable {
    private enum CodingKeys: CodingKey {
        case modules, container, seconds, waiters, waits
    }

    /// Encodes the loading.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(modules, forKey: .modules)
        try values.encode(container, forKey: .container)
        try values.encode(duration.seconds, forKey: .seconds)
        try values.encode(waiters, forKey: .waiters)
        try values.encode(waits.map(\.target), forKey: .waits)
    }
}

extension ActivitySnapshot.Creation: Encodable {
    private enum CodingKeys: CodingKey {
        case instance, seconds, waiters, path, waits
    }

    /// Encodes the creation.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(instance, forKey: .instance)
        try values.encode(duration.seconds, forKey: .seconds)
        try values.encode(waiters, forKey: .waiters)
        try values.encode(path.map(\.description), forKey: .path)
        try values.encode(waits.map(\.target), forKey: .waits)
    }
}

extension ActivitySnapshot.Instance: Encodable {
    private enum CodingKeys: CodingKey {
        case service, arguments, site, container
    }

    /// Encodes the instance.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(key.description, forKey: .service)
        try values.encode(arguments, forKey: .arguments)
        try values.encodeIfPresent(site?.description, forKey: .site)
        try values.encode(container, forKey: .container)
    }
}

extension ActivitySnapshot.Lease: Encodable {
    private enum CodingKeys: CodingKey {
        case instance, seconds, bodies, holders
    }

    /// Encodes the lease.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(instance, forKey: .instance)
        try values.encode(duration.seconds, forKey: .seconds)
        try values.encode(bodies, forKey: .bodies)
        try values.encode(holders, forKey: .holders)
    }
}

extension ActivitySnapshot.Scope: Encodable {
    private enum CodingKeys: CodingKey {
        case name, container, seconds, hasOwner, isDisposed
    }

    /// Encodes the scope.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(name, forKey: .name)
        try values.encode(container, forKey: .container)
        try values.encode(duration.seconds, forKey: .seconds)
        try values.encode(hasOwner, forKey: .hasOwner)
        try values.encode(isDisposed, forKey: .isDisposed)
    }
}

extension Duration {
    fileprivate var seconds: Double { self / .seconds(1) }
}

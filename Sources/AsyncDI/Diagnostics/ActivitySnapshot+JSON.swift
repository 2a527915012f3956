// Encoded with the names of the properties; services, arguments and places are texts, durations are seconds. A snapshot
// and its disposals encode themselves in this way.

extension ActivitySnapshot.Loading: Encodable {
    /// Encodes the loading.
    public func encode(to encoder: any Encoder) throws {
        try encoder.encode([
            "modules": modules, "container": container, "seconds": duration.seconds, "waiters": waiters,
            "waits": waits.map(\.target),
        ])
    }
}

extension ActivitySnapshot.Creation: Encodable {
    /// Encodes the creation.
    public func encode(to encoder: any Encoder) throws {
        try encoder.encode([
            "instance": instance, "seconds": duration.seconds, "waiters": waiters,
            "path": path.map(\.description), "waits": waits.map(\.target),
        ])
    }
}

extension ActivitySnapshot.Instance: Encodable {
    /// Encodes the instance.
    public func encode(to encoder: any Encoder) throws {
        try encoder.encode([
            "service": key.description, "arguments": arguments, "site": site?.description, "container": container,
        ])
    }
}

extension ActivitySnapshot.Lease: Encodable {
    /// Encodes the lease.
    public func encode(to encoder: any Encoder) throws {
        try encoder.encode([
            "instance": instance, "seconds": duration.seconds, "bodies": bodies, "holders": holders,
        ])
    }
}

extension ActivitySnapshot.Scope: Encodable {
    /// Encodes the scope.
    public func encode(to encoder: any Encoder) throws {
        try encoder.encode([
            "name": name, "container": container, "seconds": duration.seconds, "hasOwner": hasOwner,
            "isDisposed": isDisposed,
        ])
    }
}

extension Encoder {
    /// Encodes an object with these members, in their order; those that are nil are left out.
    fileprivate func encode(_ members: KeyValuePairs<String, (any Encodable)?>) throws {
        var values = container(keyedBy: MemberName.self)
        for case (let name, let value?) in members { try values.encode(value, forKey: MemberName(stringValue: name)) }
    }
}

private struct MemberName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension Duration {
    fileprivate var seconds: Double { self / .seconds(1) }
}

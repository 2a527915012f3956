/// Names for the nodes of a graph: as short as possible, and all different.
///
/// A pure value. The names depend on the services alone, not on their order.
struct GraphNames {
    private var names: [RecordedService: String] = [:]

    init(_ services: [(service: RecordedService, site: RegistrationSite?)]) {
        var taken: Set<String> = []
        let groups = Dictionary(grouping: services) { $0.service.text }.sorted { $0.key < $1.key }
        // A service whose text is unique keeps it.
        for (text, group) in groups where group.count == 1 {
            names[group[0].service] = text
            taken.insert(text)
        }
        for (text, group) in groups where group.count > 1 {
            let owners = Set(group.map(\.service.owner))
            let sorted = group.map { (service: $0.service, order: Self.order(of: $0)) }.sorted { $0.order < $1.order }
            for (number, one) in sorted.enumerated() {
                let owner = one.service.owner
                // A group has no owner.
                var name = owner.isEmpty ? text : "\(text) (\(singleLine(owner)))"
                if owners.count < group.count { name = "\(text) #\(number + 1)" }
                while !taken.insert(name).inserted { name += "′" }
                names[one.service] = name
            }
        }
    }

    /// The names of recorded or declared services.
    init(_ records: Recorder.Records) { self.init(records.services.map { ($0.key, $0.value.site) }) }

    subscript(service: RecordedService) -> String { names[service] ?? service.text }

    /// The order of services with one text: by source location, then by everything that distinguishes their keys.
    private static func order(
        of one: (service: RecordedService, site: RegistrationSite?)
    ) -> (owner: String, fileID: String, line: UInt, key: String) {
        let key = one.service.key
        var parts = ["\(one.service.isGroup)", String(reflecting: key.service)]
        // `Env.prod` and `"prod"` read the same, and so may two values of a type that describes itself.
        if let qualifier = key.qualifier {
            parts += [String(reflecting: type(of: qualifier)), String(reflecting: qualifier)]
            parts += Mirror(reflecting: qualifier).children.map { String(reflecting: $0.value) }
        }
        parts += [key.isMaking ? "making" : "", "\(key.argumentTypes)", one.service.mark]
        if case .contribution(let id) = key.role { parts += ["one of many", id.keyType, "\(id)"] }
        return (one.service.owner, one.site?.fileID ?? "", one.site?.line ?? 0, parts.joined(separator: "\n"))
    }
}

extension RecordedService {
    /// The service as code requests it: `[S]` for a group, `S[key]` for one of its contributions.
    var text: String {
        if isGroup {
            return "[\(readableName(of: key.service))]\(key.qualifier.map { "[\(singleLine("\($0)"))]" } ?? "")"
        }
        guard case .contribution(let id) = key.role else { return key.description }
        let plain = key.with(.service).description
        // A contribution without a key is identified by its source location, which its name need not show.
        return id.key(as: RegistrationSite.self) == nil ? "\(plain)\(id)" : plain
    }
}

/// Names for the nodes of a graph: as short as they can be while no two are the same.
///
/// A pure value. The names depend on what is named alone, not on its order.
struct GraphNames {
    private var names: [RecordedService: String] = [:]

    init(_ services: [(service: RecordedService, site: RegistrationSite?)]) {
        var taken: Set<String> = []
        let groups = Dictionary(grouping: services) { $0.service.text }.sorted { $0.key < $1.key }
        // Those that are alone with their text keep it.
        for (text, group) in groups where group.count == 1 {
            names[group[0].service] = text
            taken.insert(text)
        }
        for (text, group) in groups where group.count > 1 {
            let owners = Set(group.map(\.service.owner))
            let sorted = group.sorted { Self.sortKey($0) < Self.sortKey($1) }
            for (number, one) in sorted.enumerated() {
                var name = owners.count == group.count ? "\(text) (\(one.service.owner))" : "\(text) #\(number + 1)"
                while !taken.insert(name).inserted { name += "′" }
                names[one.service] = name
            }
        }
    }

    subscript(service: RecordedService) -> String { names[service] ?? service.text }

    private static func sortKey(_ one: (service: RecordedService, site: RegistrationSite?)) -> (String, String, UInt) {
        let type = String(reflecting: one.service.key.service)
        return ("\(one.service.owner)\n\(type)", one.site?.fileID ?? "", one.site?.line ?? 0)
    }
}

extension RecordedService {
    /// The service as it is asked for: `[S]` for a group, `S[key]` for one of its contributions.
    var text: String {
        if isGroup { return "[\(readableName(of: key.service))]\(key.qualifier.map { "[\($0)]" } ?? "")" }
        guard case .contribution(let id) = key.role else { return key.description }
        let plain = key.with(.service).description
        // One without a key goes by its place here, which its name need not show.
        return id.key(as: RegistrationSite.self) == nil ? "\(plain)\(id)" : plain
    }
}

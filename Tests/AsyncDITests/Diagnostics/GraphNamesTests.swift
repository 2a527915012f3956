import Testing

@testable import AsyncDI

private struct Font: Sendable {}
private enum Env: Qualifier { case prod }
private struct Loud: Qualifier, CustomStringConvertible {
    let number: Int
    var description: String { "loud" }
}

/// The names of nodes, where several would have the same one.
@Suite(.timeLimit(.minutes(10))) struct GraphNamesTests {
    @Test func `names do not depend on the order in which things were noted`() {
        let site = RegistrationSite(fileID: "App/A.swift", line: 1)
        let keys = [
            ServiceKey(Font.self, qualifier: Env.prod), ServiceKey(Font.self, qualifier: "prod"),
            ServiceKey(Font.self, qualifier: Loud(number: 1)), ServiceKey(Font.self, qualifier: Loud(number: 2)),
            ServiceKey(Font.self, role: .contribution(ContributionID(key: "prod"))),
            ServiceKey(Font.self, qualifier: "1"), ServiceKey(Font.self, role: .contribution(ContributionID(key: 1))),
            ServiceKey(Font.self, role: .contribution(ContributionID(key: "1"))),
            ServiceKey(Font.self, arguments: Arguments<Int>.self), ServiceKey(Font.self),
            ServiceKey(Font.self, role: .making),
        ]
        let services = keys.map { (service: RecordedService($0, owner: "app"), site: Optional(site)) }
        let first = GraphNames(services)
        let second = GraphNames(services.reversed())
        for (service, _) in services { #expect(first[service] == second[service]) }
        #expect(Set(services.map { first[$0.service] }).count == keys.count)
        #expect(Set(keys.prefix(2).map { first[RecordedService($0, owner: "app")] }) != ["Font[prod]"])
    }

    @Test func `a group has no owner to be named, beside the registration of an array`() {
        let group = RecordedService(groupOf: ServiceKey(Font.self))
        let array = RecordedService(ServiceKey([Font].self), owner: "app")
        let names = GraphNames([(group, nil), (array, nil)])
        #expect(names[group] == "[Font]" && names[array] == "[Font] (app)")
    }

    @Test func `the place in the source decides first`() {
        let sites = [9, 10, 100].map { RegistrationSite(fileID: "App/A.swift", line: $0) }
        let services = [2, 0, 1].map { place in
            let key = ServiceKey(Font.self, role: .contribution(ContributionID(key: sites[place])))
            return (service: RecordedService(key, owner: "app"), site: Optional(sites[place]))
        }
        let names = GraphNames(services)
        #expect(services.map { names[$0.service] } == ["Font #3", "Font #1", "Font #2"])
    }
}

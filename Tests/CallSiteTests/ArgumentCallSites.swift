import AsyncDI
import Testing

/// Run-time arguments at the call site: none to twelve, keyed, and merely `Sendable`.
@Suite(.timeLimit(.minutes(10)))
struct ArgumentCallSites {
    struct Point: Sendable {
        var x: Double
        var y: Double
    }

    final class Tile: Sendable {
        let point: Point
        let style: String

        init(_ point: Point, _ style: String) async throws {
            self.point = point
            self.style = style
        }
    }

    struct Twelve: Sendable, Equatable {
        var text: String
    }

    @Test
    func `one registration for each list of argument types`() async throws {
        let container = Container {
            Registration(City.self) { _ in City(name: "none") }
            Registration(City.self) { _, name in City(name: name) }
            Registration(City.self) { (_, name: String, number: Int) in City(name: "\(name) \(number)") }
            Registration(City.self) { (_, name: String?) in City(name: name ?? "nil") }
        }
        #expect(try await container.resolve(City.self).name == "none")
        #expect(try await container.resolve(City.self, arguments: "Oslo").name == "Oslo")
        #expect(try await container.resolve(City.self, arguments: "Oslo", 7).name == "Oslo 7")
        #expect(try await container.resolve(City.self, arguments: String?.none).name == "nil")
        let inferred: City = try await container.resolve(arguments: "Bergen")
        #expect(inferred.name == "Bergen")
        let maybe = try await container.optional(Metrics.self, arguments: 1.5)
        #expect(maybe == nil)
    }

    @Test
    func `twelve arguments`() async throws {
        let container = Container {
            Registration(Twelve.self, lifetime: .multiton) {
                (
                    _, a: Int, b: String, c: Bool, d: Double, e: Int8, f: UInt, g: Character, h: [Int], i: Int?,
                    j: Set<String>,
                    k: Env, l: URL
                ) in
                Twelve(text: "\(a) \(b) \(c) \(d) \(e) \(f) \(g) \(h) \(i ?? 0) \(j) \(k) \(l.string)")
            }
        }
        let twelve = try await container.resolve(
            Twelve.self,
            arguments: 1, "b", true, 1.5, Int8(5), UInt(6), Character("g"), [8], Int?.some(9), Set(["j"]), Env.prod,
            prodURL)
        #expect(twelve.text == "1 b true 1.5 5 6 g [8] 9 [\"j\"] prod https://example.com")
    }

    @Test
    func `keyedBy decides which arguments are equal`() async throws {
        let container = Container {
            Registration(Tile.self, keyedBy: { (point: Point, style: String) in "\(Int(point.x)) \(style)" }) {
                _, point, style in
                try await Tile(point, style)
            }
            Registration(Tile.self, lifetime: .singleton, keyedBy: { (point: Point) in Int(point.x) }) { _, point in
                try await Tile(point, "column")
            }
        }
        try await container.register(
            Tile.self, qualifier: "late", keyedBy: { (point: Point, _: String) in Int(point.y) }
        ) { _, point, style in
            try await Tile(point, style)
        }
        let tile = try await container.resolve(Tile.self, arguments: Point(x: 1.2, y: 2.3), "dark")
        #expect(try await container.resolve(Tile.self, arguments: Point(x: 1.9, y: 2.1), "dark") === tile)
        #expect(try await container.resolve(Tile.self, arguments: Point(x: 1.9, y: 2.1), "light") !== tile)
        let column = try await container.resolve(Tile.self, arguments: Point(x: 5, y: 0))
        #expect(try await container.resolve(Tile.self, arguments: Point(x: 5.5, y: 9)) === column)
        let late = try await container.resolve(Tile.self, qualifier: "late", arguments: Point(x: 0, y: 4), "a")
        #expect(try await container.resolve(Tile.self, qualifier: "late", arguments: Point(x: 1, y: 4.5), "b") === late)
    }

    @Test
    func `a transient takes closures`() async throws {
        let container = Container {
            Registration(City.self, lifetime: .transient) { (_, name: @Sendable () -> String) in City(name: name()) }
        }
        let name: @Sendable () -> String = { "Oslo" }
        #expect(try await container.resolve(City.self, arguments: name) == City(name: "Oslo"))
    }

    @Test
    func `every form of reset`() async throws {
        let container = Container {
            Registration(TenantPool.self, lifetime: .multiton) { _, tenant in try await TenantPool(tenant) }
        }
        let a = try await container.resolve(TenantPool.self, arguments: "a")
        let b = try await container.resolve(TenantPool.self, arguments: "b")
        try await container.reset(TenantPool.self, arguments: "a")
        try await container.reset(TenantPool.self, arguments: "a", throughAncestors: true)
        try await container.reset(TenantPool.self, qualifier: "q", arguments: "a", 1, throughAncestors: true)
        #expect(try await container.resolve(TenantPool.self, arguments: "a") !== a)
        #expect(try await container.resolve(TenantPool.self, arguments: "b") === b)
        try await container.reset(TenantPool.self)
        try await container.reset(TenantPool.self, throughAncestors: true)
        try await container.reset(.multiton)
        try await container.reset(.singleton, throughAncestors: true)
        try await container.reset()
        try await container.reset(throughAncestors: true)
        #expect(try await container.resolve(TenantPool.self, arguments: "b") !== b)
    }
    @Test
    func `every form of registerMany`() async throws {
        let container = Container()
        try await container.registerMany(City.self) { _ in City(name: "Oslo") }
        try await container.registerMany(City.self, key: 1, lifetime: .singleton) { _ in City(name: "Bergen") }
        try await container.registerMany(City.self, lifetime: .singleton, key: 2) { _ in City(name: "Tromsø") }
        try await container.registerMany(City.self, key: 3, instance: City(name: "Bodø"))
        try await container.registerMany(
            Registration(City.self, lifetime: .singleton) { _ in City(name: "Narvik") }
                .onCreate { _, city in #expect(city.name == "Narvik") }
                .onDispose { city in #expect(city.name == "Narvik") },
            key: 4)
        try await container.registerMany(Registration(using: Pet.init(name:), as: Pet.self), key: 5)
        #expect(
            try await container.resolveMap(City.self, keyedBy: Int.self).mapValues(\.name)
                == [1: "Bergen", 2: "Tromsø", 3: "Bodø", 4: "Narvik"])
        #expect(try await container.resolveMany(City.self).count == 5)
        try await container.dispose()
    }

    @Test
    func `leases with arguments of every kind`() async throws {
        let container = Container {
            Registration(City.self, lifetime: .multiton) { _, name in City(name: name) }
            Registration(City.self, lifetime: .multiton) { (_, name: String, number: Int) in
                City(name: "\(name) \(number)")
            }
            Registration(City.self, lifetime: .multiton) { (_, name: String?) in City(name: name ?? "nil") }
            Registration(City.self, qualifier: "old", lifetime: .multiton) { (_, name: String) in
                City(name: "old \(name)")
            }
            Registration(City.self, lifetime: .transient) { (_, point: Point) in City(name: "\(point.x)") }
        }
        for _ in 0..<2 {
            #expect(try await container.withInstance(City.self, arguments: "Oslo") { $0.name } == "Oslo")
            let inferred = try await container.withInstance(arguments: "Bergen") { (city: City) in city.name }
            #expect(inferred == "Bergen")
            #expect(try await container.withInstance(City.self, arguments: "Oslo", 7) { $0.name } == "Oslo 7")
            #expect(try await container.withInstance(City.self, arguments: String?.none) { $0.name } == "nil")
            #expect(
                try await container.withInstance(City.self, qualifier: "old", arguments: "Oslo") { $0.name }
                    == "old Oslo")
            #expect(try await container.withInstance(City.self, arguments: Point(x: 1, y: 2)) { $0.name } == "1.0")
        }
        var names: [String] = []
        for name in ["a", "b"] {
            try await container.withInstance(City.self, arguments: name) { names.append($0.name) }
        }
        #expect(names == ["a", "b"])
    }

    @Test
    func `an argument of a protocol type says so at the call`() async throws {
        let container = Container {
            Registration(City.self, keyedBy: { (code: any AreaCode) in code.number }) { _, code in
                City(name: "\(code.number)")
            }
        }
        let code: any AreaCode = Prefix(number: 47)
        // Without `as`, the compiler passes the value inside, whose type is another one.
        #expect(try await container.resolve(City.self, arguments: code as any AreaCode).name == "47")
        let leased = try await container.withInstance(City.self, arguments: code as any AreaCode) { $0.name }
        #expect(leased == "47")
    }
}

private protocol AreaCode: Hashable, Sendable {
    var number: Int { get }
}

private struct Prefix: AreaCode {
    let number: Int
}

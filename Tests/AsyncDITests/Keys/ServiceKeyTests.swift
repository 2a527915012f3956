import Testing

@testable import AsyncDI

private protocol Pet: Sendable {}
private protocol Person: Sendable {}
private struct Dog: Pet {}
private struct Cat: Pet {}
private struct Box<Content: Sendable>: Sendable {}

private enum Env: Qualifier { case prod, test }
private enum Region: Qualifier { case prod, test }

/// Every value has the same hash: only equality distinguishes them.
private struct Clash: Qualifier {
    let number: Int
    func hash(into hasher: inout Hasher) {}
}

/// The key of a registration.
@Suite(.timeLimit(.minutes(10))) struct ServiceKeyTests {
    /// Keys of which no two are the same.
    private static let different: [ServiceKey] = {
        let services: [Any.Type] = [
            Dog.self, Cat.self, (any Pet).self, (any Person).self, (any Pet & Person).self, Dog?.self, Dog??.self,
            [Dog].self,
            Box<Dog>.self, Box<Cat>.self, Box<any Pet>.self, Dog.Type.self, (any Pet.Type).self, (Dog, Cat).self,
            (@Sendable () -> Void).self, Void.self, Any.self,
        ]
        let qualifiers: [(any Qualifier)?] = [
            nil, Env.prod, Env.test, Region.prod, Region.test, "prod", "", Clash(number: 1), Clash(number: 2),
        ]
        let arguments: [ArgumentPack.Type?] = [
            nil, Arguments<Int>.self, Arguments<Int?>.self, Arguments<Int, Int>.self, Arguments<(Int, Int)>.self,
            Arguments<[Int]>.self, Arguments<String>.self,
        ]
        var keys = services.map { ServiceKey($0) }
        for qualifier in qualifiers {
            for pack in arguments {
                keys.append(ServiceKey(Int.self, qualifier: qualifier, arguments: pack))
                keys.append(ServiceKey(Int.self, qualifier: qualifier, arguments: pack, role: .making))
            }
        }
        return keys
    }()

    /// The same key, created again.
    private func copy(of key: ServiceKey) -> ServiceKey {
        ServiceKey(key.service, qualifier: key.qualifier, arguments: key.arguments, role: key.role)
    }

    @Test func `keys are equal when service, qualifier, argument types and making are`() {
        for (index, first) in Self.different.enumerated() {
            #expect(first == copy(of: first))
            for second in Self.different[(index + 1)...] { #expect(first != second) }
        }
    }

    @Test func `equal keys have equal hashes`() {
        for key in Self.different {
            #expect(key.hashValue == copy(of: key).hashValue)
            #expect(key.fastHash == copy(of: key).fastHash)
        }
    }

    @Test func `hashes of types are spread`() {
        let hashes = Self.different.map(\.fastHash)
        // Qualifiers may have the same hash: the three parts without them decide together with it.
        let parts = Self.different.map { key in
            let arguments = key.arguments.map { "\(ObjectIdentifier($0))" } ?? ""
            return "\(ObjectIdentifier(key.service)) \(arguments) \(key.isMaking) \(key.qualifier?.hashValue ?? 0)"
        }
        #expect(Set(hashes).count >= Set(parts).count - 1)
        #expect(Set(hashes.map { $0 & 255 }).count > 32, "the low bits, which choose a place, differ too")
    }

    @Test func `a dictionary finds each key, also keys with the same hash`() {
        var values: [ServiceKey: Int] = [:]
        for (index, key) in Self.different.enumerated() { values[key] = index }
        #expect(values.count == Self.different.count)
        for (index, key) in Self.different.enumerated() { #expect(values[copy(of: key)] == index) }
    }

    @Test func `a plain key is nothing but a type`() {
        #expect(ServiceKey(Dog.self).isPlain)
        #expect(!ServiceKey(Dog.self, qualifier: "x").isPlain)
        #expect(!ServiceKey(Dog.self, arguments: Arguments<Int>.self).isPlain)
        #expect(!ServiceKey(Dog.self, role: .making).isPlain)
    }

    @Test func `a request without a key looks under the hash of the key`() {
        #expect(TypeProbe(Dog.self).hash == ServiceKey(Dog.self).fastHash)
        let byArguments = ServiceKey(Dog.self, arguments: Arguments<Int, String>.self)
        #expect(ArgumentsProbe(Dog.self, Arguments<Int, String>.self).hash == byArguments.fastHash)
        let qualified = ServiceKey(Dog.self, qualifier: Env.prod)
        #expect(QualifierProbe(Dog.self, of: Env.prod)?.hash == qualified.fastHash)
    }

    @Test func `a key reads like the request`() {
        #expect(ServiceKey(Dog.self).description == "Dog")
        #expect(ServiceKey((any Pet).self).description == "Pet")
        #expect(ServiceKey(Dog?.self).description == "Dog?")
        #expect(ServiceKey(Dog.self, qualifier: Env.prod).description == "Dog[prod]")
        #expect(ServiceKey(Dog.self, qualifier: .named("x")).description == "Dog[x]")
        #expect(ServiceKey(Dog.self, arguments: Arguments<String>.self).description == "Dog(String)")
        let key = ServiceKey([Dog].self, qualifier: Env.test, arguments: Arguments<Int, String?, [Int]>.self)
        #expect(key.description == "[Dog][test](Int, String?, [Int])")
    }

    @Test func `the argument types are in order`() {
        #expect(ServiceKey(Dog.self).argumentTypes.isEmpty)
        let types = ServiceKey(Dog.self, arguments: Arguments<Int, String, Int?>.self).argumentTypes
        #expect(types.map { ObjectIdentifier($0) } == [Int.self, String.self, Int?.self].map { ObjectIdentifier($0) })
    }
}

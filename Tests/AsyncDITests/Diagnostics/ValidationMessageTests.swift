import Testing

@testable import AsyncDI

private struct A: Sendable {}
private struct B: Sendable {}
private protocol Pet: Sendable {}
private struct Cat: Pet {}
private enum Env: Qualifier { case prod }
private struct Tenant: Qualifier {
    let name: String
}

/// The messages of a validation, to the letter.
@Suite(.timeLimit(.minutes(10))) struct ValidationMessageTests {
    @Test func `undeclaredDependency`() async throws {
        let container = Container(name: "app") {
            Registration(A.self, fileID: "App/A.swift", line: 1) { r in
                _ = try await r.resolve(B.self)
                return A()
            }
            .dependencies()
            Registration(B.self, fileID: "App/B.swift", line: 2) { _ in B() }
        }
        await container.startRecording()
        _ = try await container.resolve(A.self)
        let graph = await container.dependencyGraph()
        #expect(
            await message { try await container.validate(against: graph) } == """
                validation found 1 problem:
                - undeclaredDependency: A resolved B during the recording, but its registration does not declare \
                it. Path: A (App/A.swift:1) → B (App/B.swift:2). Add .dependencies(B.self) to the registration, or \
                remove the resolve.
                """)
    }

    @Test func `undeclaredDependency gives the call to add`() async throws {
        let container = Container(name: "app") {
            Registration(A.self) { r in
                _ = try await r.resolve(B.self, qualifier: "say \"hi\"")
                _ = try await r.resolve(B.self, qualifier: Env.prod)
                _ = try await r.resolve(B.self, qualifier: .key(42))
                _ = try await r.resolve(B.self, qualifier: Tenant(name: "x"))
                _ = try await r.resolve(B.self, arguments: 1, "a" as String?)
                _ = try await r.resolve(B.self, qualifier: "q", arguments: 1)
                _ = try await r.resolve((any Pet).self)
                _ = try await r.resolveMany((any Pet).self)
                _ = try await r.resolveMany((any Pet).self, qualifier: "q")
                return A()
            }
            .dependencies()
            for qualifier in ["say \"hi\"", Env.prod, .key(42), Tenant(name: "x")] as [any Qualifier] {
                Registration(B.self, qualifier: qualifier) { _ in B() }
            }
            Registration(B.self) { (_, _: Int, _: String?) in B() }
            Registration(B.self, qualifier: "q") { (_, _: Int) in B() }
            Registration((any Pet).self) { _ in Cat() }
            Registration((any Pet).self) { _ in Cat() }.intoMany()
            Registration((any Pet).self, qualifier: "q") { _ in Cat() }.intoMany()
        }
        await container.startRecording()
        _ = try await container.resolve(A.self)
        let graph = await container.dependencyGraph()
        let error = await #expect(throws: ValidationError.self) { try await container.validate(against: graph) }
        let advice = (error?.problems ?? []).map { $0.advice ?? "" }
        #expect(
            advice.sorted() == [
                #"Add .dependencies((any Pet).self) to the registration, or remove the resolve."#,
                #"Add .dependencies([any Pet].self) to the registration, or remove the resolve."#,
                #"Add .dependency(B.self, arguments: Int.self, String?.self) to the registration, or remove the resolve."#,
                #"Add .dependency(B.self, qualifier: "q", arguments: Int.self) to the registration, or remove the resolve."#,
                #"Add .dependency(B.self, qualifier: "say \"hi\"") to the registration, or remove the resolve."#,
                #"Add .dependency(B.self, qualifier: .key(42)) to the registration, or remove the resolve."#,
                #"Add .dependency(B.self, qualifier: Env.prod) to the registration, or remove the resolve."#,
                #"Add .dependency(B.self, qualifier: Tenant(…)) to the registration, or remove the resolve."#,
                #"Add .dependency([any Pet].self, qualifier: "q") to the registration, or remove the resolve."#,
            ])
        // And it is Swift: this compiles.
        _ = Registration(A.self) { _ in A() }
            .dependencies((any Pet).self).dependencies([any Pet].self)
            .dependency(B.self, arguments: Int.self, String?.self)
            .dependency(B.self, qualifier: "q", arguments: Int.self)
            .dependency(B.self, qualifier: "say \"hi\"").dependency(B.self, qualifier: .key(42))
            .dependency(B.self, qualifier: Env.prod).dependency([any Pet].self, qualifier: "q")
    }

    @Test func `ValidationError and the report`() async throws {
        let container = Container(name: "app") {
            Registration(A.self, fileID: "App/A.swift", line: 1) { _ in A() }.dependencies(B.self, Int.self)
            Registration(String.self, fileID: "App/S.swift", line: 2) { _ in "" }
            Decoration(Double.self, fileID: "App/D.swift", line: 3) { _, inner in inner }
        }
        let report = try await container.validationReport()
        #expect(
            report.description == """
                validation found 3 problems:
                - notRegistered: Double is decorated in container "app", but is registered neither there nor in any \
                container it searches. Decorated at App/D.swift:3. Register it, or remove the decoration.
                - notRegistered: B is not registered in container "app" or in any container it searches. Path: A \
                (App/A.swift:1) → B. Register it: Registration(B.self) { … }, or check which container you resolve \
                from.
                - notRegistered: Int is not registered in container "app" or in any container it searches. Path: A \
                (App/A.swift:1) → Int. Register it: Registration(Int.self) { … }, or check which container you resolve \
                from.
                not checked, because these do not declare their .dependencies(…):
                - String (App/S.swift:2)
                """)
        let error = await #expect(throws: ValidationError.self) { try await container.validate() }
        #expect(error.map { report.description.hasPrefix($0.description) } == true)
        #expect(try await Container().validationReport().description == "validation found no problem")
    }
}

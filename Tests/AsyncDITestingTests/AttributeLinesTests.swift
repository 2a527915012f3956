import AsyncDI
import Testing

@testable import AsyncDITesting

@Suite(.timeLimit(.minutes(10)))
struct AttributeLinesTests {
    private func lines(_ source: String, above line: Int) -> [Int] {
        SwiftText(source).linesOfRegistrations(inAttributeAbove: line)
    }

    @Test func `the registrations of the attribute above a line are found`() {
        let source = """
            @Suite(.container { Registration(Int.self, instance: 1) })
            struct Tests {
                @Test(
                    .container(.allowing(.openScope, because: "Registration(")) {
                        // Registration(Int.self, instance: 1)
                        Registration(Int.self, instance: 2)
                        Registration<Int> { _ in (3) }.implements((any Sendable).self)
                        /* Registration( */ Registration(String.self, instance: "\\(1) \\" Registration(")
                        OtherRegistration(4)
                    })
                func test() { _ = Registration(Int.self, instance: 5) }
                @Test(.container { Registration(Int.self, instance: 6) }) func other() {}
                @Test func plain() { _ = Registration(Int.self, instance: 7) }
            }
            """
        #expect(lines(source, above: 2) == [1])
        #expect(lines(source, above: 11) == [6, 7, 8])
        #expect(lines(source, above: 12) == [12])
        #expect(lines("struct Tests { let registration = Registration(1) }", above: 1) == [])
    }

    @Test(arguments: ["\n", "\r\n"]) func `comments end where the compiler ends them`(lineEnd: String) {
        let source = [
            "// It's a comment with a quotation mark: \"",
            "/* A comment /* inside another */ that isn't over: \" */",
            "@Test(",
            "    .container {  // the first",
            "        Registration(Int.self, instance: 1)  // /* not the begin of a comment",
            "        Registration(String.self, instance: \"/*\")",
            "        /*/ Registration(String.self, instance: \"\") */",
            "    })",
            "func test() {}",
        ]
        #expect(lines(source.joined(separator: lineEnd), above: 9) == [5, 6])
        #expect(lines(source.dropLast(2).joined(separator: lineEnd) + "/*", above: 9) == [])
    }

    @Test func `a registration inside an attribute has a line of its own`() throws {
        let source = #_sourceLocation
        let site = RegistrationSite(fileID: source.fileID, line: UInt(source.line))
        func entry(_ type: Int) -> Registrations {
            Registrations {
                if type == 0 { Registration(Int.self, fileID: site.fileID, line: site.line) { _ in 1 } }
                if type == 1 { Registration(String.self, instance: "", fileID: site.fileID, line: site.line) }
            }
        }
        // Without an attribute that has as many, the line stays.
        let lines = AttributeLines([
            .init(place: source, registrations: entry(0)), .init(place: source, registrations: entry(1)),
        ])
        let key = entry(0).entries[0].key
        #expect(lines.site(of: key, at: site) == site)
        #expect(lines.site(of: key, at: nil) == nil)
        let other = RegistrationSite(fileID: "Other/File.swift", line: 3)
        #expect(lines.site(of: key, at: other) == other)
    }

    /// Reads the file of the test that it belongs to, as a report does.
    @Test(
        .container {
            Registration(Int.self, instance: 1)
            Registration(String.self, instance: "")
        })
    func `a test's own attribute is read`() throws {
        let session = try #require(TestContainer.current?.session)
        let entries = try #require(session.makeRegistrations?().entries)
        let line = UInt(#line)
        #expect(entries.map { session.attributeLines.site(of: $0.key, at: $0.site)?.line } == [line - 6, line - 5])
    }

    /// As for a trait of one line below the attribute of a test that has as many registrations.
    @Test func `a registration outside every attribute keeps its line`() {
        let (source, line) = (#_sourceLocation, #line + 1)
        let registrations = Registrations { for key in 1...2 { Registration(qualifier: .key(key), instance: key) } }
        let place = SourceLocation(
            fileID: source.fileID, filePath: source.filePath, line: line, column: source.column)
        let sites = registrations.entries.map(\.site)
        #expect(sites.map { $0?.line } == [UInt(line), UInt(line)])
        #expect(SwiftText.ofFile(source.filePath)?.hasRegistration(onLine: line) == true)
        let lines = AttributeLines([.init(place: place, registrations: registrations)])
        #expect(registrations.entries.map { lines.site(of: $0.key, at: $0.site) } == sites)
    }

    @Test func `the attribute of another declaration does not take the place of one that is not understood`() {
        let source = ##"""
            @Test(.container { Registration(Int.self, instance: 1) }) @MainActor
            func first() { _ = #"C:\"# }
            @Test(.container { Registration(Int.self, instance: 2) })
            func second() {}
            """##
        #expect(lines(source, above: 2) == [1])
        #expect(lines(source, above: 4) == [])
    }

    @Test func `further attributes and conditions may stand between an attribute and its declaration`() {
        let source = """
            @Test(.container { Registration(Int.self, instance: 1) }) @inline(never)
            @available(macOS 15, *)
            #if DEBUG
                @MainActor
            #endif
            func first() {}
            @Suite(.container { Registration(Int.self, instance: 2) }) struct Second {}
            """
        #expect(lines(source, above: 6) == [1])
        #expect(lines(source, above: 7) == [7])
    }

    @Test func `a branch or a loop leaves the lines open, an argument called if does not`() {
        let source = ##"""
            @Test(.container {
                if isFast { Registration(Int.self, instance: 1) }
                Registration(Int.self, instance: 2)
            })
            func first() {}
            @Test(.enabled(if: isFast), .container { Registration(Int.self, instance: 3) })
            func second() {}
            @Test(.filter { if isFast { 1 } else { 2 } }, .container(.start) {
                Registration(Int.self) { _ in if isFast { 1 } else { 2 } }
                Registration(Bool.self) { _ in true }.onDispose { _ in for _ in 0..<2 {} }
            })
            func third() {}
            @Test(.container { for x: Int in numbers.filter({ $0 > 0 }) { Registration(Int.self, instance: x) } })
            func fourth() {}
            @Test(.container {
                Registration(String.self, instance: #filePath)
                #if DEBUG
                    Registration(Int.self, instance: 7)
                #endif
            })
            func fifth() {}
            @Test(.container { Registration(String.self, instance: #filePath) })
            func sixth() {}
            @Test(.container {
                Registration(String.self) { _ in
                    let name = #"a"#
                    if isFast { return name }
                    return ""
                }
            })
            func seventh() {}
            """##
        #expect(lines(source, above: 5) == [])
        #expect(lines(source, above: 7) == [6])
        #expect(lines(source, above: 12) == [9, 10])
        #expect(lines(source, above: 14) == [])
        #expect(lines(source, above: 21) == [])
        #expect(lines(source, above: 23) == [22])
        #expect(lines(source, above: 31) == [25])
    }
}

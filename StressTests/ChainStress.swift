import AsyncDI
import Testing

/// Requests that begin the next one in a task of their own, inside the scopes and leases of a library.
@Suite(.timeLimit(.minutes(10))) struct ChainStress {
    private struct RequestID: Hashable, Sendable {
        let number: Int
    }

    private final class Pool: Sendable {}

    /// The containers of all chains.
    private struct Place: Sendable {
        let ledger = Ledger()
        let complaints = Complaints()
        let ended = Locked(0)
        let application: Container
        let library: Container
        let third = Container()

        init() {
            application = Container { [ledger] in
                Registration(expected: RequestID.self)
                Registration(Tracked.self, lifetime: .scoped) { r in
                    let request: RequestID = try await r.resolve()
                    return Tracked(tag: request.number, in: ledger)
                }
                .onDispose { await $0.dispose() }
            }
            library = Container {
                Registration(Pool.self, lifetime: .multiton(capacity: 4)) { (_, _: Int) in Pool() }.onDispose { _ in }
            }
        }

        @Sendable func serve(_ number: Int, of chain: Int, left: Int) async throws {
            let tag = chain * 1_000 + number
            try await application.withScope {
                Registration(instance: RequestID(number: tag))
            } operation: { scope in
                let mine = try await scope.resolve(Tracked.self)
                func check(_ place: String) async throws {
                    let found = try await application.resolve(Tracked.self)
                    complaints.expect(found === mine, "\(tag) in \(place) got \(found.tag)")
                }
                try await library.withScope { _ in
                    try await check("the library")
                    try await library.withInstance(Pool.self, arguments: tag % 7) { _ in
                        try await Injection.with(third) { try await check("a third container") }
                        if left > 0 { begin(number + 1, of: chain, left: left - 1) }
                        if number.isMultiple(of: 3) { await Task.yield() }
                    }
                    try await check("the library, after a lease")
                }
            }
            await outlive(tag)
            ended.withLock { $0 += 1 }
        }

        /// In a task that outlives the request, and the scopes around it, as soon as those end.
        private func begin(_ number: Int, of chain: Int, left: Int) {
            Task {
                do {
                    try await serve(number, of: chain, left: left)
                } catch {
                    complaints.add("\(number) of \(chain): \(error)")
                }
            }
        }

        /// The former requests of the chain have ended, or will: no request finds another one's instance.
        private func outlive(_ tag: Int) async {
            let found = try? await application.resolve(Tracked.self)
            complaints.expect(found == nil || found!.tag / 1_000 == tag / 1_000, "\(tag), outside, got \(found!.tag)")
        }
    }

    @Test func `chains of requests find their own instances, and leave none behind`() async {
        await forEachSeed(4) { _ in
            let (chains, length) = (Stress.count(40), 25)
            let place = Place()
            await withTaskGroup { group in
                for chain in 0..<chains {
                    group.addTask {
                        do {
                            try await place.serve(0, of: chain, left: length - 1)
                        } catch {
                            place.complaints.add("chain \(chain): \(error)")
                        }
                    }
                }
            }
            let haveEnded = await eventually {
                place.ended.withLock { $0 } == chains * length || !place.complaints.isEmpty
            }
            #expect(haveEnded && place.complaints.isEmpty, "\(place.complaints.summary)")
            #expect(place.ledger.made == chains * length && place.ledger.imbalance == nil)
            let isEmpty = await eventually { place.ledger.live == 0 }
            #expect(isEmpty, "\(place.ledger.live) live on")
            #expect(place.application.activity().isEmpty && place.library.activity().isEmpty)
        }
    }
}

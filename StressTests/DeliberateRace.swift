import Testing

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Not a test of the library: a data race on purpose, which shows that ThreadSanitizer looks.
///
/// `.ci/check-sanitizer` alone enables it, and passes only if it fails.
@Suite(.enabled(if: getenv("ASYNCDI_DELIBERATE_RACE") != nil), .timeLimit(.minutes(10)))
struct DeliberateRace {
    /// Unchecked and wrong, because the sanitizer must find it.
    final class Unprotected: @unchecked Sendable {
        var value = 0
    }

    @Test
    func `two tasks write to one variable`() async {
        let unprotected = Unprotected()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for round in 0..<100_000 {
                        unprotected.value += 1
                        if round.isMultiple(of: 100) { await Task.yield() }
                    }
                }
            }
        }
        #expect(unprotected.value > 0)
    }
}

#if os(Linux)
    #if canImport(Musl)
        import Musl
    #else
        import Glibc
    #endif

    /// The memory of the process, as the kernel counts it.
    enum Memory {
        static let canBeMeasured: Bool = !Stress.isSanitized && resident() != nil && errorHook != nil

        /// How the runtime is told whom to tell about each error that is thrown: a C function `(handler) -> Void`.
        private static var errorHook: UnsafeMutableRawPointer? { dlsym(nil, "_swift_setWillThrowHandler") }

        /// The resident set in bytes; nil when the kernel does not say.
        static func resident() -> Int? {
            guard let file = fopen("/proc/self/statm", "r") else { return nil }
            defer { fclose(file) }
            var size = 0
            var pages = 0
            let found = withUnsafeMutablePointer(to: &size) { size in
                withUnsafeMutablePointer(to: &pages) { pages in
                    withVaList([size, pages]) { vfscanf(file, "%ld %ld", $0) }
                }
            }
            return found == 2 ? pages * sysconf(Int32(_SC_PAGESIZE)) : nil
        }

        /// By how much `work` made the process grow, after a tenth of it to fill caches and arenas.
        ///
        /// For exit tests: from now on the testing library does not learn of errors. It keeps the backtrace of each, by
        /// the address of the error, until the test ends; hundreds of bytes for each round of a test that throws.
        static func growth(over count: Int, _ work: (Int) async throws -> Void) async throws -> Int {
            typealias SetHandler = @convention(c) (UnsafeRawPointer?) -> Void
            errorHook.map { unsafeBitCast($0, to: SetHandler.self) }?(nil)
            for number in 0..<(count / 10) { try await work(number) }
            let before = resident() ?? 0
            for number in 0..<count { try await work(number) }
            return (resident() ?? .max) - before
        }
    }
#endif

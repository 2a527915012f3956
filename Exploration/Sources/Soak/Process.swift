#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The resources of the process, as the kernel counts them.
struct Occupation: Sendable {
    /// The resident set.
    var kilobytes = 0
    var threads = 0
    var descriptors = 0

    /// The figures now; zeros where there is no `/proc`.
    static var now: Occupation {
        var occupation = Occupation()
        if let file = fopen("/proc/self/status", "r") {
            defer { fclose(file) }
            var line = [CChar](repeating: 0, count: 256)
            while fgets(&line, 256, file) != nil {
                let text = line.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
                if text.hasPrefix("VmRSS:") { occupation.kilobytes = number(in: text) }
                if text.hasPrefix("Threads:") { occupation.threads = number(in: text) }
            }
        }
        if let folder = opendir("/proc/self/fd") {
            defer { closedir(folder) }
            // Its own two names, and the descriptor that reads the folder.
            while readdir(folder) != nil { occupation.descriptors += 1 }
            occupation.descriptors -= 3
        }
        return occupation
    }

    private static func number(in text: String) -> Int { Int(text.filter(\.isNumber)) ?? 0 }
}
